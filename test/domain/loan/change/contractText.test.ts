import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contractFromText,
  contractOf,
  hasContract,
  linesFromText,
} from '../../../../src/domain/loan/change/contractText.ts'
import type { LoanTerms } from '../../../../src/domain/loan/terms/terms.ts'
import type { Instalment } from '../../../../src/domain/schedule/schedule.ts'

const line = (period: number, more: Partial<Instalment> = {}): Instalment => ({
  period,
  fromDate: `2026-${String(period).padStart(2, '0')}-28`,
  dueDate: `2026-${String(period + 1).padStart(2, '0')}-28`,
  principal: 10_000n,
  interest: 500n,
  fees: 0n,
  ...more,
})

/** A line in texts. */
const texts = ({ fromDate, dueDate, principal, interest, fees }: Instalment) => ({
  ...{ fromDate, dueDate },
  ...{ principal: String(principal), interest: String(interest), fees: String(fees) },
})

const made = (schedule: readonly Instalment[]) =>
  contractOf({
    customerId: 7n,
    externalId: null,
    accountNo: 12n,
    terms: {
      principal: 20_000n,
      numberOfRepayments: schedule.length,
      ratePerPeriod: 50_000n,
      penaltyAmount: null,
      disbursedAt: 1_769_581_800_000,
      disbursedOn: '2026-01-28',
      dueAt: 1_774_679_400_000,
      dueOn: '2026-03-28',
      rules: null,
      schedule,
    } as unknown as LoanTerms,
  })

describe('the contract in the change of a new loan', () => {
  it('has each line of the schedule: its first day only where that is not the due date before, its amounts where they are others', () => {
    const schedule = [line(1), line(2), line(3, { fromDate: '2026-02-25' }), line(4), line(5, { fees: 5n }), line(6)]
    const { schedule: text } = made(schedule)!
    expect(text).toBe(
      '2026-02-28 10000 500 0;2026-03-28;2026-04-28 10000 500 0 2026-02-25;2026-05-28;2026-06-28 10000 500 5;2026-07-28 10000 500 0',
    )
    expect(linesFromText(text, '2026-01-28')).toEqual(schedule.map(texts))
  })

  it('says every schedule whole', () => {
    const few = fc.bigInt(0n, 2n)
    const anyLine = fc.record({ isFrom: fc.boolean(), principal: few, interest: few, fees: few })
    fc.assert(
      fc.property(fc.array(anyLine, { minLength: 1, maxLength: 9 }), (lines) => {
        const schedule = lines.map(({ isFrom, ...amounts }, index) =>
          line(index + 1, { ...amounts, ...(isFrom && { fromDate: '2026-01-01' }) }),
        )
        expect(linesFromText(made(schedule)!.schedule, '2026-01-28')).toEqual(schedule.map(texts))
      }),
    )
  })

  it('is left out where the schedule has more than 60 lines, or periods that do not count from 1', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => line(1, { period: index + 1 }))
    expect(made(lines(60))).toBeDefined()
    expect(made(lines(61))).toBeUndefined()
    expect(made([line(1), line(3)])).toBeUndefined()
  })

  it('is read from the text of the change, and only where it stands at its beginning', () => {
    const contract = made([line(1)])!
    const text = JSON.stringify({ made: contract, version: 1 })
    expect(hasContract(text)).toBe(true)
    expect(contractFromText(text)).toEqual(JSON.parse(JSON.stringify(contract)))
    for (const other of [null, '{"version":1}', '{"version":1,"made":{"schedule":"","disbursedOn":""}}'])
      expect([hasContract(other), contractFromText(other)]).toEqual([false, undefined])
  })

  it('is not read from a damaged text', () => {
    for (const damaged of [
      '{"made":{',
      '{"made":{}}',
      '{"made":{},"made":null}',
      '{"made":{"schedule":5,"disbursedOn":"2026-01-28"}}',
    ])
      expect(contractFromText(damaged), damaged).toBeUndefined()
  })
})
