import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toJson } from '../../../src/db/audit/trail.ts'

/** Amounts within and beyond what a double holds exactly, in lists and objects of any depth. */
const told = fc.letrec<{ value: unknown; object: object }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.bigInt(),
    fc.integer(),
    fc.string(),
    fc.boolean(),
    fc.constantFrom(null, undefined, new Date(0)),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON')), tie('value'), { maxKeys: 4 }),
})).object

it('a trace is JSON, its bigints numbers to the last digit, whatever is in it', () => {
  const digitByDigit = (_: string, one: unknown) => (typeof one === 'bigint' ? JSON.rawJSON(one.toString()) : one)
  fc.assert(
    fc.property(told, (trace) => toJson(trace) === JSON.stringify(trace, digitByDigit)),
    { numRuns: 2_000 },
  )
  expect(toJson({ amount: 2n ** 53n + 1n })).toBe('{"amount":9007199254740993}')
})
