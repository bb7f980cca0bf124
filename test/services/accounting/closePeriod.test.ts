import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BUILT_IN_ROLES } from '../../../src/domain/access/permissions.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { type ClosedPeriod, closePeriod } from '../../../src/services/accounting/closePeriod.ts'
import { closingText } from '../../../src/services/accounting/trialBalance.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { startKeeper, startSequencer } from '../../support/jobs.ts'
import { quiet } from '../../support/quiet.ts'
import { startService, type TestService } from '../../support/service.ts'

// Months are closed one after the other, and money that belongs before is booked later (contract 9.2, 9.3).

const caller = operator(1, 'test')

async function openBooks() {
  const service: TestService = await startService()
  service.damages('a loan loses its schedule by SQL')
  const jobs = [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
  let token = service.tokens.operator
  const at = async (day: string) => {
    service.clock.set(day)
    token = await service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
  }
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const send = async (path: string, body: object) => {
    const answer = await service.post<{ id: string }>(path, { token, body })
    expect(answer.status).toBe(200)
    return answer.body.id
  }
  const lend = (principal = 6_000) => send('/v1/loans', { customerId: 'asha', productId: 1, principal })
  const pay = (loan: string, transactionAmount: number, transactionDate?: string) =>
    send(`/v1/loans/${loan}/repayments`, { transactionAmount, transactionDate })
  const close = (month: string): Promise<ClosedPeriod> => closePeriod(service.deps, caller, month)
  const text = (day: string) => closingText(service.deps.db, 1, day)
  const bookings = async (loan: string) =>
    (
      await service.deps.db.pool.query(
        'SELECT kind, value_date, booked_on FROM posting WHERE loan_id = $1 ORDER BY id',
        [loan],
      )
    ).rows
  const end = async () => {
    for (const job of jobs) await job.stop()
    await service.close()
  }
  return { service, at, lend, pay, close, text, bookings, end }
}

let books: Awaited<ReturnType<typeof openBooks>>
let january: string
beforeAll(async () => {
  books = await openBooks()
  january = await books.lend()
})
afterAll(() => books.end())

describe('a month', () => {
  it('is closed once its last day is over, and not before', async () => {
    await expect(books.close('2026-01')).rejects.toThrow('2026-01 is not over: it can be closed from 2026-02-01 on')
    await expect(books.close('2026-13')).rejects.toThrow('must be a month, such as 2026-01')
  })

  it('is closed in its turn: the oldest open one first', async () => {
    await books.at('2026-03-01')
    await drain(sweepJob(books.service.deps))
    await expect(books.close('2026-02')).rejects.toThrow(
      '2026-02 cannot be closed before 2026-01, the oldest open month',
    )
    await expect(books.close('2025-12')).rejects.toThrow(
      '2025-12 has nothing to close: the oldest open month is 2026-01',
    )
    books.service.clock.stand('2026-03-01')
    const closed = await books.close('2026-01')
    expect(closed).toMatchObject({ month: '2026-01', closedAt: books.service.clock.now() })
    expect(closed.trialBalanceHash).toMatch(/^[0-9a-f]{64}$/)
    const { body } = await books.service.get(`/v1/events/evt_1_${closed.closeSequence}`)
    expect(body).toMatchObject({ type: 'accounting.period_closed', data: { accounting: { period: '2026-01' } } })
  })

  it('that is closed is answered as it was closed', async () => {
    const closed = await books.close('2026-01')
    expect(await books.close('2026-01')).toEqual(closed)
  })

  it('stays to the byte what it was, and money that belongs to it is booked on the first open day', async () => {
    const before = await books.text('2026-01-31')
    expect(before).toContain('TZS,1000,0.00,6000.00\n')
    await books.pay(january, 100, '2026-01-31')
    const { trialBalanceHash } = await books.close('2026-02')
    expect(trialBalanceHash).not.toBe((await books.close('2026-01')).trialBalanceHash)
    expect(await books.text('2026-01-31')).toBe(before)
    expect(await books.bookings(january)).toEqual([
      { kind: 'disbursement', value_date: '2026-01-31', booked_on: '2026-01-31' },
      { kind: 'repayment', value_date: '2026-01-31', booked_on: '2026-02-01' },
    ])
  })

  it('waits until what its last day changed is saved', async () => {
    await books.lend()
    await books.at('2026-04-01')
    await drain(sweepJob(books.service.deps))
    await books.close('2026-03')
    await books.at('2026-05-01')
    await expect(books.close('2026-04')).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 })
    await drain(sweepJob(books.service.deps))
    expect(await books.close('2026-04')).toMatchObject({ month: '2026-04' })
  })

  it('is closed once, however many ask at once', async () => {
    await books.at('2026-06-01')
    await drain(sweepJob(books.service.deps))
    const closes = await Promise.all(Array.from({ length: 8 }, () => books.close('2026-05')))
    expect(new Set(closes.map(({ closeSequence }) => closeSequence)).size).toBe(1)
  })

  it('is closed also where a loan cannot be replayed', async () => {
    const broken = await books.lend()
    await books.at('2026-07-20')
    await books.service.owner.pool.query('DELETE FROM loan_period WHERE loan_id = $1', [broken])
    await books.service.owner.pool.query(`UPDATE loan SET next_change_at = '2026-06-10' WHERE id = $1`, [broken])
    await drain(sweepJob(books.service.deps)).catch(() => 0)
    expect(await books.close('2026-06')).toMatchObject({ month: '2026-06' })
    await books.service.owner.pool.query('UPDATE loan SET next_change_at = NULL WHERE id = $1', [broken])
  })

  it('is closed by an operator alone', async () => {
    const partner = { ...caller, permissions: BUILT_IN_ROLES.USER }
    await expect(closePeriod(books.service.deps, partner, '2026-07')).rejects.toMatchObject({
      code: 'permission_denied',
    })
  })
})
