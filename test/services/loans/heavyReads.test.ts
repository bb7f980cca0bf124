import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createHeavyReads, HEAVY } from '../../../src/services/loans/heavyReads.ts'
import { within } from '../../support/patience.ts'

/** Reads that end when the test ends them. */
function play(waitMs = within(60_000)) {
  const reads = createHeavyReads({ waitMs })
  const running: { name: string; end: () => void }[] = []
  const refused: string[] = []
  const read = (organizationId: number, name: string, weight = HEAVY) =>
    reads
      .run(organizationId, weight, () => new Promise<void>((resolve) => running.push({ name, end: resolve })))
      .catch((error: { code: string }) => refused.push(`${name} ${error.code}`))
  const names = () => running.map(({ name }) => name)
  const endFirst = async () => {
    running.shift()!.end()
    await pause(1)
  }
  return { reads, read, refused, names, endFirst }
}

describe('heavy reads', () => {
  it('run one at a time, the organizations in turn; each is followed by a rest', async () => {
    const { read, names, endFirst } = play()
    for (const name of ['a', 'b', 'c']) void read(1, name)
    void read(2, 'd')
    // The rest is twice as long: it is not over at the next look.
    await pause(within(100))
    expect(names()).toEqual(['a'])
    await endFirst()
    expect(names()).toEqual([])
    for (const name of ['d', 'b', 'c']) {
      await expect.poll(names).toEqual([name])
      await endFirst()
    }
  })

  it('resource_exhausted at once for more than four of an organization that wait, and for one that has waited too long', async () => {
    const { read, refused } = play(within(200))
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) void read(1, name)
    await pause(0)
    expect(refused).toEqual(['f resource_exhausted'])
    await expect.poll(() => refused).toHaveLength(5)
  })

  it('one that fails gives its turn to the next', async () => {
    const { reads, read, names } = play()
    const failing = reads.run(1, HEAVY, async () => Promise.reject(new Error('gone')))
    void read(1, 'next')
    await expect(failing).rejects.toThrow('gone')
    await expect.poll(names).toEqual(['next'])
  })

  it('what is not heavy never waits', () => {
    const { read, names } = play()
    for (let index = 0; index < 50; index++) void read(1, 'light', HEAVY - 1)
    expect(names()).toHaveLength(50)
  })
})
