import { type EventType, TYPE_WORDS, typesOf } from '../events/eventTypes.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The pauses between the attempts to send an event, in milliseconds (contract 8). */
export const PAUSES_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
]

/** The attempts after which an event is given up. */
export const MOST_ATTEMPTS = PAUSES_MS.length + 1

/** The share by which a pause may be longer or shorter, so that those who failed together do not come back together. */
const JITTER = 0.1

/** The longest `Retry-After` that is kept to. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR

/**
 * Returns the pause after a failure, in milliseconds. The last pause is repeated.
 * @param failures so far, 1 or more
 * @param random from 0 to 1, without 1
 * @param retryAfterMs the time for which the receiver asked; the pause is never shorter
 */
export function pauseAfter(failures: number, random: number, retryAfterMs: number | undefined): number {
  const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1]!
  const jittered = Math.round(pause * (1 + JITTER * (2 * random - 1)))
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS))
}

/**
 * Reads a `Retry-After`: seconds, or a date of HTTP.
 * @returns milliseconds from now, 0 for a date in the past; undefined where there is none, or it cannot be read
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

/** The word for every type, also for those that a later version adds. */
export const EVERY_TYPE = '*'

/** What an endpoint can want: every type, each type, and each group of types (`loan.*`). */
export const WANTED_WORDS: readonly string[] = [EVERY_TYPE, ...TYPE_WORDS]

/** Returns the types that words of `WANTED_WORDS` stand for; undefined for every type. */
export const wantedTypes = (words: readonly string[]): readonly EventType[] | undefined =>
  words.includes(EVERY_TYPE) ? undefined : typesOf(words)
