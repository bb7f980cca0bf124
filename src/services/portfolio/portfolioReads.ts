import { createGate, type GateBounds } from '../../toolbox/gate.ts'
import { createSingleFlight } from '../../toolbox/singleFlight.ts'

/**
 * The turns of questions about whole portfolios. One takes seconds, so another one waits longer for its turn than other heavy
 * reads. It takes the process a few milliseconds at a time, so that no rest has to follow.
 */
export const PORTFOLIO_PLACES: GateBounds = {
  atOnce: 1,
  waiting: { all: 16, ofGroup: 4 },
  waitMs: 20_000,
  refusal: 'too many questions about the portfolio are being answered; try again',
  againSeconds: 2,
}

/** A question about a whole portfolio. */
export interface PortfolioQuestion {
  readonly organizationId: number
  /** The same for the same question. */
  readonly name: string
}

/** The turns of questions about whole portfolios: one at a time, since each takes much of the process. */
export interface PortfolioReads {
  /**
   * Answers a question in its turn. The same question that waits for its turn is answered once, for both; one that is being
   * answered is not shared, because its answer may lack what was posted since it began.
   * @throws LendingError `resource_exhausted` when too many wait, or this one waited too long
   */
  run<T>(question: PortfolioQuestion, read: () => Promise<T>): Promise<T>
}

/** Creates the turns; there is one set of them in a process. */
export function createPortfolioReads(): PortfolioReads {
  const turns = createGate(PORTFOLIO_PLACES)
  const share = createSingleFlight<string, unknown>()
  return {
    run<T>({ organizationId, name }: PortfolioQuestion, read: () => Promise<T>): Promise<T> {
      const inTurn = (leave: () => void) =>
        turns.run({ group: organizationId }, () => {
          leave()
          return read()
        })
      return share(`${organizationId} ${name}`, inTurn) as Promise<T>
    },
  }
}
