import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { EVENT_TYPES } from '../../domain/events/eventTypes.ts'
import { type Currency, currencyOf, minorToNumber } from '../../domain/money.ts'
import { inSuspense, PAYMENT_STATUSES } from '../../domain/payments/payment.ts'
import { afterEvent, encodeEventCursor } from '../../services/events/eventCursor.ts'
import { eventIdOf, type ToldEvent } from '../../services/events/toldEvent.ts'
import type { Organization } from '../../services/organizations/organizations.ts'
import { count, word } from '../openapi/answers.ts'
import { instant, money } from '../wire.ts'

// The view of an event is the same in both styles. A style gives a table of its words, and its view of the loan, the transaction
// and the customer. The members are here, in their order, by names that no receiver sees.

/** The members of an event, besides its data (contract 8). */
export const EVENT_MEMBERS = {
  id: z.string().describe('The name of the event, and the `webhook-id` of its deliveries.'),
  type: word('What happened', EVENT_TYPES),
  liveMode: z.boolean().describe('False for an event of a test organization.'),
  timestamp: instant.describe('When the change was made.'),
}

/** The members of the data of an event that each event has, but for `loanVersion`, which is of events of a loan. */
export const DATA_MEMBERS = {
  sequence: z.string().describe('The number of the event: 1, 2, 3 … without a gap in your organization.'),
  loanVersion: count
    .optional()
    .describe('The number of changes of the loan by then. Drop an event whose number is below the one you have.'),
  requestId: z.string().nullable().describe('The request that made the change; null: time, or the service itself.'),
  accountId: count.nullable().describe('The account that made the change; null: the service, or its command line.'),
  hash: z.string().describe('The hash of the event in the chain of changes.'),
  cursor: z.string().describe('The cursor after the event: send it as `after` to get the events that follow.'),
}

export const CREDIT_MEMBERS = {
  grade: z.string().optional(),
  score: count.optional(),
  creditLimit: money.optional(),
  availableLimit: money.optional(),
  policyVersion: z.string().optional(),
  boostStatus: z.string().optional().describe('Of a statement: whether it raised the limit.'),
}

export const ACCOUNTING_MEMBERS = {
  period: z.string().optional().describe('The month that was closed: `2026-01`.'),
  chartVersion: z.string().optional().describe('The version of the chart that was set.'),
  provisionsAsOf: z.string().optional().describe('The day as of which provisions were booked: `2026-01-31`.'),
}

export const DELINQUENCY_MEMBERS = {
  bucket: z.string().describe('The bucket of the loan, by its name in the policy.'),
  class: z.string().optional().describe('The class of the supervisor, where the policy has one.'),
  stage: count.optional().describe('The stage of IFRS 9, 1 to 3, where the policy has one.'),
  daysPastDue: count,
  since: z.iso.date().describe('The first day in the bucket.'),
  policyVersion: z.string().describe('The version of the policy; `0` before the first one was set.'),
  previousBucket: z.string().describe('The bucket that was told before.'),
}

export const PAYMENT_MEMBERS = {
  id: z.string().describe("The service's number of the payment."),
  channelId: z.string(),
  receipt: z.string().describe("The provider's number of the payment."),
  status: word('Where its money is', PAYMENT_STATUSES),
  amount: money.describe('The whole payment, in its own currency.'),
  currencyCode: z.string(),
  allocated: money.describe('The part that is with loans.'),
  returned: money.describe('The part that was paid back.'),
  reversed: money.describe('The part that the provider has taken back.'),
  suspense: money.describe('The part that is with no loan, and waits.'),
  valueDate: z.iso.date().describe('The day from which its repayments count.'),
  reference: z.string().nullable().describe('As the payer gave it.'),
  cause: z.string().nullable().describe('Why its money is with no loan.'),
}

export const RECONCILIATION_MEMBERS = {
  id: z.string().describe("The service's number of the reconciliation."),
  channelId: z.string(),
  from: z.iso.date(),
  to: z.iso.date(),
  balanced: z.boolean(),
  difference: z.number().describe('Money of payments by the statement, less that by the payments.'),
  currencyCode: z.string(),
}

