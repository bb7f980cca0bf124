import { requirePermission } from '../../domain/access/permissions.ts'
import { firstDayOf, lastDayOf, monthOf } from '../../domain/accounting/months.ts'
import { dateIn, dayBefore, type Instant, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { journalCaughtUp } from '../accounting/caughtUp.ts'
import { checkClose } from '../accounting/closePeriod.ts'
import { type BooksOfDays, getBooks } from '../accounting/financialStatements.ts'
import { listPeriods, type Period } from '../accounting/periods.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getPortfolioAtRisk, type PortfolioAtRisk, type RollAnswer, readRollRates } from '../portfolio/portfolio.ts'
import { getProvisions, type Provisions } from '../portfolio/provisions.ts'

export type MonthEndDeps = Core & Caches & Pick<Writing, 'loanBatches'>

/** A month of the caller's organization that has begun. */
export interface BegunMonth {
  /** `2026-01` */
  readonly month: string
  readonly firstDay: LocalDate
  /** The last day of the month; of the current month today. */
  readonly end: LocalDate
}

/** Something of a month that may be refused, such as provisions by a policy without rates. */
type Told<T> = { readonly value: T } | { readonly refused: string }

/** All that an accountant needs of a month at its end. */
export interface MonthEnd extends BegunMonth {
  readonly readAt: Instant
  /** The months of the books, newest first. */
  readonly periods: readonly Period[]
  /** Undefined: the month was over before the lender had a journal. */
  readonly period: Period | undefined
  /** What is against a close; undefined where nothing is, and of a month that is closed or being closed. */
  readonly against: string | undefined
  /** As booked. */
  readonly books: BooksOfDays
  /** At the end of the month, as the portfolio at risk. */
  readonly provisions: Told<Provisions>
  /** From the end of the month before to the end of the month. */
  readonly rolls: RollAnswer
  readonly atRisk: PortfolioAtRisk
}

/**
 * Returns a month that has begun.
 * @param month `2026-01`
 * @throws LendingError `permission_denied`; `invalid_argument` for a text that is no month, and for a month to come
 */
export function begunMonth(deps: Pick<Core, 'config' | 'now'>, caller: Caller, month: string): BegunMonth {
  requirePermission(caller, 'reports.read')
  const firstDay = firstDayOf(month)
  if (firstDay === undefined) throw invalidArgument('period', 'must be a month, such as 2026-01')
  const today = dateIn(deps.config.zone, deps.now(caller.organizationId))
  if (firstDay > today) throw invalidArgument('period', `must be at most ${monthOf(today)}, the current month`)
  const last = lastDayOf(firstDay)
  return { month, firstDay, end: last < today ? last : today }
}

/**
 * Reads all that an accountant needs of a month of the caller's organization, once the journal is there.
 * @param asked `2026-01`; undefined: the oldest open month
 * @throws LendingError as `begunMonth`; `unavailable` while the journal is behind; `resource_exhausted` when too many questions
 *   about portfolios wait
 */
export async function readMonthEnd(deps: MonthEndDeps, caller: Caller, asked: string | undefined): Promise<MonthEnd> {
  requirePermission(caller, 'reports.read')
  if (asked !== undefined) begunMonth(deps, caller, asked)
  await journalCaughtUp(deps, caller.organizationId)
  const periods = await listPeriods(deps, caller)
  const oldest = periods.findLast(({ state }) => state === 'open')?.month
  const today = dateIn(deps.config.zone, deps.now(caller.organizationId))
  const { month, firstDay, end } = begunMonth(deps, caller, asked ?? oldest ?? monthOf(today))
  const readAt = deps.now(caller.organizationId)
  const period = periods.find((one) => one.month === month)
  const against =
    period?.state === 'open' ? await told(() => checkClose(deps, caller, month), AGAINST) : { value: undefined }
  return {
    month,
    firstDay,
    end,
    readAt,
    periods,
    period,
    against: 'refused' in against ? against.refused : undefined,
    books: await getBooks(deps, caller, { from: firstDay, to: end }),
    // The first of these keeps the day of the portfolio, which the others then find.
    atRisk: await getPortfolioAtRisk(deps, caller, { asOf: end }),
    provisions: await readProvisions(deps, caller, end),
    rolls: await readRollRates(deps, caller, { from: dayBefore(firstDay), to: end }),
  }
}

/** Returns whether provisions are not all booked; false where they are refused. */
export const areLeft = (provisions: MonthEnd['provisions']): boolean =>
  'value' in provisions && provisions.value.groups.some(({ total, booked }) => total.provision !== booked)

/** Reads the provisions of a day, or in what words they are refused. @throws LendingError as `getProvisions` otherwise */
export const readProvisions = (deps: MonthEndDeps, caller: Caller, asOf: LocalDate): Promise<MonthEnd['provisions']> =>
  told(() => getProvisions(deps, caller, { asOf }))

type Codes = readonly LendingError['code'][]

/** The refusals that are a part of an answer: others are refusals of the whole. */
const TOLD: Codes = ['failed_precondition']
/** Of a close also that the last day is still being saved. */
const AGAINST: Codes = ['failed_precondition', 'unavailable']

/** Returns what is read, or in what words it is refused. @throws LendingError of another code */
async function told<T>(read: () => Promise<T>, codes = TOLD): Promise<Told<T>> {
  try {
    return { value: await read() }
  } catch (error) {
    if (error instanceof LendingError && codes.includes(error.code)) return { refused: error.message }
    throw error
  }
}
