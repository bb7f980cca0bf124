import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  advance,
  type Cursor,
  decodeCursor,
  encodeCursor,
  LONGEST_CURSOR,
  MOST_GIVEN,
  startOf,
} from '../../../src/db/queries/cursor.ts'
import { createSettledPlaces } from '../../../src/db/queries/lists.ts'
import { runs } from '../../support/runs.ts'

/** A book of rows in one table: transactions begin, draw places and end in any order. */
class Book {
  #nextId = 10n
  #nextPlace = 1n
  #lastEnded = 9n
  readonly #open = new Map<bigint, bigint[]>()
  readonly committed: bigint[] = []

  begin(): void {
    this.#open.set(this.#nextId++, [])
  }

  draw(which: number): void {
    this.#pick(which)?.[1].push(this.#nextPlace++)
  }

  end(which: number, commits: boolean): void {
    const one = this.#pick(which)
    if (!one) return
    this.#open.delete(one[0])
    if (one[0] > this.#lastEnded) this.#lastEnded = one[0]
    if (commits) this.committed.push(...one[1])
  }

  endAll(): void {
    while (this.#open.size > 0) this.end(0, true)
  }

  snapshot() {
    // As Postgres has it: the snapshot ends after the last transaction that has ended, and those above it are not in it.
    const xmax = this.#lastEnded + 1n
    const endedBelow = [...this.#open.keys()].reduce((least, id) => (id < least ? id : least), xmax)
    const places = this.committed.toSorted((a, b) => (a < b ? -1 : 1))
    return { moment: { endedBelow, nextId: this.#nextId }, places }
  }

  #pick(which: number): [bigint, bigint[]] | undefined {
    const all = [...this.#open]
    return all.length === 0 ? undefined : all[which % all.length]
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('begin' as const), which: fc.nat(9) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('draw' as const), which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('commit' as const, 'abort' as const), which: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'readLate' as const), which: fc.nat(3) }) },
)

describe('a walk by cursor', () => {
  it('gives each committed row exactly once, in whatever order transactions begin, draw places and end', () => {
    const property = fc.property(
      fc.array(step, { maxLength: 80, size: 'max' }),
      fc.integer({ min: 1, max: 4 }),
      (steps, rows) => {
        const book = new Book()
        const settled = createSettledPlaces()
        const walkers = [0, 1, 2].map(() => ({ cursor: startOf('rows'), given: [] as bigint[] }))
        let late: ReturnType<Book['snapshot']> | undefined
        const read = (walker: (typeof walkers)[number], { moment, places }: ReturnType<Book['snapshot']>): boolean => {
          const { cursor } = walker
          const unseen = places.filter((place) => place > cursor.floor && !cursor.given.includes(place)).slice(0, rows)
          const bound = settled.note('rows', moment, places.at(-1) ?? 0n)
          walker.cursor = advance(
            cursor,
            { places: unseen, readTo: unseen.length === rows ? unseen.at(-1) : undefined },
            moment,
            bound,
          )
          // What a client sends back is the text.
          expect(decodeCursor(encodeCursor(walker.cursor), 'rows')).toEqual(walker.cursor)
          walker.given.push(...unseen)
          return unseen.length > 0
        }
        for (const { do: what, which } of steps) {
          if (what === 'begin') book.begin()
          else if (what === 'draw') book.draw(which)
          else if (what === 'commit' || what === 'abort') book.end(which, what === 'commit')
          else if (what === 'read') read(walkers[which % 2]!, book.snapshot())
          else {
            // Of a walker of its own: a statement that answers after others whose snapshots are later than its own.
            if (late) read(walkers[2]!, late)
            late = book.snapshot()
          }
        }
        book.endAll()
        const expected = book.committed.toSorted((a, b) => (a < b ? -1 : 1))
        for (const walker of walkers) {
          while (read(walker, book.snapshot()));
          expect(walker.given.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(expected)
          expect(walker.cursor.given).toEqual([])
        }
      },
    )
    fc.assert(property, { numRuns: runs(1_000) })
  })

  it('goes on in a book that was restored into another cluster, where the numbers of transactions start again', () => {
    const before: Cursor = { order: 'rows', floor: 4n, given: [6n], pending: { last: 6n, before: 900n } }
    const after = advance(before, { places: [7n] }, { endedBelow: 12n, nextId: 12n }, 0n)
    expect(after.floor).toBe(6n)
    expect(after.given).toEqual([7n])
  })
})

describe('a cursor as a text', () => {
  const place = fc.bigInt({ min: 1n, max: 2n ** 62n })
  const cursors = fc
    .tuple(place, fc.uniqueArray(place, { maxLength: 20 }), place)
    .map(([floor, places, before]): Cursor => {
      const given = places.filter((one) => one > floor).toSorted((a, b) => (a < b ? -1 : 1))
      const last = given.at(-1)
      return { order: 'loans', floor, given, pending: last === undefined ? null : { last, before } }
    })

  it('is read as it was written', () => {
    const property = fc.property(cursors, (cursor) => {
      expect(decodeCursor(encodeCursor(cursor), 'loans')).toEqual(cursor)
    })
    fc.assert(property)
  })

  it('is no cursor of another order, and a text that is none is refused', () => {
    expect(decodeCursor(encodeCursor(startOf('loans', 7n)), 'customers')).toBeUndefined()
    const texts = ['', 'x', '2', 'null', 'bG9hbnM', 'bG9hbnMu', Buffer.from('loans.1.2').toString('base64url')]
    for (const numbers of [
      '-1',
      '1.1.1',
      '1.1.1.0',
      `1.1.1${'.1'.repeat(MOST_GIVEN + 1)}`,
      'zzzzzzzzzzzzz',
      '1.1.1.zzzzzzzzzzzzz',
    ])
      texts.push(Buffer.from(`loans.${numbers}`).toString('base64url'))
    texts.push('A'.repeat(LONGEST_CURSOR + 1))
    expect(texts.filter((text) => decodeCursor(text, 'loans') !== undefined)).toEqual([])
  })

  it('is never longer than a client may send', () => {
    const given = Array.from({ length: MOST_GIVEN }, (_, index) => 2n ** 40n * BigInt(index + 2))
    const cursor = {
      order: 'changed-customers',
      floor: 2n ** 40n,
      given,
      pending: { last: given.at(-1)!, before: 2n ** 62n },
    }
    expect(encodeCursor(cursor).length).toBeLessThanOrEqual(LONGEST_CURSOR)
  })
})
