import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeHistories } from '../../src/db/histories.ts'
import type { LoanKey } from '../../src/db/loans.ts'
import type { StoredLoan } from '../../src/db/storedLoan.ts'
import { sweepAll } from '../../src/services/sweep.ts'
import { opsOn } from '../support/ops.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'

const LONG = 5

let service: TestService
let other: TestService
/** Whether each loan that was read since came with its history. */
let sent: boolean[] = []
/** Whether the database breaks before it saves a change. */
let isBroken = false
beforeAll(async () => {
  service = await startService({}, { keepFrom: LONG })
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const { pool } = service.deps.db
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>
  pool.query = (async (...args: unknown[]) => {
    const { name } = args[0] as { name?: string }
    if (isBroken && name?.startsWith('save-loans')) throw new Error('the connection is gone')
    const result = await query(...args)
    for (const row of result.rows) if ('periods' in row) sent.push(row.periods !== null)
    return result
  }) as typeof pool.query
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

/** A loan of so many repayments of 10, with its path. */
async function lend(repayments: number): Promise<string> {
  const body = { customerId: 'asha', productId: 1, principal: 100_000 }
  const path = `/v1/loans/${(await service.post('/v1/loans', { body })).body.id}`
  for (let index = 0; index < repayments; index++) await repay(service, path, 10)
  sent = []
  return path
}

const repay = (by: TestService, path: string, transactionAmount: number, more: object = {}) =>
  by.post(`${path}/repayments`, { body: { transactionAmount, ...more } })

describe('a long history', () => {
  it('is not sent again while the loan is what it was: not for reads, and not for changes', async () => {
    const path = await lend(LONG)
    const { text } = await service.get(path)
    expect((await service.get(path)).text).toBe(text)
    await repay(service, path, 5)
    await repay(service, path, 6)
    expect((await service.get(path)).body).toMatchObject({ totalPaid: LONG * 10 + 11 })
    expect(sent).toEqual([false, false, false, false, false])
  })

  it('a shorter one is sent each time', async () => {
    const path = await lend(LONG - 2)
    await service.get(path)
    await repay(service, path, 5)
    expect(sent).toEqual([true, true])
  })

  it('is sent once it was changed elsewhere: by another instance, or by the sweep', async () => {
    const path = await lend(LONG)
    const { body: posted } = await repay(other, path, 5)
    expect((await service.get(path)).body).toMatchObject({ totalPaid: LONG * 10 + 5 })
    await other.post(`${path}/repayments/${posted.id}/reverse`, { token: other.tokens.operator })
    const { body: seen } = await service.get(path)
    expect(seen).toMatchObject({ totalPaid: LONG * 10 })
    expect((await other.get(path)).body).toEqual(seen)
    service.clock.set('2026-04-01')
    expect(await sweepAll(other.deps)).toBeGreaterThan(0)
    expect((await service.get(path)).text).toBe((await other.get(path)).text)
    expect(sent).toEqual([true, true, true])
  })

  it('is sent by a database that has lost its last changes and counts the same versions anew', async () => {
    const path = await lend(LONG)
    await repay(service, path, 5, { idempotencyKey: 'lost' })
    const { pool } = other.deps.db
    const id = path.split('/').at(-1)
    await pool.query(`DELETE FROM loan_entry WHERE loan_id = $1 AND token = 'lost'`, [id])
    await pool.query(`UPDATE loan SET version = version - 1, entry_count = entry_count - 1 WHERE id = $1`, [id])
    service.clock.set('2026-02-01')
    await repay(other, path, 7)
    expect((await service.get(path)).body).toMatchObject({ totalPaid: LONG * 10 + 7 })
    expect((await repay(service, path, 5, { idempotencyKey: 'lost' })).status).toBe(200)
    expect((await other.get(path)).body).toMatchObject({ totalPaid: LONG * 10 + 12 })
  })

  it('keeps nothing of a change that was refused, or that another instance was faster than', async () => {
    const path = await lend(LONG)
    const external = `/v1/loans/external/of-${path.split('/').at(-1)}`
    await service.deps.db.pool.query('UPDATE loan SET external_id = $1 WHERE id = $2', [
      external.split('/').at(-1),
      path.split('/').at(-1),
    ])
    for (let round = 0; round < 5; round++) {
      // Two names of a loan and two instances, of which three are too slow each time; and amounts that are refused.
      const answers = await Promise.all([
        ...[service, other].flatMap((by) => [path, external].map((name) => repay(by, name, 1))),
        repay(service, path, 0.001),
        service.post(`${external}/repayments/credit-balance-refund`, { body: { transactionAmount: 1 } }),
        service.get(path),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 409, 200])
      const seen = [await service.get(path), await service.get(external), await other.get(path)]
      expect(new Set(seen.map(({ text }) => text)).size).toBe(1)
      expect(seen[0]!.body.totalPaid).toBe(LONG * 10 + 4 * (round + 1))
      expect(seen[0]!.body.repaymentHistory).toHaveLength(LONG + 4 * (round + 1))
    }
  })
})

describe('a loan that is asked for by its number and by its external id at once', () => {
  it('is changed by one after the other, and is the same by either name and everywhere; the book is in order', async () => {
    const ids: string[] = []
    const busy = await Promise.all([0, 0, 0].map(lend))
    for (let round = 0; round < 5; round++) {
      const path = await lend(LONG)
      const id = path.split('/').at(-1)!
      ids.push(id)
      const name = `twice-${id}`
      await service.deps.db.pool.query('UPDATE loan SET external_id = $1 WHERE id = $2', [name, id])
      const external = `/v1/loans/external/${name}`
      const { body: wrong } = await repay(service, path, 3)
      // Known as he is from then on, the operator is as quick as the partner.
      await service.get(path, { token: service.tokens.operator })
      const answers = await Promise.all([
        // While these are read and saved, the next wait, and go together.
        ...busy.map((one) => repay(service, one, 1)),
        service.post(`${external}/repayments/${wrong.id}/reverse`, { body: {}, token: service.tokens.operator }),
        ...busy.map((one) => repay(service, one, 1)),
        repay(service, path, 1_000),
      ])
      expect(answers.map(({ status }) => status)).toEqual(Array(answers.length).fill(200))
      const seen = [await service.get(path), await service.get(external), await other.get(path)]
      expect(new Set(seen.map(({ text }) => text)).size).toBe(1)
      expect(seen[0]!.body.totalPaid).toBe(LONG * 10 + 1_000)
      expect((await repay(service, external, 1)).status).toBe(200)
    }
    const { json } = await opsOn(service)('book check --json')
    const differences = json.differences as { of: string }[]
    expect(differences.filter(({ of }) => ids.includes(of.replace('loan ', '')))).toEqual([])
  })

  it('is not another whose external id looks like its number', async () => {
    const path = await lend(LONG)
    const id = path.split('/').at(-1)
    const body = { customerId: 'asha', productId: 1, principal: 100_000, externalId: `#${id}` }
    const { body: lookalike } = await service.post('/v1/loans', { body })
    const external = `/v1/loans/external/${encodeURIComponent(`#${id}`)}`
    const [one, two] = await Promise.all([service.get(path), service.get(external)])
    expect([one.body.id, two.body.id]).toEqual([id, lookalike.id])
    const [first, second] = await Promise.all([repay(service, path, 1_000), repay(service, external, 7)])
    expect([first.body.loanId, second.body.loanId]).toEqual([id, lookalike.id])
  })
})

describe('a change that breaks when it is saved', () => {
  it('leaves nothing in the history that is kept', async () => {
    const path = await lend(LONG)
    const { text } = await service.get(path)
    isBroken = true
    expect((await repay(service, path, 5, { idempotencyKey: 'again' })).status).toBe(500)
    isBroken = false
    expect((await service.get(path)).text).toBe(text)
    expect((await repay(service, path, 5, { idempotencyKey: 'again' })).status).toBe(200)
    const { body: seen } = await service.get(path)
    expect(seen).toMatchObject({ totalPaid: LONG * 10 + 5 })
    expect((await other.get(path)).body).toEqual(seen)
    expect(sent).toEqual([false, false, false, false, false])
  })
})

describe('the histories that are kept', () => {
  const key = (id: bigint): LoanKey => ({ organizationId: 1, ref: { id }, zone: 'Africa/Nairobi' })
  const loanOf = (entries: number) => ({ entries: Array(entries).fill({}) }) as unknown as StoredLoan

  it('have so many entries at most, the ones asked for last; one that has more is not kept', () => {
    const histories = makeHistories(2, 10)
    histories.keep(key(1n), loanOf(4))
    histories.keep(key(2n), loanOf(4))
    histories.get(key(1n))
    histories.keep(key(3n), loanOf(4))
    histories.keep(key(4n), loanOf(1))
    histories.keep(key(5n), loanOf(11))
    expect([1n, 2n, 3n, 4n, 5n].map((id) => histories.get(key(id))?.entries)).toEqual([
      4,
      undefined,
      4,
      undefined,
      undefined,
    ])
  })

  it('know how many entries there were, when the list has grown since', () => {
    const histories = makeHistories(2, 10)
    const loan = loanOf(4)
    histories.keep(key(1n), loan)
    ;(loan.entries as unknown[]).push({})
    expect(histories.get(key(1n))?.entries).toBe(4)
  })
})
