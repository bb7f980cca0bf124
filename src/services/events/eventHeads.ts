/** The last event of each organization that this process has heard of, for those that wait for the next one. */
export interface EventHeads {
  /** Takes note of the number of the last event of an organization. */
  note(organizationId: number, sequence: bigint): void
  /** Returns the number of the last event that was noted; 0 where none was. */
  latest(organizationId: number): bigint
  /** Returns the organizations for which somebody waits. */
  awaited(): number[]
  /**
   * Resolves when an event after a number is noted, or when the signal is aborted.
   * @returns whether there is such an event
   */
  after(organizationId: number, sequence: bigint, signal: AbortSignal): Promise<boolean>
  /** Ends every wait, and those to come: the process stops. */
  close(): void
}

interface Waiter {
  readonly sequence: bigint
  readonly wake: () => void
}

/** Creates the heads of a process; none is known. */
export function createEventHeads(): EventHeads {
  const heads = new Map<number, bigint>()
  const waiters = new Map<number, Set<Waiter>>()
  let isClosed = false
  const latest = (organizationId: number) => heads.get(organizationId) ?? 0n
  return {
    latest,
    awaited: () => [...waiters.keys()],
    note(organizationId, sequence) {
      if (sequence <= latest(organizationId)) return
      heads.set(organizationId, sequence)
      for (const waiter of waiters.get(organizationId) ?? []) if (waiter.sequence < sequence) waiter.wake()
    },
    async after(organizationId, sequence, signal) {
      if (latest(organizationId) > sequence) return true
      if (signal.aborted || isClosed) return false
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { sequence, wake: () => resolve() }
      const waiting = waiters.get(organizationId) ?? new Set()
      waiters.set(organizationId, waiting.add(waiter))
      signal.addEventListener('abort', waiter.wake, { once: true })
      await promise
      signal.removeEventListener('abort', waiter.wake)
      waiting.delete(waiter)
      if (waiting.size === 0 && waiters.get(organizationId) === waiting) waiters.delete(organizationId)
      return latest(organizationId) > sequence
    },
    close() {
      isClosed = true
      for (const waiting of waiters.values()) for (const waiter of waiting) waiter.wake()
    },
  }
}
