import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createBatcher } from '../../../src/db/queries/batcher.ts'
import { runs } from '../../support/runs.ts'

/** A batcher whose batches end when the test says so. */
function held(most = 3, inFlight = 1, late: { mostLate?: number; lateMs?: number } = {}) {
  const batches: { items: readonly number[]; end: (fail?: Error) => void }[] = []
  const send = createBatcher<number, number>({
    most,
    inFlight,
    ...late,
    run: (items) =>
      new Promise((resolve, reject) => {
        const end = (fail?: Error) =>
          fail
            ? reject(fail)
            : resolve(items.map((item) => (item < 0 ? { error: `no ${item}` } : { result: item * 10 })))
        batches.push({ items, end })
      }),
  })
  return { batches, send }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

describe('items that arrive createBatcher travel together', () => {
  it('one alone goes at once; those that come while it is under way wait for each other', async () => {
    const { batches, send } = held()
    const first = send(1)
    await turn()
    expect(batches.map(({ items }) => items)).toEqual([[1]])
    const rest = [2, 3, 4, 5].map(send)
    await turn()
    expect(batches).toHaveLength(1)
    batches[0]!.end()
    expect(await first).toBe(10)
    await turn()
    expect(batches[1]!.items).toEqual([2, 3, 4])
    batches[1]!.end()
    await turn()
    expect(batches[2]!.items).toEqual([5])
    batches[2]!.end()
    expect(await Promise.all(rest)).toEqual([20, 30, 40, 50])
  })

  it('each stands or falls alone; a batch that breaks fails those in it and no others', async () => {
    const { batches, send } = held()
    const items = Promise.allSettled([1, -2, 3, 4].map(send))
    await turn()
    batches[0]!.end()
    await turn()
    batches[1]!.end(new Error('the connection is gone'))
    const settled = await items
    expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual([
      10,
      'no -2',
      30,
      'Error: the connection is gone',
    ])
    const later = send(5)
    await turn()
    batches[2]!.end()
    expect(await later).toBe(50)
  })

  it('every item is answered once, in the order in which it came, whatever the sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(), { maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 3 }),
        async (items, most, inFlight) => {
          const seen: number[] = []
          let underWay = 0
          const send = createBatcher<number, number>({
            most,
            inFlight,
            run: async (batch) => {
              underWay++
              expect(underWay).toBeLessThanOrEqual(inFlight)
              expect(batch.length).toBeLessThanOrEqual(most)
              seen.push(...batch)
              await turn()
              underWay--
              return batch.map((result) => ({ result }))
            },
          })
          expect(await Promise.all(items.map(send))).toEqual(items)
          expect(seen).toEqual(items)
        },
      ),
      { numRuns: runs(50) },
    )
  })
})

describe('a batch whose answer is late', () => {
  it('holds up its own items only: the next begins without it, up to a number of late ones', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { batches, send } = held(1, 1, { mostLate: 2, lateMs: 300 })
      const sent = [1, 2, 3, 4].map(send)
      for (const begun of [1, 2, 3, 3]) {
        await turn()
        expect(batches).toHaveLength(begun)
        vi.advanceTimersByTime(299)
        await turn()
        expect(batches).toHaveLength(begun)
        vi.advanceTimersByTime(1)
      }
      batches[1]!.end()
      await turn()
      expect(batches.map(({ items }) => items)).toEqual([[1], [2], [3], [4]])
      for (const { end } of batches) end()
      expect(await Promise.all(sent)).toEqual([10, 20, 30, 40])
      // Late no more, they do not count for the next.
      const next = [5, 6].map(send)
      await turn()
      expect(batches).toHaveLength(5)
      batches[4]!.end()
      await turn()
      batches[5]!.end()
      expect(await Promise.all(next)).toEqual([50, 60])
    } finally {
      vi.useRealTimers()
    }
  })
})
