/** Milliseconds by which the clocks of the database and of this machine may differ: unsaid, and at all. */
const WARN_FROM_MS = 1_000
const REFUSE_FROM_MS = 60_000

const seconds = (ahead: number) =>
  `${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} the clock of this machine`

/** A line for the log, where the clock of the database is not ours; undefined where it is. */
export const clockWarning = (ahead: number): string | undefined =>
  Math.abs(ahead) < WARN_FROM_MS ? undefined : `the clock of the database is ${seconds(ahead)}: set both by NTP`

/** Why nothing can be served by clocks that differ so much that days and due times would be wrong. */
export const clockTrouble = (ahead: number): string | undefined =>
  Math.abs(ahead) < REFUSE_FROM_MS
    ? undefined
    : `the clock of the database is ${seconds(ahead)}, and may differ by less than ${REFUSE_FROM_MS / 1000} s: set both by NTP`
