import { service } from '../../db/audit/trail.ts'
import {
  type ChangedLoans,
  claimCollections,
  findChangedLoans,
  findCollecting,
  findLoansToRemind,
  type LoanToRemind,
  saveReminder,
  setJudged,
  setReminded,
} from '../../db/collections/collecting.ts'
import { findDueLoans, readPromisesOf, type StoredPromise, saveVerdict } from '../../db/collections/promises.ts'
import { lockLoans, type ToldLoan } from '../../db/portfolio/toldBuckets.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { judge } from '../../domain/collections/promise.ts'
import { type ReminderPolicy, reminderOn, reminderText } from '../../domain/collections/reminders.ts'
import { addPeriods, dateIn, type Instant, type LocalDate, startOfDay } from '../../domain/dates.ts'
import { loanTold } from '../../domain/loan/change/change.ts'
import { changeToText } from '../../domain/loan/change/changeText.ts'
import { type LoanState, replay } from '../../domain/loan/replay.ts'
import { minorToText } from '../../domain/money.ts'
import type { Deps } from '../deps.ts'
import type { Job, Left } from '../jobs/job.ts'
import { isDone } from '../portfolio/tellBuckets.ts'
import { whileItStands } from '../testClock/testClocks.ts'
import { readReminderPolicy } from './reminderPolicy.ts'

/** The pause after a round that left nothing. */
const EVERY_MS = 30_000
/** Loans that one transaction judges, or reminds of. */
const LOANS_A_STEP = 200

type CollectDeps = Pick<Deps, 'db' | 'config' | 'now'>

/** The moment of a step, and the day of it. */
interface Moment {
  readonly organizationId: number
  readonly at: Instant
  readonly today: LocalDate
}

/** How much of the work of an organization is left, and the loans that could not be replayed. */
interface Collected {
  readonly left: Left
  readonly damaged: readonly Error[]
}

/** Returns what the trail has of a loan of which something is told. */
const toldText = (loan: ToldLoan, { today }: Moment, after: LoanState): string =>
  changeToText(loanTold(loan, { version: loan.version, on: today, after }))

/** Visits the loans that could be locked, and collects the failures of those that are damaged. */
async function visit(
  loans: Awaited<ReturnType<typeof lockLoans>>['loans'],
  at: Instant,
  each: (loan: ToldLoan, state: LoanState) => Promise<void>,
): Promise<Error[]> {
  const damaged: Error[] = []
  for (const { id, read } of loans) {
    let seen: { readonly loan: ToldLoan; readonly state: LoanState }
    try {
      const loan = read()
      seen = { loan, state: replay(loan.terms, loan.entries, at) }
    } catch (error) {
      damaged.push(new Error(`loan ${id} cannot be replayed, and is left out; run \`book check\``, { cause: error }))
      continue
    }
    await each(seen.loan, seen.state)
  }
  return damaged
}

/**
 * Judges the promises on the next loans that changed since they were judged, and on those with a promise whose day is over. A loan
 * that another change has locked is judged in the next step.
 */
const judgeNext = (deps: CollectDeps, moment: Moment): Promise<Collected | undefined> =>
  inTransaction(deps.db, async (transaction): Promise<Collected | undefined> => {
    const { organizationId, at, today } = moment
    const { zone } = deps.config
    const head = await claimCollections(transaction, organizationId, startOfDay(today, zone))
    if (!head) return undefined
    const pool = { pool: transaction }
    const changed: ChangedLoans = await findChangedLoans(pool, { organizationId, above: head.changeId })
    const due = await findDueLoans(pool, { organizationId, today, most: LOANS_A_STEP })
    const ids = [...new Set([...changed.ids, ...due])]
    const { loans, left } = await lockLoans(transaction, zone, { organizationId, ids })
    const promises = Map.groupBy(await readPromisesOf(pool, { organizationId, loanIds: ids }), ({ loanId }) => loanId)
    const damaged = await visit(loans, at, (loan, state) =>
      tellVerdicts(transaction, { moment, loan, state, promises: promises.get(loan.id) ?? [] }),
    )
    if (left > 0) return { left: 'waits', damaged }
    await setJudged(transaction, organizationId, changed.upTo)
    return { left: changed.isMore || (due.length === LOANS_A_STEP && damaged.length === 0) ? 'more' : 'done', damaged }
  })

/** Tells what became of the promises on a loan, of those of which it was not told. */
async function tellVerdicts(
  transaction: Transaction,
  told: {
    readonly moment: Moment
    readonly loan: ToldLoan
    readonly state: LoanState
    readonly promises: readonly StoredPromise[]
  },
): Promise<void> {
  const { moment, loan, promises } = told
  const verdicts = judge(promises, loan, moment.at)
  for (const promise of promises) {
    const { state, received } = verdicts.get(promise.id)!
    if (state === 'open' || state === promise.state) continue
    const change = toldText(loan, moment, told.state)
    const verdict = { state, received, change, now: moment.at }
    await saveVerdict(transaction, service(moment.organizationId), promise, verdict)
  }
}

