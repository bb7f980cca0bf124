/** The result of a round of a job that goes through the organizations. */
export interface Round {
  /** The number of what was done. */
  readonly count: number
  /** Whether nothing is left to do. */
  readonly isDone: boolean
  /** The organizations that failed; they keep no other from its turn. */
  readonly failed: readonly Failed[]
}

/** An organization that failed in a round, and why. */
export interface Failed {
  readonly organizationId: number
  readonly error: unknown
}

/** A job that works in rounds, off the money path. */
export interface Job {
  stop(): Promise<void>
}

/** What a job does, and how its failures are told. */
export interface Work {
  round(): Promise<Round>
  /** The pause after a round that left nothing: what arrives meanwhile is done together. */
  readonly everyMs: number
  /** Called after a round that left nothing, or did something. */
  done(count: number): void
  failed(): void
  /** Returns the line of the log for a failure of an organization, or of all (undefined). */
  says(organizationId: number | undefined): string
}

/** The least pause after a round that left something. */
const AGAIN_MS = 10
/** One part in so many of the time may go into a long queue, so that a job never crowds out the book. */
const SHARE = 4
/** The pause after a failure, for the database to recover. */
const AFTER_FAILURE_MS = 2_000

/** Starts a job, which works until it is stopped. */
export function startRounds(work: Work, log: { error(context: object, message: string): void }): Job {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let round: Promise<void> = Promise.resolve()
  /** The failures that were logged last, by organization: the same failure again is one line in the log. */
  const logged = new Map<number | undefined, string>()

  const next = (delay: number) => {
    if (!isStopped) timer = setTimeout(() => (round = run()), delay)
  }

  function fail(organizationId: number | undefined, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    work.failed()
    if (logged.get(organizationId) === message) return
    logged.set(organizationId, message)
    log.error({ err: error }, work.says(organizationId))
  }

  async function run(): Promise<void> {
    const began = performance.now()
    try {
      const { count, isDone, failed } = await work.round()
      for (const { organizationId, error } of failed) fail(organizationId, error)
      if (isDone) logged.clear()
      if (isDone || count > 0) work.done(count)
      next(Math.max(isDone || count === 0 ? work.everyMs : AGAIN_MS, (performance.now() - began) * (SHARE - 1)))
    } catch (error) {
      fail(undefined, error)
      next(AFTER_FAILURE_MS)
    }
  }

  next(0)
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await round
    },
  }
}
