import {
  type ComputedDay,
  findKeptDay,
  type KeptDayKey,
  keepDay,
  listKeptDays,
  readSettled,
} from '../../db/portfolio/keptDays.ts'
import type { PortfolioAsked } from '../../db/portfolio/positions.ts'
import { inSnapshot, OF_A_PORTFOLIO_MS } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { addPeriods, dateIn, dayBefore, type Instant, type LocalDate } from '../../domain/dates.ts'
import { momentOf } from '../../domain/delinquency/position.ts'
import { invalidArgument } from '../../domain/errors.ts'
import type { Cell } from '../../domain/portfolio/cells.ts'
import { type Division, type Group, groupsOf } from '../../domain/portfolio/cells.ts'
import { type RollRates, rollRatesOf } from '../../domain/portfolio/rolls.ts'
import type { Caller } from '../access/caller.ts'
import { findPolicy, type NamedPolicy, namedBy } from '../delinquency/policies.ts'
import type { Caches, Core } from '../deps.ts'
import { MOST_DAYS_KEPT } from './keepDays.ts'
import { readCells, readRolls } from './positions.ts'

/** What is asked about the portfolio of an organization on a day. */
export interface PortfolioRequest {
  /** Left out: the day of `knownAt`, or today. */
  readonly asOf?: LocalDate | undefined
  /** The instant by whose knowledge is answered; left out: now. */
  readonly knownAt?: Instant | undefined
  /** The name of a preset, or the number of a version; left out: the policy in force. */
  readonly policy?: string | undefined
}

/** The open loans of an organization on a day. */
export interface PortfolioDay {
  readonly asOf: LocalDate
  readonly knownAt: Instant | undefined
  readonly policy: NamedPolicy
  readonly cells: readonly Cell[]
}

/**
 * Returns the open loans of an organization on a day, in sums, as they were known at an instant (contract 11.9). A past day
 * that is kept is answered at once; another one is computed, and kept.
 * @throws LendingError `invalid_argument` for a day, an instant or a policy; `resource_exhausted` when too many such
 *   questions wait
 */
export async function readPortfolio(
  deps: Core & Caches,
  { organizationId }: Pick<Caller, 'organizationId'>,
  { asOf, knownAt, policy: named }: PortfolioRequest,
  { byOfficer = false }: { readonly byOfficer?: boolean } = {},
): Promise<PortfolioDay> {
  const now = deps.now(organizationId)
  const day = dayOf(deps, now, { asOf, knownAt })
  const today = dateIn(deps.config.zone, now)
  const isRecent = day < today && day >= addPeriods(today, -MOST_DAYS_KEPT, 'days')
  const mayBeKept = isRecent && knownAt === undefined && !byOfficer
  // Before the policy is read: a test organization that is emptied after that begins its policies with version 1 again.
  const seenTo = mayBeKept ? await readSettled(deps.db, organizationId) : undefined
  const policy = await findPolicy(deps, organizationId, { ...namedBy(named), knownAt })
  const { version } = policy
  const kept =
    seenTo !== undefined && version !== null ? { organizationId, policyVersion: version, day, seenTo } : undefined
  const found = kept && (await findKeptDay(deps.db, kept))
  if (found) return { asOf: day, knownAt, policy, cells: found }
  const name = JSON.stringify(['cells', day, knownAt, version ?? policy.name, byOfficer])
  // Who had the loans at the end of the day; of today, who has them.
  const officersAt = byOfficer ? momentOf(day, now, deps.config.zone) : undefined
  const asked = { organizationId, policy: policy.policy, days: [day], knownAt, officersAt }
  const cells = await deps.portfolioReads.run({ organizationId, name }, () => computeDay(deps, asked, kept))
  return { asOf: day, knownAt, policy, cells }
}

/** What is asked, before its turn has come. */
type Untimed = Omit<PortfolioAsked, 'now' | 'today'>

/** Returns what is asked at the moment of its turn: midnight may have passed while it waited. */
function atNow({ now, config }: Core, untimed: Untimed): PortfolioAsked {
  const at = now(untimed.organizationId)
  return { ...untimed, now: at, today: dateIn(config.zone, at) }
}

/** Computes the cells of a day, and keeps them where the day may be kept. */
async function computeDay(
  deps: Core,
  untimed: Untimed,
  kept: (KeptDayKey & Pick<ComputedDay, 'seenTo'>) | undefined,
): Promise<readonly Cell[]> {
  // The day may have been kept while this question waited for its turn.
  const found = kept && (await findKeptDay(deps.db, kept))
  if (found) return found
  const asked = atNow(deps, untimed)
  const computed = await inSnapshot(deps.db, (snapshot) => readCells(deps, snapshot, asked), {
    mostMs: OF_A_PORTFOLIO_MS,
  })
  const cells = computed.get(asked.days[0]!)!
  if (kept) await keepDay(deps.db, { ...kept, cells, computedAt: asked.now })
  return cells
}

