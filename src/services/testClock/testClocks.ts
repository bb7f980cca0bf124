import type { Db } from '../../db/postgres/client.ts'
import { aloneFor } from '../../db/postgres/transaction.ts'
import { listTestClocks, type TestClock, testClockReader } from '../../db/testClock/testClocks.ts'
import type { Instant } from '../../domain/dates.ts'
import { createTurns } from '../../toolbox/turns.ts'
import type { Base } from '../base.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { getOrganization, type Mode, type Organization } from '../organizations/organizations.ts'

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
  const known = new Map<number, TestClock>()
  const turns = createTurns<number>()
  const keep = (clock: TestClock, turn: number): void => {
    if (turns.keeps(clock.organizationId, turn)) known.set(clock.organizationId, clock)
  }
  const clocks: TestClocks = {
    now: (organizationId) => known.get(organizationId)?.standsAt ?? liveNow(),
    liveNow,
    find: (organizationId) => known.get(organizationId),
    organizations: () => [...known.keys()],
    note: (clock) => keep(clock, turns.begin()),
    async refresh(organizationId) {
      const turn = turns.begin()
      const clock = await read(organizationId)
      if (clock) keep(clock, turn)
    },
    async refreshAll() {
      const turn = turns.begin()
      const found = await listTestClocks(db)
      for (const clock of found) keep(clock, turn)
      const there = new Set(found.map(({ organizationId }) => organizationId))
      for (const organizationId of known.keys())
        if (!there.has(organizationId) && turns.keeps(organizationId, turn)) known.delete(organizationId)
    },
  }
  await clocks.refreshAll()
  return clocks
}

/**
 * Returns the mode of the organization of a request. Reads the clock of a test organization, because another instance may
 * have moved it: the request is of the moment at which the clock stands now.
 */
export async function enterOrganization(
  deps: { readonly organizations: Organizations; readonly testClocks: TestClocks },
  organizationId: Organization['id'],
): Promise<Mode> {
  const { mode } = await getOrganization(deps, { organizationId })
  if (mode === 'test') await deps.testClocks.refresh(organizationId)
  return mode
}

/**
 * Does work by the clock of a test organization while nobody moves that clock, on any instance.
 * @returns undefined where the clock is being moved, or another instance does such work
 */
export const whileItStands = <T extends NonNullable<unknown>>(
  { db, testClocks }: Pick<Base, 'db'> & { readonly testClocks: TestClocks },
  organizationId: number,
  work: () => Promise<T>,
): Promise<T | undefined> =>
  aloneFor(db, { name: 'test clock', organizationId }, async () => {
    await testClocks.refresh(organizationId)
    return work()
  })
