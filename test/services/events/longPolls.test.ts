import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Caller } from '../../../src/services/access/caller.ts'
import { createLongPolls } from '../../../src/services/events/longPolls.ts'

const caller = (organizationId: number, accountId: number) => ({ organizationId, accountId }) as Caller

/** Takes places until one is refused. @returns how many were taken, and the refusal */
async function fill(polls: ReturnType<typeof createLongPolls>, callers: readonly Caller[]) {
  const held = Promise.withResolvers<void>()
  const runs: Promise<void>[] = []
  for (const one of callers) {
    const run = polls.run(one, () => held.promise)
    const refused = await Promise.race([run.catch((error: Error) => error.message), turn()])
    if (refused !== undefined) return { taken: runs.length, refused, end: () => end(held, runs) }
    runs.push(run)
  }
  return { taken: runs.length, refused: undefined, end: () => end(held, runs) }
}

async function end(held: PromiseWithResolvers<void>, runs: readonly Promise<void>[]): Promise<void> {
  held.resolve()
  await Promise.all(runs)
}

it.each([
  [
    '20 of an account',
    1_000,
    (index: number) => caller(1, index < 21 ? 1 : 2),
    20,
    /^too many requests of this account/,
  ],
  ['50 of an organization', 1_000, (index: number) => caller(1, index), 50, /^too many requests of this organization/],
  ['200 in a process', 1_000, (index: number) => caller(index, 1), 200, /^too many requests wait for an event/],
  [
    'a quarter of what the process serves at once',
    100,
    (index: number) => caller(index, 1),
    25,
    /^too many requests wait/,
  ],
])('%s wait at once, and their places are given back', async (_what, maxInFlight, callerAt, most, refusal) => {
  const polls = createLongPolls({ maxInFlight })
  const callers = Array.from({ length: 300 }, (_, index) => callerAt(index))
  for (let again = 0; again < 2; again++) {
    const { taken, refused, end: giveBack } = await fill(polls, callers)
    expect([taken, refused]).toEqual([most, expect.stringMatching(refusal)])
    await giveBack()
  }
})
