import { describe, expect, it } from 'vitest'
import { createGate, type GateBounds } from '../../src/toolbox/gate.ts'

const BOUNDS: GateBounds = {
  atOnce: 2,
  ofMember: 1,
  waiting: { all: 8, ofGroup: 4, ofMember: 2 },
  waitMs: 60_000,
  refusal: 'too many; try again',
  againSeconds: 3,
}

/** Takes places by the name of the group and the member; a place is freed by its order of taking. */
function play(bounds: Partial<GateBounds> = {}) {
  const places = createGate({ ...BOUNDS, ...bounds })
  const taken: string[] = []
  const refused: string[] = []
  const frees: (() => void)[] = []
  const take = (...names: string[]) => {
    for (const name of names) {
      const [group = '', member] = name.split(' ')
      places.take({ group, ...(member !== undefined && { member }) }).then(
        (free) => {
          taken.push(name)
          frees.push(free)
        },
        ({ code }: { code: string }) => refused.push(`${name} ${code}`),
      )
    }
  }
  const settled = () => new Promise(setImmediate)
  const free = async () => {
    frees.shift()!()
    await settled()
  }
  return { take, free, settled, taken, refused, frees }
}

describe('places', () => {
  it('a member has one, and two wait; the others are refused at once', async () => {
    const { take, settled, taken, refused } = play()
    take('a 1', 'a 1', 'a 1', 'a 1', 'a 2')
    await settled()
    expect([taken, refused]).toEqual([['a 1', 'a 2'], ['a 1 resource_exhausted']])
  })

  it('are taken by groups in rotation, and in a group by its members in rotation', async () => {
    const { take, free, settled, taken } = play({ atOnce: 1 })
    take('a 1', 'a 1', 'a 1', 'a 2', 'b 1', 'b 1', 'c 1')
    await settled()
    for (let turn = 0; turn < 6; turn++) await free()
    expect(taken).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'b 1', 'a 1', 'a 1'])
  })

  it('one that waits passes over those of a member that has its place', async () => {
    const { take, settled, taken, frees } = play()
    take('a 1', 'b 1', 'a 1', 'c 1')
    await settled()
    const ofB = frees[1]!
    ofB()
    await settled()
    expect(taken).toEqual(['a 1', 'b 1', 'c 1'])
  })

  it('refuse what waits beyond the bound of a group, and of all', async () => {
    const { take, settled, refused } = play({ atOnce: 1, waiting: { all: 5, ofGroup: 3, ofMember: 2 } })
    take('a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'b 1', 'c 1', 'd 1')
    await settled()
    expect(refused).toEqual(['a 5 resource_exhausted', 'd 1 resource_exhausted'])
  })

  it('refuse one that has waited too long, and forget it', async () => {
    const { take, free, settled, taken, refused } = play({ atOnce: 1, waitMs: 1, code: 'unavailable' })
    take('a 1', 'b 1')
    await expect.poll(() => refused).toEqual(['b 1 unavailable'])
    await free()
    take('c 1')
    await settled()
    expect(taken).toEqual(['a 1', 'c 1'])
  })

  it('a place is freed once, however often it is said', async () => {
    const { take, settled, taken, frees } = play({ atOnce: 1 })
    take('a 1', 'b 1', 'c 1')
    await settled()
    frees[0]!()
    frees[0]!()
    await settled()
    expect(taken).toEqual(['a 1', 'b 1'])
  })

  it('a place is free only after its rest', async () => {
    const { take, free, settled, taken } = play({ atOnce: 1, restMs: () => 30 })
    take('a 1', 'b 1')
    await settled()
    await free()
    expect(taken).toEqual(['a 1'])
    await expect.poll(() => taken).toEqual(['a 1', 'b 1'])
  })

  it('the rest counts what the caller of the work does before others have their turn', async () => {
    const took: number[] = []
    const restMs = (tookMs: number) => {
      took.push(tookMs)
      return 0
    }
    const places = createGate({ ...BOUNDS, atOnce: 1, restMs })
    await places.run({ group: 1 }, async () => undefined)
    for (const began = performance.now(); performance.now() - began < 30; );
    await places.run({ group: 1 }, async () => undefined)
    expect(took[0]).toBeGreaterThanOrEqual(30)
  })

  it('work that fails frees its place', async () => {
    const places = createGate({ ...BOUNDS, atOnce: 1 })
    await expect(places.run({ group: 1 }, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
    expect(await places.run({ group: 2 }, async () => 'next')).toBe('next')
  })
})

describe('a gate where none waits', () => {
  const bounds: GateBounds = {
    atOnce: 3,
    ofGroup: 2,
    ofMember: 1,
    refusal: (full) => `no place: ${full}`,
    againSeconds: 5,
  }

  it('lets a holder enter, refuses the others at once, and says what is full, the narrowest first', () => {
    const gate = createGate(bounds)
    const leave = gate.enter({ group: 1, member: 1 })
    expect(() => gate.enter({ group: 1, member: 1 })).toThrow('no place: member')
    gate.enter({ group: 1, member: 2 })
    expect(() => gate.enter({ group: 1, member: 3 })).toThrow('no place: group')
    gate.enter({ group: 2, member: 1 })
    expect(() => gate.enter({ group: 3, member: 1 })).toThrow('no place: all')
    expect(gate.tryEnter({ group: 3, member: 1 })).toBeUndefined()
    leave()
    leave()
    expect(gate.tryEnter({ group: 3, member: 1 })).toBeTypeOf('function')
    expect(gate.tryEnter({ group: 4, member: 1 })).toBeUndefined()
  })

  it('refuses to wait', async () => {
    const gate = createGate(bounds)
    await gate.take({ group: 1, member: 1 })
    await expect(gate.take({ group: 1, member: 1 })).rejects.toMatchObject({ code: 'resource_exhausted' })
  })
})