export const CHANNEL_MEMBERS = {
  id: z.string().describe("The service's number of the payment channel."),
  name: z.string(),
  silentSince: instant.describe('When its last payment came in.'),
  usualGapSeconds: z.number().describe('The longest time between two of its payments in the seven days before.'),
}

export const PROMISE_MEMBERS = {
  id: z.string().describe("The service's number of the promise."),
  state: z.string().describe('`kept` or `broken`: a payment that is told late, or reversed, changes it.'),
  amount: money.describe('What was promised.'),
  received: money.describe('What of the repayments counts for the promise.'),
  by: z.iso.date().describe('The day by whose end it was promised.'),
}

export const REMINDER_MEMBERS = {
  amount: money.describe('What is due by the due date, or overdue.'),
  currencyCode: z.string(),
  dueOn: z.iso.date().describe('The next due date, or the oldest that is unpaid.'),
  days: count.describe('Days until the due date, or since it.'),
  text: z.string().describe('The text for the borrower, from the reminder policy.'),
  language: z.string().describe('The language of the text: `en` or `sw`.'),
}

/**
 * Makes the members of what changed, as it was; each event has some of them.
 * @param id the schema of ids of the style
 */
export const previousMembers = <Id extends z.ZodType>(id: Id) => ({
  status: z.string().optional(),
  totalOutstanding: money.optional(),
  totalPaid: money.optional(),
  totalOverpaid: money.optional(),
  totalWrittenOff: money.optional(),
  totalRecovered: money.optional(),
  chargedOffOn: z.iso.date().nullable().optional(),
  principal: money.optional(),
  disbursedOn: z.iso.date().optional(),
  dueOn: z.iso.date().optional(),
  activationDate: z.iso.date().nullable().optional(),
  externalId: z.string().nullable().optional(),
  customerId: id.optional(),
  businessName: z.string().nullable().optional(),
  phone: z.string().nullable().optional(),
  region: z.string().nullable().optional(),
  creditLimit: money.optional(),
})

/** The words of a style for the members of one object, by their names here. A member without a word is not told. */
type Words<Members> = { readonly [Name in keyof Members]?: string }
type AllWords<Members> = { readonly [Name in keyof Members]: string }

/** The table of words of a style. */
export interface EventWords {
  readonly event: AllWords<typeof EVENT_MEMBERS>
  readonly data: AllWords<typeof DATA_MEMBERS>
  readonly credit: Words<typeof CREDIT_MEMBERS>
  readonly accounting: AllWords<typeof ACCOUNTING_MEMBERS>
  readonly delinquency: AllWords<typeof DELINQUENCY_MEMBERS>
  readonly payment: AllWords<typeof PAYMENT_MEMBERS>
  readonly reconciliation: AllWords<typeof RECONCILIATION_MEMBERS>
  readonly channel: AllWords<typeof CHANNEL_MEMBERS>
  readonly promise: AllWords<typeof PROMISE_MEMBERS>
  readonly reminder: AllWords<typeof REMINDER_MEMBERS>
  /** `replacedId` and `replacedAmount` are of the transaction that an adjustment has reversed. */
  readonly previous: Words<ReturnType<typeof previousMembers>> & {
    readonly replacedId: string
    readonly replacedAmount: string
  }
}

type InWords<Members, Table> = {
  [Name in keyof Members & keyof Table as Table[Name] extends string ? Table[Name] : never]: Members[Name]
}

/** Returns members in the words of a style, in their order: those for which the table has a word, and that are there. */
export const inWords = <Members extends object, const Table extends Readonly<Record<string, string>>>(
  members: Members,
  words: Table,
): InWords<Members, Table> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, member]) => {
      const wire = Object.hasOwn(words, name) ? words[name] : undefined
      return wire === undefined || member === undefined ? [] : [[wire, member]]
    }),
  ) as InWords<Members, Table>

/** What a style gives to the view of an event. */
export interface EventStyle {
  readonly words: EventWords
  /** Writes the digits of a number of the trail as an id of the style. */
  toId(digits: string): unknown
  /** Returns the loan, the transaction and the customer of an event, as members of its data. */
  aboutOf(event: ToldEvent, zone: string): object
}

/**
 * Makes the function that builds a style's view of an event.
 * @returns a function with the view, as the schema of the style has it
 */
