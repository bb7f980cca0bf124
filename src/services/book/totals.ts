import type { Deps } from '../../app/deps.ts'
import { type BookFigures, computeFigures, readFigures } from '../../db/book/totals.ts'

export {
  type BookFigures,
  DAYS_SHOWN,
  type DayFigures,
  PORTFOLIO_AT_RISK_DAYS,
  type ProductFigures,
} from '../../db/book/totals.ts'

/** How often an instance looks whether there is something newer, or something to do. */
const LOOK_EVERY_MS = 5_000
/** Computing may take one part in so many of the time: a book that is slow to sum up is summed up more rarely. */
const SHARE = 50

/** The totals of every book, as fresh as the last computation of any instance. Reading them costs nothing. */
export interface Figures {
  latest(): readonly BookFigures[]
  /** Looks now; for tests, and for a page that nobody has computed anything for yet. */
  look(): Promise<void>
  stop(): Promise<void>
}

/**
 * Keeps the totals of the book at hand. They are computed every `FIGURES_EVERY_S` at most, by one instance for all, and
 * kept in the database; the others read a row.
 */
export function keepFigures(deps: Deps, log: { warn(context: object, message: string): void }): Figures {
  const every = deps.config.figuresEverySeconds * 1000
  let latest: readonly BookFigures[] = []
  let looking: Promise<void> | undefined

  async function lookNow(): Promise<void> {
    try {
      await computeFigures(deps.db, deps.config.zone, deps.now, (last) => {
        const wait = Math.max(every, (last?.tookMs ?? 0) * SHARE)
        // Never longer ago than now: a clock that went back must not stop it for long.
        return last === undefined || deps.now() - last.computedAt >= wait || deps.now() < last.computedAt
      })
      latest = await readFigures(deps.db)
    } catch (error) {
      log.warn({ err: error }, 'the totals of the book could not be computed; it will be tried again')
    }
  }

  const look = () => {
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return looking
  }

  const timer = setInterval(look, Math.min(LOOK_EVERY_MS, every)).unref()
  void look()
  return {
    latest: () => latest,
    look,
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}
