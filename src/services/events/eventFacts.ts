import { setImmediate as turn } from 'node:timers/promises'
import { withCustomersWords } from '../../db/audit/audit.ts'
import { REMINDER } from '../../db/collections/collecting.ts'
import { PROMISE } from '../../db/collections/promises.ts'
import { openTexts } from '../../db/customers/words.ts'
import {
  lastChangeBefore,
  type NamedCustomer,
  type NamedLoan,
  readEntries,
  readNamedCustomers,
  readNamedLoans,
} from '../../db/events/eventFacts.ts'
import type { StoredEvent } from '../../db/events/eventList.ts'
import { CHANNEL } from '../../db/payments/channels.ts'
import { readReferences } from '../../db/payments/payerWords.ts'
import { RECONCILIATION } from '../../db/payments/reconciliations.ts'
import { DELINQUENCY } from '../../db/portfolio/toldBuckets.ts'
import { dateIn, dayAfter, daysBetween, type Instant } from '../../domain/dates.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import { PAYMENT } from '../../domain/payments/paymentText.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Deps } from '../deps.ts'
import type { Subject, ToldEvent, ToldLoan, ToldTransaction } from './toldEvent.ts'

type FactDeps = Pick<Deps, 'db' | 'config' | 'listener'>

/** What the rows of the trail name: the loans, entries and customers of some events, by id. */
interface Facts {
  readonly loans: ReadonlyMap<bigint, NamedLoan>
  readonly entries: ReadonlyMap<bigint, Entry>
  readonly customers: ReadonlyMap<bigint, NamedCustomer>
  /** By the ids of payments. */
  readonly references: ReadonlyMap<bigint, string | null>
}

/** No customer, loan or entry has this id. */
const NOBODY = 0n

/** Reads an id of the trail, a number or, beyond 2^53, raw JSON; a damaged one is that of nobody. */
function idOf(value: unknown): bigint {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const id = /^[1-9]\d{0,18}$/.test(text ?? '') ? BigInt(text) : NOBODY
  return id <= LARGEST_INT64 ? id : NOBODY
}

/** Returns the entry that a change posted, or the one that it reversed. */
function entryOf({ type, loanChange }: StoredEvent): { readonly id: bigint; readonly isReversed: boolean } | undefined {
  const { posted = null, reversed = null } = loanChange ?? {}
  const isReversal = type.endsWith('.reversed')
  const named = isReversal ? reversed : (posted ?? reversed)
  return named ? { id: named.id, isReversed: named === reversed } : undefined
}

/** The beginning of the entities of the journal itself. */
const JOURNAL = 'accounting '

function subjectOf({ change: { entity, entityId, after } }: StoredEvent, organizationId: number): Subject {
  if (entity === 'loan' || entity === DELINQUENCY || entity === REMINDER) return { loanId: idOf(entityId) }
  if (entity === PROMISE) return { loanId: idOf((after as { loanId?: unknown } | null)?.loanId) }
  if (entity === PAYMENT) return { paymentId: idOf(entityId) }
  const isOfBook = entity === RECONCILIATION || entity === CHANNEL || entity.startsWith(JOURNAL)
  return isOfBook ? { journalOf: organizationId } : { customerId: idOf(entityId) }
}

/** The last instant that a date can hold. */
const LAST_INSTANT = 8.64e15

/** Events that are read and viewed before other requests get their turn. */
const SLICE = 50

/**
 * Reads what events tell of besides the trail: the loans, transactions and customers that it names. Some at a time, so
 * that many events do not delay other requests.
 * @param view makes what is kept of an event
 */
export async function withFacts<View>(
  deps: FactDeps,
  organizationId: number,
  { events, view }: { readonly events: readonly StoredEvent[]; readonly view: (event: ToldEvent) => View },
): Promise<View[]> {
  const views: View[] = []
  for (let from = 0; from < events.length; from += SLICE) {
    const slice = events.slice(from, from + SLICE).map(withInstant)
    for (const event of await sliceWithFacts(deps, organizationId, slice)) views.push(viewOf(deps, event, view))
    await turn()
  }
  return views
}

/** Gives an event whose row has a damaged time, such as infinity, the time at which it was sealed. */
const withInstant = (event: StoredEvent): StoredEvent =>
  Math.abs(event.change.at) <= LAST_INSTANT ? event : { ...event, change: { ...event.change, at: event.sealedAt } }

/**
 * Views an event. Where a row of the book is damaged, so that this is not possible, the event is told without what its row
 * of the trail says: one row must not keep a receiver from all events after it.
 */
function viewOf<View>({ listener }: FactDeps, event: ToldEvent, view: (event: ToldEvent) => View): View {
  try {
    return view(event)
  } catch {
    listener.eventDamaged()
    const change = { ...event.change, before: null, after: null }
    return view({ ...event, change, loan: undefined, transaction: undefined, customer: undefined, payment: undefined })
  }
}

