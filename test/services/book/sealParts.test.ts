import { describe, expect, it } from 'vitest'
import type { StoredPart } from '../../../src/db/events/sealedChain.ts'
import { SEALED_TRAIL } from '../../../src/db/events/sealedColumns.ts'
import type { TrailedChange } from '../../../src/db/events/trailedChange.ts'
import { checkPart, startWalk } from '../../../src/services/book/sealParts.ts'
import { chainSecret, sealChange } from '../../../src/services/events/seal.ts'

const secret = chainSecret('a secret of the tests')

const change = (id: bigint, trail: readonly (string | null)[]): TrailedChange => ({
  ...{ id, entity: 'loan', entityId: '5', action: 'Repayment', loanChange: undefined },
  trail,
})

/** A row of the trail, with all columns that are known today. */
const trail = (id: bigint): (string | null)[] => SEALED_TRAIL.map((column) => `${column} ${id}`)

/** The chain of changes, sealed over the first columns of the trail. */
function chainOf(changes: readonly TrailedChange[], columns: number = SEALED_TRAIL.length): StoredPart[] {
  let [before, sequence] = [new Uint8Array(0) as Uint8Array, 0n]
  return changes.flatMap(({ id, trail: texts }) => {
    const events = ['repayment.posted', 'loan.closed'].map((type) => ({ type, sequence: ++sequence }))
    const sealed = sealChange(secret, before, {
      ...{ organizationId: 1, changeId: id, subjects: [], events },
      trail: texts.slice(0, columns),
    })
    before = sealed.hash
    return sealed.parts.map((part) => ({ changeId: id, ...part }))
  })
}

/** The faults of parts, checked one after the other. */
function faultsOf(parts: readonly StoredPart[], changes: readonly TrailedChange[]): string[] {
  const faults: string[] = []
  const walk = startWalk({
    sequence: 0n,
    organizationId: 1,
    secret,
    fault: (of, message) => faults.push(`${of}: ${message}`),
  })
  for (const part of parts)
    checkPart(
      walk,
      part,
      changes.find(({ id }) => id === part.changeId),
      [],
    )
  return faults
}

const changes = [1n, 2n, 3n].map((id) => change(id, trail(id)))

describe('a chain', () => {
  it('that nobody has touched has no fault', () => {
    expect(faultsOf(chainOf(changes), changes)).toEqual([])
  })

  it('that was sealed before the trail had its last columns is checked over those that it has', () => {
    const old = chainOf(changes, 8)
    expect(faultsOf(old, changes)).toEqual([])
    const later = changes.map((one) => change(one.id, one.trail.with(-1, 'true')))
    expect(faultsOf(old, later)).toEqual([])
    const changed = changes.with(1, change(2n, trail(2n).with(3, 'Recovery')))
    expect(faultsOf(old, changed)).toEqual(['audit_entry 2: action is not what was sealed'])
  })

  it('names a part once, and goes on after it', () => {
    const parts = chainOf(changes)
    const swap = (index: number, part: Partial<StoredPart>) => parts.with(index, { ...parts[index]!, ...part })
    expect(faultsOf(swap(2, { hash: Buffer.alloc(32) }), changes)).toEqual([
      'event 2/0: hash was changed after it was sealed',
    ])
    expect(faultsOf(swap(3, { sequence: 9n }), changes)).toEqual([
      'event 2/1: sequence was changed after it was sealed',
    ])
    expect(faultsOf(swap(3, { sequence: null }), changes)).toEqual([
      'event 2/1: sequence was changed after it was sealed',
    ])
    expect(faultsOf(swap(3, { digest: Buffer.alloc(32) }), changes)).toEqual([
      'event 2/1: digest was changed after it was sealed',
    ])
    expect(faultsOf(swap(3, { marks: Buffer.alloc(3) }), changes)).toEqual([
      'event 2/1: marks was changed after it was sealed',
    ])
    expect(faultsOf(swap(2, { type: 'loan.reopened' }), changes)).toEqual([
      'event 2/0: type was changed after it was sealed',
    ])
  })

  it('of which a part is changed twice is still found', () => {
    const parts = chainOf(changes)
    const twice = parts.with(2, { ...parts[2]!, type: 'loan.reopened', sequence: 9n })
    expect(faultsOf(twice, changes)[0]).toMatch(/^event 2\/0: /)
  })
})
