import { decideAction } from '../../domain/approvals/pendingAction.ts'
import { isCalendarDate } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import type { AskedChange, RestructureRequest } from '../../domain/loan/restructure/restructureLoan.ts'
import { restructure, restructureDecision, reverseRestructureOf } from '../../services/loans/restructures.ts'
import { dayOf, type Fields, textOf, wordOf } from '../desk.ts'
import { amountOf, type LoanAction, NOTE, noteOf } from './actions.ts'

const KINDS = ['postponeBy', 'newFirstDueDate', 'numberOfRepayments', 'instalmentAmount', 'until'] as const
const REASONS = ['hardship', 'roll_over', 'disaster', 'error', 'other'] as const
const INTERESTS = ['keep', 'none'] as const
const TREATMENTS = ['added', 'due_now'] as const

const refusal = (message: string) => new LendingError('invalid_argument', message)

/** Reads the form of a restructure. @throws LendingError `invalid_argument` */
function requestOf(fields: Fields): RestructureRequest {
  const hasFee = (textOf(fields, 'fee', 64) ?? '').trim() !== ''
  const hasWaiver = (textOf(fields, 'waivePenalty', 64) ?? '').trim() !== ''
  return {
    effectiveDate: dayOf(fields, 'date'),
    change: changeOf(fields),
    interest: wordOf(INTERESTS, fields, 'interest') ?? 'keep',
    fee: hasFee
      ? {
          name: 'Restructure',
          amount: amountOf(fields, 'fee'),
          treatment: wordOf(TREATMENTS, fields, 'treatment') ?? 'added',
        }
      : null,
    waive: hasWaiver ? { penalty: amountOf(fields, 'waivePenalty') } : {},
    reason: wordOf(REASONS, fields, 'reason') ?? 'hardship',
    note: noteOf(fields),
  }
}

function changeOf(fields: Fields): AskedChange {
  const kind = wordOf(KINDS, fields, 'change') ?? 'postponeBy'
  const value = (textOf(fields, 'value', 64) ?? '').trim()
  switch (kind) {
    case 'newFirstDueDate':
    case 'until':
      if (!isCalendarDate(value)) throw refusal('value must be a date written YYYY-MM-DD')
      return { kind, on: value }
    case 'instalmentAmount':
      return { kind, amount: amountOf(fields, 'value') }
    case 'postponeBy':
      return { kind, periods: wholeIn(value, 120) }
    case 'numberOfRepayments':
      return { kind, count: wholeIn(value, 2_000), every: null }
  }
}

function wholeIn(text: string, most: number): number {
  const whole = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (whole < 1 || whole > most) throw refusal(`value must be a whole number, 1 to ${most}`)
  return whole
}

/** The restructure of a whole loan: the form, what the loan becomes, and the change. */
export const RESTRUCTURE: LoanAction = {
  title: 'titleRestructure',
  means: 'meansRestructure',
  done: 'doneRestructure',
  fields: [
    {
      name: 'change',
      word: 'changeKind',
      kind: 'choice',
      choices: [
        ['postponeBy', 'postponeBy'],
        ['newFirstDueDate', 'newFirstDueDate'],
        ['numberOfRepayments', 'newInstalments'],
        ['instalmentAmount', 'instalmentAmount'],
        ['until', 'until'],
      ],
    },
    { name: 'value', word: 'changeValue', kind: 'text', isRequired: true, longest: 64 },
    {
      name: 'interest',
      word: 'addedInterest',
      kind: 'choice',
      choices: [
        ['keep', 'interestKeep'],
        ['none', 'interestNone'],
      ],
    },
    { name: 'fee', word: 'feeAmount', kind: 'amount' },
    {
      name: 'treatment',
      word: 'feeTreatment',
      kind: 'choice',
      choices: [
        ['added', 'feeAdded'],
        ['due_now', 'feeDueNow'],
      ],
    },
    { name: 'waivePenalty', word: 'waivePenalty', kind: 'amount' },
    { name: 'reason', word: 'whyRestructured', kind: 'choice', choices: REASONS.map((one) => [one, one] as const) },
    { name: 'date', word: 'emptyIsToday', kind: 'date' },
    NOTE,
  ],
  decide: (deps, caller, fields, { loanId }) => restructureDecision(deps, caller, { id: loanId }, requestOf(fields)),
  run: (deps, caller, { loanId }, fields) => restructure(deps, caller, { id: loanId }, requestOf(fields)),
}

/** The reversal of a restructure, with the waivers and the fee that were posted with it. */
export const REVERSE_RESTRUCTURE: LoanAction = {
  title: 'titleReverseRestructure',
  means: 'meansReverseRestructure',
  done: 'doneReverseRestructure',
  fields: [NOTE],
  decide: (_, __, fields, { transactionId }) => {
    const note = noteOf(fields)
    return (loan, now) => decideAction(loan, { kind: 'reverse-restructure', transactionId, note }, now)
  },
  run: (deps, caller, { loanId, transactionId }, fields) =>
    reverseRestructureOf(deps, caller, { ref: { id: loanId }, transactionId }, noteOf(fields)),
}
