import { expect, it } from 'vitest'
import { createLru } from '../../src/toolbox/lru.ts'

it('keeps so many keys, and drops the one that was used least recently', () => {
  const kept = createLru<string, number>(2)
  kept.set('a', 1).set('b', 2)
  expect(kept.get('a')).toBe(1)
  kept.set('c', 3)
  expect(['a', 'b', 'c'].map((key) => kept.get(key))).toEqual([1, undefined, 3])
})

it('takes next to no memory for keys that have not come', () => {
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
  const many = Array.from({ length: 100 }, () => createLru<string, number>(100_000))
  const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
  expect(many).toHaveLength(100)
  // With the memory of all keys each would take 2.7 MB.
  expect(after - before).toBeLessThan(50_000_000)
})
