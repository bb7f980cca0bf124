import type { Db } from '../../db/postgres/client.ts'
import { listTestClocks, type TestClock, testClockReader } from '../../db/testClock/testClocks.ts'
import type { Instant } from '../../domain/dates.ts'

export type { TestClock } from '../../db/testClock/testClocks.ts'

/** The clocks of the test organizations, as this process read them last. Another process may move one at any time. */
export interface TestClocks {
  /** Returns the moment of the business of an organization: that of this machine, but where a test clock stands. */
  now(organizationId: number): Instant
  /** Returns the moment of the business of every live organization. */
  liveNow(): Instant
  /** Returns the clock of a test organization, as it was read last; undefined for a live one. */
  find(organizationId: number): TestClock | undefined
  /** Returns the numbers of the test organizations. */
  organizations(): number[]
  /** Takes in that this process has set a clock. */
  note(clock: TestClock): void
  /** Reads the clock of one organization again. */
  refresh(organizationId: number): Promise<void>
  /** Reads all clocks again: a background job does so before each round. */
  refreshAll(): Promise<void>
}

/** Reads the clocks of all test organizations. @param liveNow the clock of the others */
export async function openTestClocks(db: Db, liveNow: () => number): Promise<TestClocks> {
  const read = testClockReader(db)
  let known = new Map<number, TestClock>()
  const clocks: TestClocks = {
    now: (organizationId) => known.get(organizationId)?.standsAt ?? liveNow(),
    liveNow,
    find: (organizationId) => known.get(organizationId),
    organizations: () => [...known.keys()],
    note: (clock) => known.set(clock.organizationId, clock),
    async refresh(organizationId) {
      const clock = await read(organizationId)
      if (clock) known.set(organizationId, clock)
    },
    async refreshAll() {
      known = new Map((await listTestClocks(db)).map((clock) => [clock.organizationId, clock]))
    },
  }
  await clocks.refreshAll()
  return clocks
}
