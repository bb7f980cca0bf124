import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { checkBooks, type Tallies } from '../../bench/checkBooks.ts'
import { fillBook } from '../../bench/fillBook.ts'
import { HttpConnection } from '../../bench/httpConnection.ts'
import { readOptions } from '../../bench/options.ts'
import { checkOwnBook, makeOwnBook } from '../../bench/ownBook.ts'
import { linesOf, median } from '../../bench/report.ts'
import type { Row } from '../../bench/rounds.ts'
import { asker, type Book, LANES, SCENARIOS } from '../../bench/scenarios.ts'
import { measure, type Slot } from '../../bench/window.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { startSequencer } from '../support/jobs.ts'
import { silent } from '../support/quiet.ts'
import { startService, type TestService } from '../support/service.ts'

const slot = (over: Partial<Slot> = {}): Slot => ({
  ...{ scenario: 'read', target: 'ours', connections: 4, warmUp: 0.05, seconds: 0.3, number: 1, turn: 0, pids: {} },
  book: {
    ...{ organizationId: 1, zone: 'Africa/Nairobi', firstLoan: 1, long: LANES, hot: LANES, loans: 400, customers: 9 },
    instalments: [500],
  },
  ...over,
})

describe('a measurement', () => {
  it('closed loop: each connection sends again when it is answered, and failures are counted apart', async () => {
    let sent = 0
    const sample = await measure(slot(), async () => {
      await pause(10)
      if (++sent === 1) throw new Error('the first one')
    })
    expect(sample.errors).toBe(1)
    expect(sample.firstError).toBe('the first one')
    expect(sample.answered).toBe(sent - 1)
    expect(sample.p50).toBeGreaterThanOrEqual(9)
    expect(sample.requests).toBeGreaterThan(0)
    expect(sample.requests).toBeLessThan(sample.answered)
  })

  it('open loop: a request that waits for a connection is timed from when it came', async () => {
    const sample = await measure(slot({ connections: 1, rate: 200, seconds: 0.5 }), () => pause(20))
    // One connection answers 50 a second of the 200 that come: the later, the longer they have waited.
    expect(sample.longest).toBeGreaterThan(100)
  })

  it('what is acknowledged is counted, also outside the measured time', async () => {
    const sample = await measure(slot({ scenario: 'repayments' }), () => pause(5))
    expect(sample.tally.repaid.count).toBe(sample.answered)
    expect(sample.tally.repaid.amount).toBeGreaterThan(sample.answered)
    expect(sample.tally.lent.count).toBe(0)
  })
})

describe('what is asked', () => {
  const { book } = slot()
  it.each(SCENARIOS)('%s: two targets never touch the same loan', (scenario) => {
    const loansOf = (target: 'ours' | 'floor') => {
      const next = asker(scenario, book, target, 1, 0)
      return Array.from({ length: 200 }, next).flatMap((ask) => ('loan' in ask ? [ask.loan] : []))
    }
    const theirs = new Set(loansOf('floor'))
    expect(loansOf('ours').filter((loan) => theirs.has(loan))).toEqual([])
    expect(loansOf('ours').every((loan) => loan >= 1 && loan <= book.loans)).toBe(true)
  })
})

describe('figures', () => {
  it('a median of an even count is between the two in the middle', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(median([5, 1, 3])).toBe(3)
  })

  it("a ratio is the median of the rounds' own ratios, not the ratio of the medians", () => {
    const row = (target: 'ours' | 'floor', rates: number[]): Row => ({
      scenario: 'repayments',
      connections: 64,
      target,
      samples: rates.map((perSecond) => ({
        ...{ perSecond, requests: 1, answered: 1, p50: 1, p99: 1, longest: 1, cpu: {}, errors: 0 },
        tally: { repaid: { count: 0, amount: 0 }, lent: { count: 0, amount: 0 } },
        firstError: undefined,
      })),
    })
    const [line] = linesOf([row('ours', [100, 300, 200]), row('floor', [50, 100, 200])])
    expect(line).toMatchObject({ perSecond: 200, lowest: 100, highest: 300, toFloor: 2, toDriver: undefined })
  })
})

describe('options', () => {
  it.each([
    ['--only', 'repayment'],
    ['--rounds', '0'],
    ['--loans', 'many'],
    ['--seconds', '-1'],
    ['--fast', ''],
  ])('%s %s is refused, naming the option', (name, value) => expect(() => readOptions([name, value])).toThrow(name))
})

