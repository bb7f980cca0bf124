import { describe, expect, it } from 'vitest'
import { eventTypesOf, type ToldChange, untoldTypeOf } from '../../../src/domain/events/changeEvents.ts'
import { consequencesOf, eventsOfTime } from '../../../src/domain/events/consequences.ts'
import { EVENT_TYPES, type EventType, typesOf } from '../../../src/domain/events/eventTypes.ts'
import { ENTRY_TYPES, type EntryType } from '../../../src/domain/loan/entry.ts'

const change = (entity: string, action: string, more: Partial<ToldChange> = {}): ToldChange => ({
  ...{ entity, action, loanChange: undefined, isRaised: false },
  ...more,
})

const loanChange = (
  posted: EntryType | null,
  reversed: EntryType | null = null,
  consequences: readonly EventType[] = [],
): Pick<ToldChange, 'loanChange'> => ({
  loanChange: {
    posted: posted && { type: posted },
    reversed: reversed && { type: reversed },
    consequences,
  },
})

describe('the events of a change', () => {
  it.each([
    [change('customer', 'create'), ['customer.created']],
    [change('customer', 'update'), ['customer.updated']],
    [change('customer', 'activate'), ['customer.activated']],
    [change('customer', 'close'), ['customer.closed']],
    [change('customer', 'score'), ['credit.decided']],
    [change('customer', 'boost'), ['credit.decided']],
    [change('accounting period', 'close'), ['accounting.period_closed']],
    [change('accounting chart', 'set'), ['accounting.chart_changed']],
    [change('accounting provisions', 'book'), ['accounting.provisions_booked']],
    [change('customer', 'boost', { isRaised: true }), ['credit.decided', 'credit.limit_raised']],
    [change('loan', 'create'), ['loan.disbursed']],
    [change('loan', 'update'), ['loan.restated']],
    [change('loan', 'Repayment', loanChange('Repayment')), ['repayment.posted']],
    [change('loan', 'Refund', loanChange('Refund')), ['transaction.posted']],
    [change('loan', 'reverse', loanChange(null, 'Recovery Repayment')), ['repayment.reversed']],
    [change('loan', 'reverse', loanChange(null, 'Write-off')), ['transaction.reversed']],
    [change('loan', 'adjust', loanChange('Repayment', 'Repayment')), ['repayment.adjusted']],
    [change('loan', 'adjust', loanChange('Refund', 'Refund')), ['transaction.reversed', 'transaction.posted']],
    [change('loan', 'time', loanChange(null, null, ['loan.overdue'])), ['loan.overdue']],
    [change('loan', 'time'), ['loan.restated']],
    [
      change('loan', 'Repayment', loanChange('Repayment', null, ['loan.penalty_cancelled', 'loan.closed'])),
      ['repayment.posted', 'loan.penalty_cancelled', 'loan.closed'],
    ],
  ])('%o', (told, types) => {
    expect(eventTypesOf(told)).toEqual(types)
  })

  it('are none of a change that is not of the book: it has a name for the chain alone', () => {
    const others = [change('account', 'create'), change('api key', 'revoke'), change('customer', 'something new')]
    expect(others.map(eventTypesOf)).toEqual([undefined, undefined, undefined])
    expect(others.map(untoldTypeOf)).toEqual(['account.create', 'api_key.revoke', 'customer.something_new'])
  })

  it('are at least one for each type of entry, posted and reversed', () => {
    for (const type of ENTRY_TYPES) {
      const events = [change('loan', type, loanChange(type)), change('loan', 'reverse', loanChange(null, type))]
      expect(events.map((one) => eventTypesOf(one)?.length)).toEqual([1, 1])
    }
  })
})

const active = {
  ...{
    status: 'Active' as const,
    penaltiesRaised: 0,
    interestAfterDue: 0n,
    overdueSince: null,
    totalOverdue: 0n,
    penaltyOverdue: 0n,
  },
  ...{ totalOverpaid: 0n, chargedOffOn: null },
}
const late = { ...active, overdueSince: '2026-03-01', totalOverdue: 100n }
const withPenalty = { ...active, penaltiesRaised: 1 }
const overpaid = { ...active, status: 'Overpaid' as const, totalOverpaid: 1n }
const closed = { ...active, status: 'Closed (obligations met)' as const }
const writtenOff = { ...active, status: 'Closed (written off)' as const }
const chargedOff = { ...late, chargedOffOn: '2026-06-01' }

describe('what follows from a change of a loan', () => {
  it.each([
    ['nothing', active, active, []],
    ['arrears', active, late, ['loan.overdue']],
    ['no more arrears: nothing that is told', late, active, []],
    ['a penalty', active, withPenalty, ['loan.penalty_raised']],
    ['another penalty', withPenalty, { ...active, penaltiesRaised: 2 }, ['loan.penalty_raised']],
    ['fewer penalties', { ...active, penaltiesRaised: 3 }, withPenalty, ['loan.penalty_cancelled']],
    ['no penalty any more', withPenalty, closed, ['loan.penalty_cancelled', 'loan.closed']],
    ['overpayment', active, overpaid, ['loan.overpaid']],
    ['an overpayment that was paid out', overpaid, closed, ['loan.closed']],
    ['a loan that is owed again', closed, active, ['loan.reopened']],
    ['an overpayment that was reversed', overpaid, late, ['loan.overdue', 'loan.reopened']],
    ['a write-off', chargedOff, writtenOff, ['loan.written_off']],
    ['a charge-off', late, chargedOff, ['loan.charged_off']],
  ])('%s', (_what, before, after, types) => {
    expect(consequencesOf(before, after)).toEqual(types)
  })

  it('of time is always something: another instalment that was not paid is told as overdue', () => {
    expect(eventsOfTime(late, { ...late, totalOverdue: 200n })).toEqual(['loan.overdue'])
    expect(eventsOfTime(active, { ...late, penaltiesRaised: 1 })).toEqual(['loan.penalty_raised', 'loan.overdue'])
    expect(eventsOfTime(late, late)).toEqual(['loan.restated'])
  })

  it('tells no arrears again where only a penalty has grown them', () => {
    const grown = { ...late, penaltiesRaised: 1, penaltyOverdue: 40n, totalOverdue: 140n }
    expect(eventsOfTime(late, grown)).toEqual(['loan.penalty_raised'])
    expect(eventsOfTime(late, { ...grown, totalOverdue: 141n })).toEqual(['loan.penalty_raised', 'loan.overdue'])
  })
})

describe('a filter of types', () => {
  it('takes types, and groups of types', () => {
    expect(typesOf(['repayment.posted', 'customer.closed'])).toEqual(['customer.closed', 'repayment.posted'])
    expect(typesOf(['loan.*'])).toEqual(EVENT_TYPES.filter((type) => type.startsWith('loan.')))
  })
})