/** Returns the due dates of which a policy reminds on a day. */
const dueDaysOf = ({ daysBefore, daysAfter }: ReminderPolicy, today: LocalDate): LocalDate[] => [
  ...daysBefore.map((days) => addPeriods(today, days, 'days')),
  ...daysAfter.map((days) => addPeriods(today, -days, 'days')),
]

/** A place in the walk through the loans of a day. */
interface Place {
  readonly day: LocalDate
  readonly after: bigint
  /** Whether a loan was left out, because another change had locked it: the loans are walked once more. */
  readonly isPartial: boolean
}

/** The result of a step of reminding: where to go on; undefined where all of the day are reminded. */
interface Reminded {
  readonly next: Place | undefined
  readonly damaged: readonly Error[]
}

/**
 * Tells of the next loans of which their borrowers are to be reminded today, once the sweep has saved what time changed with the
 * beginning of the day. A borrower is reminded of a loan once a day.
 */
async function remindNext(deps: CollectDeps, moment: Moment, place?: Place): Promise<Reminded> {
  const { organizationId, at, today } = moment
  const { zone } = deps.config
  const { policy, lender } = await readReminderPolicy(deps, { organizationId })
  const dueDays = dueDaysOf(policy, today)
  const nothing: Reminded = { next: undefined, damaged: [] }
  if (dueDays.length === 0) return nothing
  const from: Place = place?.day === today ? place : { day: today, after: 0n, isPartial: false }
  return inTransaction(deps.db, async (transaction): Promise<Reminded> => {
    const head = await claimCollections(transaction, organizationId, startOfDay(today, zone))
    if (!head?.isSwept || isDone(head.remindedOn, today)) return nothing
    const asked = { organizationId, after: from.after, today, dueDays, most: LOANS_A_STEP }
    const found: readonly LoanToRemind[] = await findLoansToRemind({ pool: transaction }, asked)
    const numbers = new Map(found.map(({ id, accountNo }) => [id, accountNo]))
    const { loans, left } = await lockLoans(transaction, zone, { organizationId, ids: [...numbers.keys()] })
    const damaged = await visit(loans, at, async (loan, state) => {
      const reminder = reminderOn(policy, state, today)
      if (!reminder) return
      const { currency } = loan.terms
      const text = reminderText(policy, reminder, { currency, loan: String(numbers.get(loan.id)), lender })
      const { kind, amount, dueOn, days } = reminder
      const after = {
        amount: minorToText(amount, currency),
        currency: currency.code,
        dueOn,
        days,
        text,
        language: policy.language,
      }
      const trace = { action: kind, before: null, after, change: toldText(loan, moment, state) }
      await saveReminder(transaction, service(organizationId), { id: loan.id, today, now: at, trace })
    })
    const isPartial = from.isPartial || left > 0
    if (found.length === LOANS_A_STEP) return { next: { day: today, after: found.at(-1)!.id, isPartial }, damaged }
    if (isPartial) return { next: { day: today, after: 0n, isPartial: false }, damaged }
    await setReminded(transaction, organizationId, today)
    return { next: undefined, damaged }
  })
}

/** Does all that collections have to do by the time at which a test clock stands. */
export async function collectAll(deps: CollectDeps, organizationId: number): Promise<void> {
  const at = deps.now(organizationId)
  const moment = { organizationId, at, today: dateIn(deps.config.zone, at) }
  while ((await judgeNext(deps, moment))?.left === 'more');
  for (let place = (await remindNext(deps, moment)).next; place; ) place = (await remindNext(deps, moment, place)).next
}

/**
 * Creates the job of collections: it tells of promises that are kept or broken, and reminds borrowers. Any number of instances may
 * work at it: the collections of an organization are claimed by a row.
 */
export function collectionsJob(deps: CollectDeps & Pick<Deps, 'testClocks'>): Job {
  const places = new Map<number, Place>()

  async function collect(organizationId: number): Promise<Left> {
    const at = deps.now(organizationId)
    const moment = { organizationId, at, today: dateIn(deps.config.zone, at) }
    const judged = await judgeNext(deps, moment)
    if (!judged) return 'waits'
    const reminded = await remindNext(deps, moment, places.get(organizationId))
    if (reminded.next) places.set(organizationId, reminded.next)
    else places.delete(organizationId)
    const [damaged] = [...judged.damaged, ...reminded.damaged]
    if (damaged) throw damaged
    return reminded.next ? 'more' : judged.left
  }

  return {
    name: 'collections',
    failure: 'promises could not be judged, or borrowers not reminded',
    everyMs: EVERY_MS,
    async organizations() {
      await deps.testClocks.refreshAll()
      return findCollecting(deps.db)
    },
    async work(organizationId) {
      const work = () => collect(organizationId)
      if (deps.testClocks.find(organizationId) === undefined) return work()
      // One whose clock is being moved is worked at by the request that moves the clock.
      return (await whileItStands(deps, organizationId, work)) ?? 'waits'
    },
  }
}
