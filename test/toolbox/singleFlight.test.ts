import { describe, expect, it } from 'vitest'
import { createSingleFlight } from '../../src/toolbox/singleFlight.ts'

/** A single flight whose work ends when it is told to; `begun` has the keys of the work that began. */
function play() {
  const share = createSingleFlight<string, number>()
  const begun: string[] = []
  const ends: PromiseWithResolvers<number>[] = []
  const leaves: (() => void)[] = []
  const ask = (key: string) =>
    share(key, (leave) => {
      begun.push(key)
      const end = Promise.withResolvers<number>()
      ends.push(end)
      leaves.push(leave)
      return end.promise
    })
  return { ask, begun, ends, leaves }
}

describe('a single flight', () => {
  it('does the work once for the calls of one key that arrive while it is under way', async () => {
    const { ask, begun, ends } = play()
    const [one, same, other] = [ask('a'), ask('a'), ask('b')]
    expect(begun).toEqual(['a', 'b'])
    ends[0]!.resolve(1)
    ends[1]!.resolve(2)
    expect(await Promise.all([one, same, other])).toEqual([1, 1, 2])
  })

  it('begins other work for a call after the end, and after a failure, which all that shared it get', async () => {
    const { ask, begun, ends } = play()
    const [one, same] = [ask('a'), ask('a')]
    ends[0]!.reject(new Error('lost'))
    await expect(one).rejects.toThrow('lost')
    await expect(same).rejects.toThrow('lost')
    const later = ask('a')
    ends[1]!.resolve(2)
    expect(await later).toBe(2)
    expect(begun).toEqual(['a', 'a'])
  })

  it('begins other work once the work has left, and the end of the first does not end the sharing of the second', async () => {
    const { ask, begun, ends, leaves } = play()
    const first = ask('a')
    leaves[0]!()
    const second = ask('a')
    ends[0]!.resolve(1)
    expect(await first).toBe(1)
    const joined = ask('a')
    expect(begun).toEqual(['a', 'a'])
    ends[1]!.resolve(2)
    expect(await Promise.all([second, joined])).toEqual([2, 2])
  })

  it('leaves at once where the work says so before it returns', async () => {
    const share = createSingleFlight<string, number>()
    const once = (value: number) =>
      share('a', async (leave) => {
        leave()
        return value
      })
    expect(await Promise.all([once(1), once(2)])).toEqual([1, 2])
  })
})
