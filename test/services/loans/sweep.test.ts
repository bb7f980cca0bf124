import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import { sweep } from '../../support/sweep.ts'

/** Random runs. */
const RUNS = Number(process.env.MODEL_RUNS ?? 6)

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('columns of loans are changed by SQL, and clocks are turned back')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set('2026-07-01')
  await sweep(service.deps)
  service.clock.set(FIRST_DAY)
})

const lend = async (productId = 2): Promise<string> =>
  (await service.post('/v1/loans', { body: { customerId: 'asha', productId, principal: 100_000 } })).body.id
const read = async (id: string) => (await service.get(`/v1/loans/${id}`)).body
/** Of other loans the clock has been turned back. */
const wrongWith = async (id: string) =>
  (await checkBook(service.deps)).differences.filter(({ of }) => of === `loan ${id}`)
const stored = async (id: string) =>
  (await service.deps.db.pool.query('SELECT * FROM loan WHERE id = $1', [id])).rows[0]

describe('the sweep saves what time alone changes', () => {
  it('penalty and overdue mark, at the instant that the loan names, and nothing before', async () => {
    service.clock.stand(FIRST_DAY)
    const id = await lend()
    expect((await stored(id)).next_change_at).toBe(Date.parse('2026-02-28T09:30:00+03:00'))
    service.clock.stand('2026-02-28T09:29:59.999+03:00')
    expect(await sweep(service.deps)).toBe(0)
    service.clock.stand('2026-02-28T09:30:00+03:00')
    expect(await sweep(service.deps)).toBe(1)
    expect(await stored(id)).toMatchObject({ penalty_outstanding: 10_000_00n, overdue_since: null })
    service.clock.stand('2026-03-01T00:00:00+03:00')
    expect(await sweep(service.deps)).toBe(1)
    expect(await stored(id)).toMatchObject({
      total_overdue: 120_000_00n,
      overdue_since: '2026-03-01',
      next_change_at: null,
    })
    expect(await sweep(service.deps)).toBe(0)
  })

  it('of an instalment that was paid in time nothing: the loan is looked at when the next one is due', async () => {
    const id = await lend(4)
    const midnightAfter = (days: number) => Date.parse('2026-02-01T00:00:00+03:00') + days * 86_400_000
    const pay = async (transactionDate?: string) => {
      const { nextDueAmount: transactionAmount } = await read(id)
      return (await service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount, transactionDate } })).body
        .id
    }
    await pay()
    // In an index, it stays as it is: only so does a repayment leave all indexes alone.
    expect(await stored(id)).toMatchObject({ next_change_at: midnightAfter(7), next_due_on: '2026-02-14' })
    const [paid, before] = [await read(id), await stored(id)]
    service.clock.stand('2026-02-08T00:00:00+03:00')
    expect(await sweep(service.deps)).toBe(0)
    expect(await stored(id)).toEqual({ ...before, next_change_at: midnightAfter(14) })
    expect(await read(id)).toEqual(paid)
    // Nor do several at once move it, of which all but the first find the loan as that one left it.
    const ahead = await pay()
    await Promise.all([pay('2026-02-01'), pay('2026-02-01')])
    expect(await stored(id)).toMatchObject({ next_change_at: midnightAfter(14), next_due_on: '2026-03-07' })
    // Looked at and taken back, one that was paid ahead is due as it was, and no later.
    service.clock.stand('2026-02-15T00:00:00+03:00')
    expect(await sweep(service.deps)).toBe(0)
    expect((await stored(id)).next_change_at).toBe(midnightAfter(35))
    await service.post(`/v1/loans/${id}/repayments/${ahead}/reverse`, { body: {}, token: service.tokens.operator })
    expect((await stored(id)).next_change_at).toBe(midnightAfter(28))
    service.clock.stand('2026-03-01T00:00:00+03:00')
    expect(await sweep(service.deps)).toBe(1)
    expect(await stored(id)).toMatchObject({ overdue_since: '2026-03-01', next_change_at: midnightAfter(35) })
    const { rows } = await service.deps.db.pool.query(
      "SELECT at FROM audit_entry WHERE action = 'time' AND entity = 'loan' AND entity_id = $1",
      [id],
    )
    expect(rows).toEqual([{ at: midnightAfter(28) }])
  })

  it('whatever was posted when: no loan is looked at too late', async () => {
    const instalment = 10_333.34
    const repay = fc.constantFrom(1, instalment, 2 * instalment, 3 * instalment, 60_000).map((repay) => ({ repay }))
    const act = fc.oneof(repay, fc.constantFrom({ reverse: true }, { sweep: true }, { waive: 500 }))
    const day = fc.record({ days: fc.constantFrom(0, 1, 7, 8), act })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(2, 3, 4),
        fc.array(day, { minLength: 3, maxLength: 8 }),
        async (productId, days) => {
          service.clock.set(FIRST_DAY)
          const id = await lend(productId)
          let [at, last] = [Date.parse(FIRST_DAY), '']
          for (const { days: later, act: one } of days) {
            at += later * 86_400_000
            service.clock.set(new Date(at).toISOString())
            const path = `/v1/loans/${id}/repayments`
            if ('sweep' in one) await sweep(service.deps)
            else if ('waive' in one)
              await service.post(`${path}/waive-interest`, { body: { transactionAmount: one.waive } })
            else if ('repay' in one)
              last = (await service.post(path, { body: { transactionAmount: one.repay } })).body.id ?? last
            else await service.post(`${path}/${last}/reverse`, { body: {}, token: service.tokens.operator })
            expect(await wrongWith(id)).toEqual([])
          }
          await sweep(service.deps)
          expect(await wrongWith(id)).toEqual([])
          const { next_change_at: lookAgain } = await stored(id)
          if (lookAgain !== null) expect(lookAgain).toBeGreaterThan(service.clock.now())
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('and corrects the columns, whatever they hold', async () => {
    service.clock.stand(FIRST_DAY)
    const id = await lend(4)
    const right = await stored(id)
    await service.deps.db.pool.query(
      "UPDATE loan SET total_overdue = 7, overdue_since = '2026-01-01', next_change_at = $2 WHERE id = $1",
      [id, FIRST_DAY],
    )
    expect(await wrongWith(id)).toHaveLength(2)
    expect(await sweep(service.deps)).toBe(1)
    expect(await stored(id)).toEqual({ ...right, version: 2, carried_version: 2 })
  })

  it('with the sweep stopped, answers are the same, but for when a change by time was stored', async () => {
    service.clock.stand(FIRST_DAY)
    const [swept, unswept] = [await lend(), await lend()]
    for (const moment of ['2026-02-28T09:30:00+03:00', '2026-03-01T00:00:00+03:00', '2026-04-01']) {
      service.clock.stand(moment)
      await service.deps.db.pool.query("UPDATE loan SET next_change_at = 'infinity' WHERE id = $1", [unswept])
      await sweep(service.deps)
      const own = { id: '', accountNo: '', updatedAt: '' }
      expect({ ...(await read(swept)), ...own }).toEqual({ ...(await read(unswept)), ...own })
    }
    await service.deps.db.pool.query('UPDATE loan SET next_change_at = NULL WHERE id = $1', [unswept])
  })
})

describe('the late penalty, whether or not the sweep has run', () => {
  it('is not there at 23:59:59 of the day before, nor a second before dueDateTime, and is from then on', async () => {
    service.clock.stand(FIRST_DAY)
    const id = await lend()
    const at = async (moment: string) => {
      service.clock.stand(moment)
      const { penaltyOutstanding, totalOutstanding } = await read(id)
      return { penaltyOutstanding, totalOutstanding }
    }
    const without = { penaltyOutstanding: 0, totalOutstanding: 110_000 }
    const withPenalty = { penaltyOutstanding: 10_000, totalOutstanding: 120_000 }
    expect(await at('2026-02-27T23:59:59+03:00')).toEqual(without)
    expect(await at('2026-02-28T09:29:59+03:00')).toEqual(without)
    expect(await at('2026-02-28T09:30:00+03:00')).toEqual(withPenalty)
    expect(await at('2026-02-28T09:30:01+03:00')).toEqual(withPenalty)
  })

  it('is taken back by a repayment dated in time that arrives late, and not by one dated a day late', async () => {
    const [inTime, late] = [await lend(), await lend()]
    service.clock.set('2026-03-20')
    await sweep(service.deps)
    const repay = (id: string, transactionDate: string) =>
      service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 110_000, transactionDate } })
    await repay(inTime, '2026-02-28')
    expect(await read(inTime)).toMatchObject({ status: 'Closed (obligations met)', penaltyCharged: 0 })
    await repay(late, '2026-03-01')
    expect(await read(late)).toMatchObject({ status: 'Active', penaltyCharged: 10_000, totalOutstanding: 10_000 })
  })
})