export const eventViewIn =
  <View extends object>({ words, toId, aboutOf }: EventStyle) =>
  (event: ToldEvent, organization: Pick<Organization, 'currency' | 'mode'>, zone: string): View => {
    const currency = event.loan?.loan.terms.currency ?? currencyOf(organization.currency)
    const members = {
      id: eventIdOf(event),
      type: event.type,
      liveMode: organization.mode === 'live',
      timestamp: toRfc3339(event.at, zone),
    }
    const parts = {
      accounting: inWords(accountingOf(event), words.accounting),
      delinquency: inWords(delinquencyOf(event), words.delinquency),
      payment: inWords(paymentOf(event), words.payment),
      reconciliation: inWords(reconciliationOf(event), words.reconciliation),
      channel: inWords(channelOf(event, zone), words.channel),
      promise: inWords(promiseOf(event, currency), words.promise),
      reminder: inWords(reminderOf(event), words.reminder),
      previous: inWords(previousOf(event, currency, toId), words.previous),
    }
    const data = {
      ...inWords(dataOf(event), words.data),
      ...aboutOf(event, zone),
      ...(event.type.startsWith('credit.') && { credit: inWords(creditOf(event, currency), words.credit) }),
      ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)),
    }
    return { ...inWords(members, words.event), data } as object as View
  }

const dataOf = (event: ToldEvent) => ({
  sequence: String(event.sequence),
  loanVersion: event.loan?.state.version,
  requestId: event.change.requestId,
  accountId: event.change.accountId,
  hash: Buffer.from(event.hash).toString('hex'),
  cursor: encodeEventCursor(afterEvent(event)),
})

// What the row of the trail says of a change.

/** An object of the trail, whatever it has. */
type TrailObject = Readonly<Record<string, unknown>>

/** Returns an object of the trail; an empty one where there is none. */
export const trailObject = (json: unknown): TrailObject =>
  typeof json === 'object' && json !== null ? (json as TrailObject) : {}

/** Returns the members of these names that are there, each changed by `toValue`. */
const membersOf = (
  object: TrailObject,
  names: readonly string[],
  toValue = (value: unknown): unknown => value,
): TrailObject =>
  Object.fromEntries(
    names.flatMap((name) => (object[name] === undefined ? [] : [[name, toValue(object[name])] as const])),
  )

/** Returns the digits of a number of the trail, exact to the last one. */
const digitsOf = (number: unknown): string => JSON.stringify(number)

/** Returns a function that writes minor units of the trail as an amount. */
const toMoney = (currency: Currency) => (minor: unknown) => minorToNumber(BigInt(digitsOf(minor)), currency)

/** Returns what was decided, of an event of a decision. */
function creditOf({ change }: ToldEvent, currency: Currency): TrailObject {
  const after = trailObject(change.after)
  return {
    ...membersOf(after, ['grade', 'score', 'policyVersion', 'boostStatus']),
    ...membersOf(after, ['creditLimit', 'availableLimit'], toMoney(currency)),
  }
}

/** Returns what an event of the accounting tells; nothing for another event. */
function accountingOf({ type, change: { entityId } }: ToldEvent): TrailObject {
  if (type === 'accounting.period_closed') return { period: entityId }
  if (type === 'accounting.provisions_booked') return { provisionsAsOf: entityId }
  return type === 'accounting.chart_changed' ? { chartVersion: entityId } : {}
}

/** Returns how late a loan is, of an event that tells it; nothing where its row is damaged. */
function delinquencyOf({ type, change }: ToldEvent): TrailObject {
  const previousBucket = trailObject(change.before).bucket
  const { bucket, class: name, stage, daysPastDue, since, policyVersion } = trailObject(change.after)
  const texts = [bucket, since, previousBucket]
  if (type !== 'delinquency.changed' || !texts.every((text) => typeof text === 'string')) return {}
  return {
    bucket,
    class: typeof name === 'string' ? name : undefined,
    stage: typeof stage === 'number' ? stage : undefined,
    daysPastDue: Number(daysPastDue),
    since,
    policyVersion: String(policyVersion),
    previousBucket,
  }
}