describe('the connection', () => {
  it('puts an answer together that comes in pieces, and goes on with the next', async () => {
    const server = createServer((socket) => {
      // The other side may be gone before it has heard everything.
      socket.on('error', () => undefined)
      socket.on('data', async () => {
        for (const piece of ['HTTP/1.1 409 Conflict\r\nContent-', 'Length: 5\r\n\r', '\nhe', 'llo']) {
          socket.write(piece)
          await pause(5)
        }
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const connection = new HttpConnection((server.address() as { port: number }).port)
    for (const _ of [1, 2]) expect(await connection.send('x')).toEqual({ status: 409, body: 'hello' })
    server.close()
    const refused = connection.send('x')
    connection.close()
    await expect(refused).rejects.toThrow('closed')
  })
})

describe('the book that the service makes of its own', () => {
  let service: TestService
  let sequencer: { stop(): Promise<void> }
  beforeAll(async () => {
    service = await startService()
    service.damages('a column is changed by SQL')
    sequencer = startSequencer(service.deps, silent)
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = service.app.server.address() as AddressInfo
    // The load generator pays on the day of this machine, and the service under test has a clock that the test holds.
    const today = vi.spyOn(Date, 'now').mockImplementation(service.clock.now)
    await makeOwnBook(service.deps, port, { loans: 20, repayments: 200 }).finally(() => today.mockRestore())
  })
  afterAll(async () => {
    await sequencer.stop()
    await service.close()
  })

  it('is sound, and has each repayment once', async () => {
    const { said, wrong } = await checkOwnBook(service.deps)
    expect(wrong).toEqual([])
    expect(said[0]).toMatch(/^20 loans with 200 transactions that came over HTTP: book check found 0 differences/)
  })

  it('fails the run where a column is a cent off', async () => {
    await service.owner.pool.query('UPDATE loan SET total_paid = total_paid + 1 WHERE external_id = $1', ['own-3'])
    const { wrong } = await checkOwnBook(service.deps)
    expect(wrong.join('\n')).toMatch(/^book check: loan \d+: total_paid is/)
  })
})

describe('the generated book', () => {
  let database: FreshDatabase
  let book: Book
  let since: Date
  beforeAll(async () => {
    database = await freshDatabase()
    book = await fillBook(database.db.pool, { loans: 2_000, transactions: 100_000 }, 'Africa/Nairobi', 1)
    since = new Date()
  })
  afterAll(() => database.drop())

  const none = { repaid: { count: 0, amount: 0 }, lent: { count: 0, amount: 0 } }
  const nothing: Tallies = { ours: none, floor: none, driver: none, versus: none }
  const check = (tallies: Tallies) =>
    checkBooks({ databaseUrl: database.url, book, filledAt: since }, tallies, ['ours'])

  it('is right: every loan agrees with its entries, and replay with every column', async () => {
    const { wrong, said } = await check(nothing)
    expect(wrong).toEqual([])
    expect(said).toContain('2000 loans: columns, schedule and entries agree')
  })

  it('is repaid by whole instalments where that is asked for', async () => {
    const next = asker('instalments', book, 'ours', 1, 0)
    const asks = Array.from({ length: 200 }, next).flatMap((ask) => (ask.kind === 'repay' ? [ask] : []))
    const { rows } = await database.db.pool.query<{ right: bigint }>(
      `SELECT count(*) AS right FROM unnest($1::bigint[], $2::bigint[]) AS asked (loan, amount)
       JOIN loan_period p ON p.loan_id = asked.loan AND p.period = 1 AND p.principal + p.interest = asked.amount`,
      [asks.map(({ loan }) => loan), asks.map(({ amount }) => amount)],
    )
    expect(rows).toEqual([{ right: 200n }])
  })

  it('the check notices what was acknowledged and is not there, and a column that is a cent off', async () => {
    const lost: Tallies = { ...nothing, ours: { ...none, repaid: { count: 1, amount: 100 } } }
    const { wrong } = await check(lost)
    expect(wrong[0]).toBe('ours: 1 repayments of 1.00 were acknowledged, but 0 of 0.00 are in the database')

    const some = book.firstLoan + book.long + book.hot
    await database.db.pool.query('UPDATE loan SET total_paid = total_paid + 1 WHERE id = $1', [some])
    const off = await check(nothing)
    expect(off.wrong.join('\n')).toMatch(new RegExp(`1 loans disagree .* ${some}\n.*total_paid is`))
  })
})