/** What is asked about how loans moved between two days. */
export interface RollRequest {
  readonly from: LocalDate
  /** Left out: today. */
  readonly to?: LocalDate | undefined
  readonly policy?: string | undefined
}

/** How loans moved between the buckets. */
export interface RollAnswer {
  readonly from: LocalDate
  readonly to: LocalDate
  readonly policy: NamedPolicy
  readonly rates: readonly RollRates[]
}

/**
 * Returns how the loans of an organization moved between the buckets from the end of one day to another (contract 11.11).
 * @throws LendingError as `readPortfolio`
 */
export async function readRollRates(
  deps: Core & Caches,
  { organizationId }: Pick<Caller, 'organizationId'>,
  { from, to, policy: named }: RollRequest,
): Promise<RollAnswer> {
  const now = deps.now(organizationId)
  const last = dayOf(deps, now, { asOf: to }, 'to')
  if (from >= last) throw invalidArgument('from', `must be before ${last}`)
  const policy = await findPolicy(deps, organizationId, namedBy(named))
  const asked: Untimed = { organizationId, policy: policy.policy, days: [from, last], knownAt: undefined }
  const name = JSON.stringify(['rolls', from, last, policy.version ?? policy.name])
  const compute = () =>
    inSnapshot(deps.db, (snapshot) => readRolls(deps, snapshot, atNow(deps, asked)), { mostMs: OF_A_PORTFOLIO_MS })
  const rolls = await deps.portfolioReads.run({ organizationId, name }, compute)
  return { from, to: last, policy, rates: rollRatesOf(rolls, policy.policy) }
}

/** Returns the day that is asked for. @throws LendingError `invalid_argument` for one after the day that is known */
function dayOf(
  { config: { zone } }: Core,
  now: Instant,
  { asOf, knownAt }: Pick<PortfolioRequest, 'asOf' | 'knownAt'>,
  name: 'asOf' | 'to' = 'asOf',
): LocalDate {
  if (knownAt !== undefined && knownAt > now) throw invalidArgument('knownAt', 'must not be in the future')
  const latest = dateIn(zone, knownAt ?? now)
  if (asOf !== undefined && asOf > latest) throw invalidArgument(name, `must be at most ${latest}`)
  return asOf ?? latest
}

/** A portfolio at risk, divided as it was asked for. */
export interface PortfolioAtRisk extends Omit<PortfolioDay, 'cells'> {
  readonly groups: readonly Group[]
}

/**
 * Returns the portfolio at risk of the caller's organization on a day (contract 11.9).
 * @throws LendingError `permission_denied`, and as `readPortfolio`
 */
export async function getPortfolioAtRisk(
  deps: Core & Caches,
  caller: Caller,
  { by = [], ...request }: PortfolioRequest & { readonly by?: readonly Division[] | undefined },
): Promise<PortfolioAtRisk> {
  requirePermission(caller, 'reports.read')
  const { cells, ...day } = await readPortfolio(deps, caller, request, { byOfficer: by.includes('officer') })
  return { ...day, groups: groupsOf(cells, day.policy.policy, by) }
}

/** The most days that are shown, the last of them yesterday. */
const DAYS_SHOWN = 92

/** A day of a portfolio as it was kept, by currency. */
interface PortfolioOfDay {
  readonly day: LocalDate
  /** False: a change that is dated on the day or before it was made since. */
  readonly isRight: boolean
  readonly groups: readonly Group[]
}

/** A portfolio over time. */
export interface PortfolioTime {
  readonly policy: NamedPolicy
  /** Ascending; days that are not kept are left out. */
  readonly days: readonly PortfolioOfDay[]
}

/**
 * Lists the kept days of the portfolio of the caller's organization, of the last 92, by the policy in force. Nothing is
 * computed: days that a change made stale are as they were.
 * @throws LendingError `permission_denied`
 */
export async function listPortfolioDays(deps: Core, caller: Caller): Promise<PortfolioTime> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  const today = dateIn(deps.config.zone, deps.now(organizationId))
  const policy = await findPolicy(deps, organizationId, {})
  const from = addPeriods(today, -DAYS_SHOWN, 'days')
  const asked = { organizationId, policyVersion: policy.version ?? 0, from, to: dayBefore(today) }
  const days = await listKeptDays(deps.db, asked)
  return {
    policy,
    days: days.map(({ cells, ...day }) => ({ ...day, groups: groupsOf(cells, policy.policy, []) })),
  }
}