/** Returns a payment right after a change, of an event that tells one; nothing for another event. */
function paymentOf({ payment, change: { entityId } }: ToldEvent): TrailObject {
  if (!payment) return {}
  const toAmount = (minor: bigint) => minorToNumber(minor, currencyOf(payment.currency))
  return {
    id: entityId,
    channelId: String(payment.channelId),
    receipt: payment.receipt,
    status: payment.status,
    amount: toAmount(payment.amount),
    currencyCode: payment.currency,
    allocated: toAmount(payment.allocated),
    returned: toAmount(payment.returned),
    reversed: toAmount(payment.reversed),
    suspense: toAmount(inSuspense(payment)),
    valueDate: payment.valueDate,
    reference: payment.reference,
    cause: payment.cause,
  }
}

/** Returns what a comparison of a statement came to, of its event; nothing for another event, and where its row is damaged. */
function reconciliationOf({ type, change }: ToldEvent): TrailObject {
  const { channelId, from, to, balanced, difference, currency } = trailObject(change.after)
  if (type !== 'reconciliation.completed' || typeof difference !== 'string' || typeof currency !== 'string') return {}
  return {
    id: change.entityId,
    channelId: String(channelId),
    from,
    to,
    balanced,
    difference: minorToNumber(BigInt(difference), currencyOf(currency)),
    currencyCode: currency,
  }
}

/** Returns a channel that is silent, of its event; nothing for another event, and where its row is damaged. */
function channelOf({ type, change }: ToldEvent, zone: string): TrailObject {
  const { name, silentSince, usualGapSeconds } = trailObject(change.after)
  const since = typeof silentSince === 'string' ? Date.parse(silentSince) : Number.NaN
  if (type !== 'channel.silent' || Number.isNaN(since)) return {}
  return { id: change.entityId, name, silentSince: toRfc3339(since, zone), usualGapSeconds }
}

/** Returns what became of a promise, of an event that tells it; nothing for another event, and where its row is damaged. */
function promiseOf({ type, change: { entityId, after } }: ToldEvent, currency: Currency): TrailObject {
  const { state, amount, received, by } = trailObject(after)
  const texts = [state, amount, received, by]
  if (!type.startsWith('promise.') || !texts.every((text) => typeof text === 'string')) return {}
  const toAmount = (minor: unknown) => minorToNumber(BigInt(String(minor)), currency)
  return { id: entityId, state, amount: toAmount(amount), received: toAmount(received), by }
}

/** Returns what a borrower is reminded of, of an event that tells it; nothing for another event, and where its row is damaged. */
function reminderOf({ type, change }: ToldEvent): TrailObject {
  const { amount, currency, dueOn, days, text, language } = trailObject(change.after)
  const isReminder = type === 'loan.due_soon' || type === 'loan.reminder'
  if (!isReminder || ![amount, currency, dueOn, text, language].every((one) => typeof one === 'string')) return {}
  return { amount: Number(amount), currencyCode: currency, dueOn, days: Number(days), text, language }
}

const STATES = ['status', 'chargedOffOn', 'disbursedOn', 'dueOn']
const OF_CUSTOMER = ['activationDate', 'externalId', 'businessName', 'phone', 'region']
const TOTALS = ['totalOutstanding', 'totalPaid', 'totalOverpaid', 'totalWrittenOff', 'totalRecovered']
const AMOUNTS = [...TOTALS, 'principal', 'creditLimit']

/** Returns what the change changed, as it was before. */
function previousOf({ type, change, payment }: ToldEvent, currency: Currency, toId: EventStyle['toId']): TrailObject {
  // The event of a payment has all of the payment, by its parts; before its silence, a channel was as it is.
  if (payment || type === 'channel.silent') return {}
  const after = trailObject(change.after)
  const before = Object.entries(trailObject(change.before))
  const changed = Object.fromEntries(
    before.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name])),
  )
  const idOf = (number: unknown) => toId(digitsOf(number))
  const { posted, reversed } = after
  const replaced = posted === undefined || reversed === undefined ? undefined : trailObject(reversed)
  return {
    ...membersOf(changed, [...STATES, ...OF_CUSTOMER]),
    ...membersOf(changed, AMOUNTS, toMoney(currency)),
    ...membersOf(changed, ['customerId'], idOf),
    ...(replaced && { replacedId: idOf(replaced.id), replacedAmount: toMoney(currency)(replaced.amount) }),
  }
}
