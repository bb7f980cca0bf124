import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTurns } from '../../../src/api/limits/turns.ts'

let at = 0
beforeEach(() => {
  at = 0
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Takes turns, and keeps which have begun, in order. */
function play() {
  const turns = createTurns(() => at)
  const begun: string[] = []
  const givenUp: string[] = []
  const take = (organizationId: number, accountId: number, name: string) =>
    turns.take(
      { organizationId, accountId },
      () => begun.push(name),
      () => givenUp.push(name),
    )
  const many = (count: number, organizationId: number, accountId: number) =>
    Array.from({ length: count }, (_, index) => take(organizationId, accountId, `${accountId}.${index}`))
  return { take, many, begun, givenUp }
}

describe('turns at computing', () => {
  it('an organization that calls alone computes as much as it likes', () => {
    const { many, begun } = play()
    many(300, 1, 1)
    expect(begun).toHaveLength(300)
  })

  it('another that comes is served at once; from then on both get the same, and the rest of the first waits', () => {
    const { many, take, begun } = play()
    const first = many(100, 1, 1)
    take(2, 2, 'other')
    expect(begun.at(-1)).toBe('other')
    const late = many(10, 1, 1)
    expect(begun).toHaveLength(101)
    // 24 each: none of the first's begins before all but 23 of those have ended.
    for (const end of first.slice(0, 76)) end()
    expect(begun).toHaveLength(101)
    first[76]!()
    expect(begun.at(-1)).toBe('1.0')
    expect(begun).toHaveLength(102)
    for (const end of first.slice(77)) end()
    expect(begun).toHaveLength(111)
    expect(late).toHaveLength(10)
  })

  it('of an organization the accounts that wait take turns', () => {
    const { many, take, begun } = play()
    const first = many(24, 1, 1)
    take(2, 9, 'other')
    many(3, 1, 1)
    many(3, 1, 3)
    begun.length = 0
    for (const end of first) end()
    expect(begun).toEqual(['1.0', '3.0', '1.1', '3.1', '1.2', '3.2'])
  })

  it('alone again for half a second, what waits is begun as soon as one ends', () => {
    const { many, take, begun } = play()
    const first = many(24, 1, 1)
    take(2, 9, 'other')()
    many(100, 1, 1)
    expect(begun).toHaveLength(25)
    at = 1_100
    first[0]!()
    expect(begun).toHaveLength(125)
  })

  it('one that leaves while it waits is passed over, and one that waits for 10 s is given up', () => {
    const { many, take, begun, givenUp } = play()
    const first = many(24, 1, 1)
    take(2, 9, 'other')
    const leave = take(1, 1, 'left')
    take(1, 1, 'late')
    leave()
    leave()
    vi.advanceTimersByTime(10_001)
    expect(givenUp).toEqual(['late'])
    take(1, 1, 'next')
    for (const end of first) end()
    expect(begun.at(-1)).toBe('next')
    expect(begun).not.toContain('left')
  })
})
