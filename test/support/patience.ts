import type { JournalPatience } from '../../src/services/base.ts'

/**
 * By how many times longer than on an idle machine the tests wait, and let things take: one factor for all limits of
 * time. `vitest.config.ts` sets it, by the load of the machine when the tests begin, unless `TEST_PATIENCE` is set.
 */
const FACTOR = Number(process.env.TEST_PATIENCE ?? 1)

/** A limit of time, in milliseconds on an idle machine, as it is on this one. */
export const within = (milliseconds: number): number => milliseconds * FACTOR

/** `MAX_LAG_MS` of the services of tests: how late a busy machine makes the timers of a process is no overload of the service. */
export const PATIENT_LAG_MS = 60_000

/** How long answers of the services of tests wait for the journal: on a busy machine its jobs get their turn later. */
export const PATIENT_WITH_JOURNALS: JournalPatience = { readMs: within(30_000), changeMs: within(30_000) }

/** Returns the milliseconds of a processor that this thread has taken since a moment. */
function processorMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Returns the milliseconds of a processor that work takes: how long it waits for one is of the machine. */
export function processorMs(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  return processorMsSince(before)
}

/**
 * Returns how often the event loop came round while work was going on, and the milliseconds of a processor that the thread took between
 * two of its turns at most: for so long nobody else had a turn.
 */
export async function turnsDuring(
  work: Promise<unknown>,
): Promise<{ readonly turns: number; readonly longestMs: number }> {
  let [turns, longestMs, before] = [0, 0, process.threadCpuUsage()]
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, processorMsSince(before))
    turns++
    before = process.threadCpuUsage()
  }, 1)
  try {
    await work
  } finally {
    clearInterval(timer)
  }
  return { turns, longestMs }
}