async function sliceWithFacts(
  deps: FactDeps,
  organizationId: number,
  stored: readonly StoredEvent[],
): Promise<ToldEvent[]> {
  const opened = await openTexts(deps.db, stored, () => organizationId)
  const events = opened.map((event) => ({ ...event, change: withCustomersWords(event.change) }))
  const facts = await readFacts(deps, organizationId, events)
  return Promise.all(
    events.map(async (event): Promise<ToldEvent> => {
      const { sequence, hash, change } = event
      const subject = subjectOf(event, organizationId)
      const loan = await toldLoan(deps, facts, event, subject)
      return {
        organizationId,
        sequence,
        hash,
        subject,
        change,
        loan,
        type: event.type as EventType,
        at: change.at,
        transaction: loan && toldTransaction(facts, event, loan),
        customer: 'customerId' in subject ? facts.customers.get(subject.customerId) : undefined,
        payment: toldPayment(facts, event, subject),
      }
    }),
  )
}

async function readFacts(deps: FactDeps, organizationId: number, events: readonly StoredEvent[]): Promise<Facts> {
  const { db, config } = deps
  const subjects = events.map((event) => subjectOf(event, organizationId))
  const unique = (ids: readonly bigint[]) => [...new Set(ids)]
  const loanIds = unique(subjects.flatMap((subject) => ('loanId' in subject ? subject.loanId : [])))
  // A record system may have given a loan to another borrower since.
  const customerIds = unique([
    ...subjects.flatMap((subject) => ('customerId' in subject ? subject.customerId : [])),
    ...events.flatMap(({ loanChange }) => loanChange?.terms?.customerId ?? []),
  ])
  const entryIds = unique(events.flatMap((event) => entryOf(event)?.id ?? []))
  const none = Promise.resolve([])
  const paymentIds = unique(subjects.flatMap((subject) => ('paymentId' in subject ? subject.paymentId : [])))
  const [loans, entries, customers, references] = await Promise.all([
    loanIds.length > 0 ? readNamedLoans(db, { organizationId, ids: loanIds }, config.zone) : none,
    entryIds.length > 0 ? readEntries(db, { organizationId, ids: entryIds }) : none,
    customerIds.length > 0 ? readNamedCustomers(db, { organizationId, ids: customerIds }) : none,
    readReferences(db, organizationId, paymentIds),
  ])
  const byId = <T extends { readonly id: bigint }>(rows: readonly T[]) => new Map(rows.map((row) => [row.id, row]))
  return { loans: byId(loans), entries: byId(entries), customers: byId(customers), references }
}

/** Returns the payment of an event right after its change, with its reference. */
function toldPayment({ references }: Facts, { paymentChange }: StoredEvent, subject: Subject): ToldEvent['payment'] {
  const reference = ('paymentId' in subject && references.get(subject.paymentId)) || null
  return paymentChange && { ...paymentChange, reference }
}

/** Returns the loan as the change left it. */
async function toldLoan(
  deps: FactDeps,
  { loans, customers }: Facts,
  event: StoredEvent,
  subject: Subject,
): Promise<ToldLoan | undefined> {
  const loan = 'loanId' in subject ? loans.get(subject.loanId) : undefined
  if (!loan) return undefined
  const { loanChange } = event
  if (!loanChange) return undefined
  const { overdueSince, terms } = loanChange
  const today = dateIn(deps.config.zone, event.change.at)
  const daysOverdue = overdueSince === null ? 0 : daysBetween(overdueSince, dayAfter(today))
  const asOf = { ...loan, version: loanChange.version, updatedAt: await updatedAt(deps, loan, event) }
  const state = { ...loanChange, daysOverdue }
  if (!terms) return { loan: asOf, state }
  const { externalId = null, businessName = null, status = loan.customerStatus } = customers.get(terms.customerId) ?? {}
  const borrower = { customerExternalId: externalId, customerBusinessName: businessName, customerStatus: status }
  return { loan: { ...asOf, ...borrower, customerId: terms.customerId, terms: { ...loan.terms, ...terms } }, state }
}

/** Returns when the loan was changed last. An event that only tells something of the loan, such as its bucket, changes nothing of it. */
async function updatedAt(
  { db }: FactDeps,
  { organizationId, id }: Pick<NamedLoan, 'organizationId' | 'id'>,
  { change }: StoredEvent,
): Promise<Instant> {
  const { entity, id: changeId, at } = change
  if (entity === 'loan') return at
  return (await lastChangeBefore(db, { organizationId, entityId: String(id), changeId })) ?? at
}

function toldTransaction(
  { entries }: Facts,
  event: StoredEvent,
  { loan, state }: ToldLoan,
): ToldTransaction | undefined {
  const named = entryOf(event)
  const entry = named && entries.get(named.id)
  if (!entry) return undefined
  if (named.isReversed) return { loan, entry: { ...entry, reversedAt: event.change.at }, outcome: undefined }
  return { loan, entry: { ...entry, reversedAt: null }, outcome: state.outcome }
}
