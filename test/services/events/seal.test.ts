import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SEALED, SEALED_TRAIL, type SealedName } from '../../../src/db/events/sealedColumns.ts'
import type { SealedRow } from '../../../src/db/events/trailedChange.ts'
import {
  type ChangeToSeal,
  chainSecret,
  digestOf,
  markOf,
  partText,
  readMarks,
  rowsText,
  sealChange,
} from '../../../src/services/events/seal.ts'
import { runs } from '../../support/runs.ts'

const secret = chainSecret('a secret of the tests')
const START = new Uint8Array(0)
const TABLES = Object.keys(SEALED) as SealedName[]

/** Texts that are apt to be taken for the borders between texts. */
const text = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('', '"', '","', 'null', '[', ']', '\\', ',', '/'))
const value = fc.option(text, { nil: null })
const row: fc.Arbitrary<SealedRow> = fc.constantFrom(...TABLES).chain((table) =>
  fc.record({
    table: fc.constant(table),
    key: text,
    values: fc.array(value, { maxLength: SEALED[table].columns.length }),
  }),
)
const rows = fc.array(row, { maxLength: 3 })
const change: fc.Arbitrary<ChangeToSeal> = fc.record({
  organizationId: fc.nat(3),
  changeId: fc.bigInt(0n, 3n),
  trail: fc.array(value, { maxLength: SEALED_TRAIL.length }),
  subjects: rows,
  events: fc.array(fc.record({ type: text, sequence: fc.option(fc.bigInt(0n, 3n), { nil: null }) }), {
    minLength: 1,
    maxLength: 3,
  }),
})

const plain = (one: unknown): string => JSON.stringify(one, (_, at) => (typeof at === 'bigint' ? `${at}n` : at))

describe('the text of a seal', () => {
  it('is another for other rows', () => {
    fc.assert(
      fc.property(rows, rows, (one, other) => {
        expect(rowsText(one) === rowsText(other)).toBe(plain(one) === plain(other))
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('is another where a value moves between two columns', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const of = (...values: string[]) => rowsText([{ table: 'account', key: '1', values }])
        if (one !== '') expect(of(one, other)).not.toBe(of('', one + other))
        if (one !== other) expect(of(one, other)).not.toBe(of(other, one))
      }),
    )
  })

  it('is another for another part', () => {
    const part = fc.record({
      of: fc.record({
        organizationId: fc.nat(2),
        changeId: fc.bigInt(0n, 2n),
        trail: fc.option(fc.array(value, { maxLength: 2 }), { nil: null }),
      }),
      sealed: fc.record({
        part: fc.nat(1),
        sequence: fc.option(fc.bigInt(0n, 2n), { nil: null }),
        type: text,
        digest: fc.option(
          fc.uint8Array({ maxLength: 1 }).map((bytes) => Buffer.from(bytes)),
          { nil: null },
        ),
        marks: fc.uint8Array({ maxLength: 1 }).map((bytes) => Buffer.from(bytes)),
      }),
    })
    fc.assert(
      fc.property(part, part, (one, other) => {
        expect(partText(one.of, one.sealed) === partText(other.of, other.sealed)).toBe(plain(one) === plain(other))
      }),
      { numRuns: runs(2_000) },
    )
  })
})

describe('the seal of a change', () => {
  it('has a hash over everything that it is given, and over the hash before it', () => {
    fc.assert(
      fc.property(change, change, (one, other) => {
        const same = plain(one) === plain(other)
        const [first, second] = [sealChange(secret, START, one), sealChange(secret, START, other)]
        expect(first.hash.equals(second.hash)).toBe(same)
        expect(sealChange(secret, first.hash, other).hash.equals(second.hash)).toBe(false)
      }),
      { numRuns: runs(500) },
    )
  })

  it('has a part for each event: rows and trail with the first alone, each hashed after the one before', () => {
    const sealed = sealChange(secret, START, {
      organizationId: 1,
      changeId: 7n,
      trail: ['2026-01-31 06:30:00+00'],
      subjects: [{ table: 'loan_entry', key: '5', values: ['1', null] }],
      events: [
        { type: 'repayment.posted', sequence: 3n },
        { type: 'loan.closed', sequence: 4n },
      ],
    })
    const [first, second] = sealed.parts
    expect(first!.digest?.length).toBe(32)
    expect(readMarks(first!.marks)).toEqual({
      trail: [markOf('at', '2026-01-31 06:30:00+00')],
      rows: [{ name: markOf('loan_entry', '5'), values: [markOf('loan_id', '1'), markOf('ordinal', null)] }],
    })
    expect(second).toMatchObject({ part: 1, sequence: 4n, type: 'loan.closed', digest: null, marks: Buffer.alloc(0) })
    expect(sealed.hash).toBe(second!.hash)
  })

  it('has no digest where the change made no row true', () => {
    expect(digestOf([])).toBeNull()
  })

  it('stays what it is: a book is checked by later versions, too', () => {
    const { hash } = sealChange(secret, START, {
      organizationId: 1,
      changeId: 7n,
      trail: ['a', null],
      subjects: [{ table: 'loan_entry', key: '5', values: ['1', null] }],
      events: [{ type: 'repayment.posted', sequence: 3n }],
    })
    expect(hash.toString('hex')).toBe('7989556ea898e605cf7f17542797e5bba3a092b698e9ccb25ffbcc922f9d59d2')
  })
})

describe('marks', () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(change, (one) => {
        const { parts } = sealChange(secret, START, one)
        const read = readMarks(parts[0]!.marks)
        expect(read?.trail).toEqual(one.trail.map((at, index) => markOf(SEALED_TRAIL[index]!, at)))
        expect(read?.rows.map(({ values }) => values.length)).toEqual(one.subjects.map(({ values }) => values.length))
      }),
    )
  })

  it('that are cut off are no marks', () => {
    expect(readMarks(Buffer.from([2, 0, 0, 1]))).toBeUndefined()
    expect(readMarks(Buffer.alloc(0))).toBeUndefined()
  })
})

describe('the secret of a chain', () => {
  it('has an id that tells secrets apart', () => {
    expect(chainSecret('one').keyId).toMatch(/^[0-9a-f]{16}$/)
    expect(chainSecret('one').keyId).toBe(chainSecret('one').keyId)
    expect(chainSecret('one').keyId).not.toBe(chainSecret('two').keyId)
  })

  it('makes other hashes than another secret', () => {
    const change = { organizationId: 1, changeId: 1n, trail: [], subjects: [], events: [{ type: 'a', sequence: null }] }
    const [one, two] = ['one', 'two'].map((text) => sealChange(chainSecret(text), START, change).hash)
    expect(one!.equals(two!)).toBe(false)
  })
})
