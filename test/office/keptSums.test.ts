import { expect, it, vi } from 'vitest'
import type { Desk } from '../../src/office/desk.ts'
import { createKeptSums } from '../../src/office/keptSums.ts'

// The sums of the pages about arrears and growth (contract 19.1): those that took long to make are served again, for some minutes.

const SECOND = 1_000

/** Creates kept sums that are numbered as they are made, and take so many milliseconds. */
function numbered() {
  let [passed, n] = [0, 0]
  vi.spyOn(performance, 'now').mockImplementation(() => passed)
  const sums = createKeptSums(async () => {
    passed += state.tookMs
    if (state.fails) throw new Error('no database')
    return { n: ++n }
  })
  const state = {
    tookMs: 300,
    at: 0,
    fails: false,
    of: (organizationId = 1) =>
      sums({ deps: { machineNow: () => state.at }, caller: { organizationId } } as unknown as Desk),
  }
  return state
}

it('sums that took less than 0.3 s are made again for each look', async () => {
  const sums = numbered()
  sums.tookMs = 299
  expect([await sums.of(), await sums.of()]).toEqual([{ n: 1 }, { n: 2 }])
})

it('sums that took longer are served for a minute, and for nine more while they are made again', async () => {
  const sums = numbered()
  expect(await sums.of()).toEqual({ n: 1 })
  sums.at = 59 * SECOND
  expect(await sums.of()).toEqual({ n: 1 })
  sums.at = 60 * SECOND
  expect(await sums.of()).toEqual({ n: 1 })
  await expect.poll(() => sums.of()).toEqual({ n: 2 })
  sums.at += 600 * SECOND
  expect(await sums.of()).toEqual({ n: 3 })
})

it('sums that cannot be made again leave those of before, until these are ten minutes old', async () => {
  const sums = numbered()
  await sums.of()
  Object.assign(sums, { fails: true, at: 599 * SECOND })
  expect(await sums.of()).toEqual({ n: 1 })
  sums.at = 600 * SECOND
  await expect(sums.of()).rejects.toThrow('no database')
})

it('sums of a clock that was ahead are made again', async () => {
  const sums = numbered()
  sums.at = 60 * SECOND
  await sums.of()
  sums.at = 0
  expect(await sums.of()).toEqual({ n: 2 })
})

it('each organization has sums of its own, and all who look at once share one making', async () => {
  const sums = numbered()
  expect(await Promise.all([sums.of(1), sums.of(1), sums.of(2)])).toEqual([{ n: 1 }, { n: 1 }, { n: 2 }])
})
