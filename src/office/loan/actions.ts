import { note as noteSchema, text as textSchema } from '../../api/wire.ts'
import type { Instant } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import { adjust, type Posting, post, reverse, type Saving, stateOf } from '../../domain/loan/loan.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import { type Decimal, minorToText, parseDecimal } from '../../domain/money.ts'
import type { Caller } from '../../services/access/caller.ts'
import type { Waits } from '../../services/approvals/waiting.ts'
import type { Deps } from '../../services/deps.ts'
import type { StoredLoan } from '../../services/loans/loans.ts'
import { adjustTransaction, postTransaction, reverseTransaction } from '../../services/loans/transactions.ts'
import type { PageWord } from '../desk.ts'
import { dayOf, type Fields, textOf, wordOf } from '../desk.ts'
import type { Done } from '../layout/page.ts'

/** A field of a form. */
export interface Field {
  readonly name: string
  readonly word: PageWord
  readonly kind: 'amount' | 'date' | 'text' | 'choice'
  readonly isRequired?: true
  readonly choices?: readonly (readonly [value: string, word: PageWord])[]
  /** Choices that are names, shown as they are. */
  readonly names?: readonly string[]
  readonly longest?: number
}

/** What an action is about: a loan, and one of its transactions where the action is about that. */
export interface Subject {
  readonly loanId: bigint
  readonly transactionId: bigint
}

/** Something that may be done with a loan: the form, the decision that a preview shows, and the change. */
export interface LoanAction {
  readonly title: PageWord
  readonly means: PageWord
  readonly done: Done
  readonly fields: readonly Field[]
  /** Returns the values with which the form begins. */
  start?(loan: StoredLoan, entry: Entry | undefined, at: Instant): Fields
  /** Reads the form and returns the decision on a loan. @throws LendingError */
  decide(
    deps: Deps,
    caller: Caller,
    fields: Fields,
    subject: Subject,
  ): ((loan: StoredLoan, now: Instant) => Saving) | Promise<(loan: StoredLoan, now: Instant) => Saving>
  /** Reads the form and makes the change. @throws LendingError */
  run(deps: Deps, caller: Caller, subject: Subject, fields: Fields): Promise<object | Waits>
}

/** The field of a note. */
export const NOTE: Field = { name: 'note', word: 'note', kind: 'text', longest: 1_000 }
/** The field of a reason. */
export const REASON: Field = { name: 'reason', word: 'reason', kind: 'text', longest: 1_000 }
const AMOUNT: Field = { name: 'amount', word: 'amount', kind: 'amount', isRequired: true }
const LONGEST_NAME = 100

const refusal = (message: string) => new LendingError('invalid_argument', message)

/** Reads an amount; thousands may be apart by commas. @throws LendingError `invalid_argument` */
export function amountOf(fields: Fields, name = 'amount'): Decimal {
  const given = (textOf(fields, name, 64) ?? '').trim()
  const plain = /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(given) ? given.replaceAll(',', '') : given
  const amount = parseDecimal(plain)
  if (amount === undefined || amount.units < 0n) throw refusal(`${name} must be a number, such as 1500 or 1500.50`)
  return amount
}

/** Reads a note; null where it is empty. @throws LendingError `invalid_argument` */
export function noteOf(fields: Fields, name = 'note'): string | null {
  const given = textOf(fields, name)
  if (given === undefined) return null
  const read = noteSchema.safeParse(given.replaceAll('\r\n', '\n'))
  if (!read.success) throw refusal(`${name}: ${read.error.issues[0]?.message ?? 'is not a text'}`)
  return read.data
}

function nameOf(fields: Fields): string {
  const read = textSchema({ max: LONGEST_NAME }).safeParse(textOf(fields, 'name') ?? '')
  if (!read.success) throw refusal(`name: ${read.error.issues[0]?.message ?? 'is not a text'}`)
  return read.data
}

/** Returns what is overdue; where nothing is, what the next instalment owes. */
const dueNow = ({ totalOverdue, periods }: LoanState): bigint =>
  totalOverdue > 0n ? totalOverdue : (periods.find(({ owed }) => owed > 0n)?.owed ?? 0n)

const KINDS = ['fee', 'penalty'] as const
const TYPE_OF = { fee: 'Fee', penalty: 'Penalty' } as const

