import type { Deps } from '../../app/deps.ts'
import { aloneFor } from '../../db/postgres/alone.ts'

/**
 * Does work by the clock of a test organization while nobody moves that clock, on any instance.
 * @returns undefined where the clock is being moved, or another instance does such work
 */
export const whileItStands = <T extends NonNullable<unknown>>(
  { db, testClocks }: Pick<Deps, 'db' | 'testClocks'>,
  organizationId: number,
  work: () => Promise<T>,
): Promise<T | undefined> =>
  aloneFor(db, { name: 'test clock', organizationId }, async () => {
    await testClocks.refresh(organizationId)
    return work()
  })
