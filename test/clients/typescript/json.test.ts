import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson, writeJson } from '../../../clients/typescript/src/json.ts'
import type { Shape } from '../../../clients/typescript/src/operation.ts'
import { runs } from '../../support/runs.ts'

/** A shape that says nothing of what is read: the reader of the client reads all the same. */
const NOTHING: Shape = {}
const GREATEST = 2n ** 63n - 1n
/** Also halves of surrogate pairs and control characters. */
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) })

const outcomeOf = (read: () => unknown) => {
  try {
    return { value: read() }
  } catch (error) {
    return { error: (error as Error).name }
  }
}

describe('reading', () => {
  it('makes a bigint of what the shape says, also of small numbers, and of nothing else', () => {
    const shape: Shape = { id: 1, items: { id: 1, inner: { total: 1 } }, ids: 1 }
    const text = `{"id": ${GREATEST}, "amount": 5, "ids": [1, ${GREATEST}], "total": 7,
      "items": [{"id": 2, "inner": {"total": -${GREATEST}, "id": 3}}, {"id": null}, {"id": "4"}]}`
    expect(parseJson(text, shape)).toEqual({
      id: GREATEST,
      amount: 5,
      ids: [1n, GREATEST],
      total: 7,
      items: [{ id: 2n, inner: { total: -GREATEST, id: 3 } }, { id: null }, { id: '4' }],
    })
    expect(parseJson('9223372036854775807', 1)).toBe(GREATEST)
    expect(parseJson('1.5', 1)).toBe(1.5)
  })

  it('gives what JSON.parse gives, of any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n\t\r '), (text, space) => {
        const spaced = space + text.replaceAll(',"', `,${space}"`) + space
        for (const one of [text, space + text + space, spaced])
          expect(outcomeOf(() => parseJson(one, NOTHING))).toEqual(outcomeOf(() => JSON.parse(one)))
      }),
      { numRuns: runs(200) },
    )
  })

  it('gives what JSON.parse gives, of strings with any signs', () => {
    fc.assert(
      fc.property(fc.array(anyText), (texts) => {
        const text = JSON.stringify({ texts, [texts[0] ?? '']: 1 })
        expect(parseJson(text, NOTHING)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('refuses what JSON.parse refuses, of any text', () => {
    const near = fc.string({ unit: fc.constantFrom(...'{}[],:" \\truefalsn0123456789.eE+-u\u0000\u00a0\n'.split('')) })
    fc.assert(
      fc.property(fc.oneof(near, fc.string()), (text) => {
        expect(outcomeOf(() => parseJson(text, NOTHING))).toEqual(outcomeOf(() => JSON.parse(text)))
      }),
      { numRuns: runs(2_000) },
    )
    for (const text of ['', '{', '[1,]', '{"a":1,}', '{,}', '[,1]', '01', '1 2', '"\n"', '{"a" 1}', '{1:2}', ',', '}'])
      expect([text, outcomeOf(() => parseJson(text, NOTHING))]).toEqual([text, { error: 'SyntaxError' }])
  })

  it('makes a member of a name that objects have already', () => {
    const read = parseJson('{"__proto__": {"id": 1}, "toString": 2, "id": 3}', { id: 1 }) as object
    expect(Object.keys(read)).toEqual(['__proto__', 'toString', 'id'])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    // A shape has no members but its own.
    expect(parseJson('{"constructor": 5}', NOTHING)).toEqual({ constructor: 5 })
  })

  it('takes a text of a megabyte', () => {
    const long = 'x'.repeat(1_000_000)
    expect(parseJson(`{"a": "${long}", "b": 1}`, { b: 1 })).toEqual({ a: long, b: 1n })
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id }))
    expect((parseJson(JSON.stringify(many), { id: 1 }) as unknown[]).length).toBe(20_000)
  })
})

describe('writing', () => {
  it('writes a bigint in its digits, and all else as JSON.stringify does', () => {
    expect(writeJson({ id: GREATEST, ids: [1n, -2n], amount: 0.1 })).toBe(
      '{"id":9223372036854775807,"ids":[1,-2],"amount":0.1}',
    )
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(writeJson(value)).toBe(JSON.stringify(value))
      }),
    )
    const odd = {
      a: undefined,
      b: [undefined, () => 1],
      c: new Date(0),
      d: Symbol('x'),
      e: { toJSON: () => ({ f: 1 }) },
    }
    expect(writeJson(odd)).toBe(JSON.stringify(odd))
    expect(writeJson(undefined)).toBe('null')
  })

  it.each([
    [{ amount: Number.NaN }, 'amount must not be NaN'],
    [{ items: [{ price: 1 / 0 }] }, 'price must not be Infinity'],
    [[1, -1 / 0], 'the body[1] must not be -Infinity'],
  ])('refuses %j, which JSON.stringify writes as null', (value, message) => {
    expect(() => writeJson(value)).toThrow(new TypeError(message))
  })

  it('is read again as it was, at the places of the shape', () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: GREATEST })
    fc.assert(
      fc.property(int64, fc.array(int64), fc.double({ noNaN: true, noDefaultInfinity: true }), (id, ids, amount) => {
        const value = { id, items: ids.map((one) => ({ id: one, amount })) }
        const read = parseJson(writeJson(value), { id: 1, items: { id: 1 } }) as typeof value
        expect(read.id).toBe(id)
        expect(read.items.map((one) => one.id)).toEqual(ids)
        for (const one of read.items) expect(one.amount === amount).toBe(true)
      }),
    )
  })

  it('loses no digit of the amounts that the service takes', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 99_999_999_999_999n }), (minor) => {
        const text = `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`
        const [whole, cents = ''] = writeJson(parseJson(text, NOTHING)).split('.')
        expect(`${whole}.${cents.padEnd(2, '0')}`).toBe(text)
      }),
    )
  })
})