/** An action that posts an entry. */
const posting = (
  rest: Pick<LoanAction, 'title' | 'means' | 'done' | 'fields' | 'start'>,
  postingOf: (fields: Fields) => Posting,
): LoanAction => ({
  ...rest,
  decide: (_, __, fields) => {
    const asked = postingOf(fields)
    return (loan, now) => ({ save: post(loan, asked, now) })
  },
  run: (deps, caller, { loanId }, fields) => postTransaction(deps, caller, { id: loanId }, postingOf(fields)),
})

/** The actions on a whole loan, by the word in the address. */
export const LOAN_ACTIONS: Readonly<Record<string, LoanAction>> = {
  repay: posting(
    {
      title: 'titleRepay',
      means: 'meansRepay',
      done: 'doneRepay',
      fields: [AMOUNT, { name: 'date', word: 'emptyIsToday', kind: 'date' }, NOTE],
      start: (loan, _, at) => ({ amount: minorToText(dueNow(stateOf(loan, at)), loan.terms.currency) }),
    },
    (fields) => ({
      type: 'Repayment',
      amount: amountOf(fields),
      valueDate: dayOf(fields, 'date'),
      token: null,
      note: noteOf(fields),
    }),
  ),
  'write-off': posting(
    {
      title: 'titleWriteOff',
      means: 'meansWriteOff',
      done: 'doneWriteOff',
      fields: [{ name: 'date', word: 'emptyIsToday', kind: 'date' }, NOTE],
    },
    (fields) => ({
      type: 'Write-off',
      amount: null,
      valueDate: dayOf(fields, 'date'),
      token: null,
      note: noteOf(fields),
    }),
  ),
  waive: posting(
    {
      title: 'titleWaive',
      means: 'meansWaive',
      done: 'doneWaive',
      fields: [AMOUNT, { name: 'date', word: 'emptyIsToday', kind: 'date' }, NOTE],
    },
    (fields) => ({
      type: 'Waive Interest',
      amount: amountOf(fields),
      valueDate: dayOf(fields, 'date'),
      token: null,
      note: noteOf(fields),
    }),
  ),
  charge: posting(
    {
      title: 'titleCharge',
      means: 'meansCharge',
      done: 'doneCharge',
      fields: [
        {
          name: 'kind',
          word: 'kind',
          kind: 'choice',
          choices: [
            ['fee', 'Fee'],
            ['penalty', 'Penalty'],
          ],
        },
        { name: 'name', word: 'chargeName', kind: 'text', isRequired: true, longest: LONGEST_NAME },
        AMOUNT,
        { name: 'date', word: 'chargeDue', kind: 'date' },
      ],
    },
    (fields) => ({
      type: TYPE_OF[wordOf(KINDS, fields, 'kind') ?? 'fee'],
      amount: amountOf(fields),
      valueDate: undefined,
      dueOn: dayOf(fields, 'date'),
      token: null,
      note: nameOf(fields),
    }),
  ),
}

const adjustmentOf = (fields: Fields) => ({
  amount: amountOf(fields),
  valueDate: dayOf(fields, 'date'),
  note: noteOf(fields),
})

/** The actions on one transaction of a loan, by the word in the address. */
export const TRANSACTION_ACTIONS: Readonly<Record<string, LoanAction>> = {
  reverse: {
    title: 'titleReverse',
    means: 'meansReverse',
    done: 'doneReverse',
    fields: [NOTE],
    decide: (_, __, fields, { transactionId }) => {
      const note = noteOf(fields)
      return (loan, now) => ({ save: reverse(loan, transactionId, now, note) })
    },
    run: (deps, caller, { loanId, transactionId }, fields) =>
      reverseTransaction(deps, caller, { ref: { id: loanId }, transactionId }, noteOf(fields)),
  },
  adjust: {
    title: 'titleAdjust',
    means: 'meansAdjust',
    done: 'doneAdjust',
    fields: [AMOUNT, { name: 'date', word: 'emptyIsSame', kind: 'date' }, NOTE],
    start: ({ terms }, entry) => (entry ? { amount: minorToText(entry.amount, terms.currency) } : {}),
    decide: (_, __, fields, { transactionId }) => {
      const asked = adjustmentOf(fields)
      return (loan, now) => ({ save: adjust(loan, transactionId, asked, now) })
    },
    run: (deps, caller, { loanId, transactionId }, fields) =>
      adjustTransaction(deps, caller, { ref: { id: loanId }, transactionId }, adjustmentOf(fields)),
  },
}
