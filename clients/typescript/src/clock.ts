/** The time of a client. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after a time; rejects with the reason of the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The time of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end)
        resolve()
      }, ms)
      if (signal?.aborted) end()
      else signal?.addEventListener('abort', end, { once: true })
    }),
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8_000

/** Returns the milliseconds before the next attempt: longer and longer, and drawn so that clients do not come at once. */
export const pauseMs = (failed: number): number =>
  Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failed)
