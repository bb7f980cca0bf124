import { setImmediate as turn } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import {
  type NamedCustomer,
  type NamedLoan,
  readEntries,
  readNamedCustomers,
  readNamedLoans,
} from '../../db/events/eventFacts.ts'
import type { StoredEvent } from '../../db/events/eventList.ts'
import { dateIn, dayAfter, daysBetween } from '../../domain/dates.ts'
import type { EventType } from '../../domain/events/eventTypes.ts'
import { balancesFromText, balancesToText, type KeptBalances } from '../../domain/events/keptBalances.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import { replay } from '../../domain/loan/replay.ts'
import { withAccountNumbers } from '../lenders/withAccountNumbers.ts'
import type { Subject, ToldEvent, ToldLoan, ToldTransaction } from './toldEvent.ts'

type FactDeps = Pick<Deps, 'db' | 'config' | 'loanBatches'>

/** What the rows of the trail name: the loans, entries and customers of some events, by id. */
interface Facts {
  readonly loans: ReadonlyMap<bigint, NamedLoan>
  readonly entries: ReadonlyMap<bigint, Entry>
  readonly customers: ReadonlyMap<bigint, NamedCustomer>
}

/** An entry that the trail names in what was posted or reversed; its id is a number or, beyond 2^53, raw JSON. */
interface NamedEntry {
  readonly id: unknown
}

/** Returns the entry that a change posted, or the one that it reversed. */
function entryOf(event: StoredEvent): { readonly id: bigint; readonly isReversed: boolean } | undefined {
  const { posted, reversed } = (event.change.after ?? {}) as { posted?: NamedEntry; reversed?: NamedEntry }
  const isReversal = event.type.endsWith('.reversed')
  const named = isReversal ? reversed : (posted ?? reversed)
  return named && { id: BigInt(JSON.stringify(named.id)), isReversed: named === reversed }
}

const subjectOf = ({ change }: StoredEvent): Subject =>
  change.entity === 'loan' ? { loanId: BigInt(change.entityId) } : { customerId: BigInt(change.entityId) }

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
    for (const event of await sliceWithFacts(deps, organizationId, events.slice(from, from + SLICE)))
      views.push(view(event))
    await turn()
  }
  return views
}

async function sliceWithFacts(
  deps: FactDeps,
  organizationId: number,
  events: readonly StoredEvent[],
): Promise<ToldEvent[]> {
  const facts = await readFacts(deps, organizationId, events)
  return Promise.all(
    events.map(async (event): Promise<ToldEvent> => {
      const { sequence, hash, change } = event
      const subject = subjectOf(event)
      const loan = await toldLoan(deps, facts, event, subject)
      return {
        ...{ organizationId, sequence, hash, subject, change, loan },
        type: event.type as EventType,
        at: change.at,
        transaction: loan && toldTransaction(facts, event, loan),
        customer: 'customerId' in subject ? facts.customers.get(subject.customerId) : undefined,
      }
    }),
  )
}

async function readFacts(deps: FactDeps, organizationId: number, events: readonly StoredEvent[]): Promise<Facts> {
  const { db, config } = deps
  const subjects = events.map(subjectOf)
  const unique = (ids: readonly bigint[]) => [...new Set(ids)]
  const loanIds = unique(subjects.flatMap((subject) => ('loanId' in subject ? subject.loanId : [])))
  const customerIds = unique(subjects.flatMap((subject) => ('customerId' in subject ? subject.customerId : [])))
  const entryIds = unique(events.flatMap((event) => entryOf(event)?.id ?? []))
  const loansNow = () => readNamedLoans(db, { organizationId, ids: loanIds }, config.zone)
  const customersNow = () => readNamedCustomers(db, { organizationId, ids: customerIds })
  const all = <T>(found: T) => found
  const none = Promise.resolve([])
  const [loans, entries, customers] = await Promise.all([
    loanIds.length > 0 ? withAccountNumbers(deps, { organizationId, table: 'loan' }, loansNow, all) : none,
    entryIds.length > 0 ? readEntries(db, { organizationId, ids: entryIds }) : none,
    customerIds.length > 0 ? withAccountNumbers(deps, { organizationId, table: 'customer' }, customersNow, all) : none,
  ])
  const byId = <T extends { readonly id: bigint }>(rows: readonly T[]) => new Map(rows.map((row) => [row.id, row]))
  return { loans: byId(loans), entries: byId(entries), customers: byId(customers) }
}

/** Returns the loan as the change left it. */
async function toldLoan(
  deps: FactDeps,
  { loans }: Facts,
  event: StoredEvent,
  subject: Subject,
): Promise<ToldLoan | undefined> {
  const loan = 'loanId' in subject ? loans.get(subject.loanId) : undefined
  if (!loan) return undefined
  const kept = event.balances === null ? await replayed(deps, loan, event) : balancesFromText(event.balances)
  if (!kept) return undefined
  const { overdueSince, terms } = kept
  const today = dateIn(deps.config.zone, event.change.at)
  const daysOverdue = overdueSince === null ? 0 : daysBetween(overdueSince, dayAfter(today))
  const asOf = { ...loan, version: kept.version, updatedAt: event.change.at }
  return {
    loan: terms ? { ...asOf, customerId: terms.customerId, terms: { ...loan.terms, ...terms } } : asOf,
    state: { ...kept, daysOverdue },
  }
}

/**
 * Computes the balances after a change whose row of the trail does not have them: the version before this one made it,
 * while both were running.
 */
async function replayed(deps: FactDeps, named: NamedLoan, { change }: StoredEvent): Promise<KeptBalances | undefined> {
  const { organizationId, id } = named
  const loan = await deps.loanBatches.readLoan({ organizationId, ref: { id }, zone: deps.config.zone })
  if (!loan) return undefined
  const then = loan.entries
    .filter(({ postedAt }) => postedAt <= change.at)
    .map((entry) => ({ ...entry, reversedAt: (entry.reversedAt ?? Infinity) <= change.at ? entry.reversedAt : null }))
  const state = replay(loan.terms, then, change.at)
  const posted = then.findLast(({ postedAt }) => postedAt === change.at)
  const outcome = posted && state.outcomes.get(posted.ordinal)
  return balancesFromText(balancesToText(state, { version: loan.version, outcome }))
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
