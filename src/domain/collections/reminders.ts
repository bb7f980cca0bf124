import { daysBetween, type LocalDate } from '../dates.ts'
import { invalidArgument } from '../errors.ts'
import type { LoanState } from '../loan/replay.ts'
import { type Currency, minorToText, sum } from '../money.ts'

/** The languages of reminders. */
export const REMINDER_LANGUAGES = ['en', 'sw'] as const
export type ReminderLanguage = (typeof REMINDER_LANGUAGES)[number]

/** Bounds of a reminder policy: days before and after a due date, how many of each, and the characters of a text. */
export const REMINDERS = { mostBefore: 60, mostAfter: 365, mostDays: 20, longestText: 480 } as const

/** When the borrowers of a lender are reminded, and with which texts. */
export interface ReminderPolicy {
  /** Days before the next due date, 0 for the day itself; ascending. */
  readonly daysBefore: readonly number[]
  /** Days after the oldest due date that is unpaid; ascending. */
  readonly daysAfter: readonly number[]
  readonly language: ReminderLanguage
  /** The text of a reminder before a due date; null: the service's own. */
  readonly dueSoonText: string | null
  /** The text of a reminder after a due date; null: the service's own. */
  readonly overdueText: string | null
}

/** The names that a text may have in braces. None is of a person: events have no words of people. */
export const PLACEHOLDERS = ['amount', 'currency', 'dueOn', 'days', 'loan', 'lender'] as const

/** The service's own texts. */
export const OWN_TEXTS: Readonly<Record<ReminderLanguage, { readonly dueSoon: string; readonly overdue: string }>> = {
  en: {
    dueSoon: '{lender}: {currency} {amount} of your loan {loan} is due on {dueOn}.',
    overdue: '{lender}: {currency} {amount} of your loan {loan} has been due since {dueOn}. Please pay now.',
  },
  sw: {
    dueSoon: '{lender}: {currency} {amount} za mkopo wako {loan} zinapaswa kulipwa tarehe {dueOn}.',
    overdue:
      '{lender}: {currency} {amount} za mkopo wako {loan} zilipaswa kulipwa tarehe {dueOn}. Tafadhali lipa sasa.',
  },
}

/**
 * Requires that a text names nothing in braces but placeholders.
 * @throws LendingError `invalid_argument`
 */
export function requireText(role: 'dueSoonText' | 'overdueText', text: string): void {
  const left = text.replaceAll(new RegExp(`\\{(?:${PLACEHOLDERS.join('|')})\\}`, 'g'), '')
  const unknown = /[{}][^{}]*\}?/.exec(left)?.[0]
  if (unknown !== undefined) {
    const known = PLACEHOLDERS.map((name) => `{${name}}`).join(', ')
    throw invalidArgument(role, `must have in braces only ${known}, and not ${unknown}`)
  }
}

/** Returns whole numbers once each, ascending. */
export const ascending = (days: readonly number[]): number[] => [...new Set(days)].sort((a, b) => a - b)

/** A reminder of a loan on a day. */
export interface Reminder {
  readonly kind: 'due_soon' | 'overdue'
  /** What is due by then, or overdue: minor units. */
  readonly amount: bigint
  /** The due date: the next one, or the oldest that is unpaid. */
  readonly dueOn: LocalDate
  /** Days until the due date, or since it. */
  readonly days: number
}

/** Returns the reminder of a loan that a policy asks for on a day; undefined: none. */
export function reminderOn(
  { daysBefore, daysAfter }: Pick<ReminderPolicy, 'daysBefore' | 'daysAfter'>,
  { status, periods, totalOverdue }: Pick<LoanState, 'status' | 'periods' | 'totalOverdue'>,
  today: LocalDate,
): Reminder | undefined {
  const dueOn = periods.find(({ owed }) => owed > 0n)?.dueDate
  if (status !== 'Active' || dueOn === undefined) return undefined
  const until = daysBetween(today, dueOn)
  if (until >= 0) {
    const amount = sum(periods.filter(({ dueDate }) => dueDate <= dueOn).map(({ owed }) => owed))
    return daysBefore.includes(until) ? { kind: 'due_soon', amount, dueOn, days: until } : undefined
  }
  const isAsked = daysAfter.includes(-until) && totalOverdue > 0n
  return isAsked ? { kind: 'overdue', amount: totalOverdue, dueOn, days: -until } : undefined
}

/** Returns an amount with commas between thousands, without a fraction of zero. */
function shown(amount: bigint, currency: Currency): string {
  const [whole = '', fraction = ''] = minorToText(amount, currency).split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  return /^0*$/.test(fraction) ? grouped : `${grouped}.${fraction}`
}

/** Returns the text of a reminder. */
export function reminderText(
  { language, dueSoonText, overdueText }: Pick<ReminderPolicy, 'language' | 'dueSoonText' | 'overdueText'>,
  { kind, amount, dueOn, days }: Reminder,
  { currency, loan, lender }: { readonly currency: Currency; readonly loan: string; readonly lender: string },
): string {
  const own = OWN_TEXTS[language]
  const template = kind === 'due_soon' ? (dueSoonText ?? own.dueSoon) : (overdueText ?? own.overdue)
  const values: Readonly<Record<(typeof PLACEHOLDERS)[number], string>> = {
    amount: shown(amount, currency),
    currency: currency.code,
    dueOn,
    days: String(days),
    loan,
    lender,
  }
  return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name as keyof typeof values] : whole,
  )
}
