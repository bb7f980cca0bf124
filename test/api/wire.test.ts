import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { JsonNumber, parseJson, wireInteger } from '../../src/api/body/json.ts'
import { listQuery, queryId } from '../../src/api/lists/query.ts'
import * as wire from '../../src/api/wire.ts'
import { runs } from '../support/runs.ts'

/** Returns the result of a codec for the JSON text of a value: the value, or the message of the refusal. */
function read(codec: z.ZodType, json: string): unknown {
  const parsed = codec.safeParse(parseJson(json))
  return parsed.success ? parsed.data : `refused: ${parsed.error.issues[0]?.message}`
}

const text = (value: string) => JSON.stringify(value)

describe('amount', () => {
  test.each([
    ['100', { units: 100n, scale: 0 }],
    ['100.10', { units: 1001n, scale: 1 }],
    ['0.1', { units: 1n, scale: 1 }],
    ['-5', { units: -5n, scale: 0 }],
    ['-0', { units: 0n, scale: 0 }],
    ['1e3', { units: 1000n, scale: 0 }],
    ['1.5E-2', { units: 15n, scale: 3 }],
    ['9007199254740993.01', { units: 900719925474099301n, scale: 2 }],
    ['"100"', 'refused: must be a number, not a string'],
    ['"NaN"', 'refused: must be a number, not a string'],
    ['null', 'refused: must not be null'],
    ['true', 'refused: must be a number'],
    ['[1]', 'refused: must be a number'],
    ['1e400', 'refused: is too large, or has too many digits'],
    [`1${'0'.repeat(100)}`, 'refused: is too large, or has too many digits'],
  ])('%s → %o', (json, value) => {
    expect(read(wire.amount, json)).toEqual(value)
  })

  test('is exact for every decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.nat({ max: 12 }), (units, scale) => {
        const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
        const point = digits.length - scale
        const json = `${units < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`
        const decimal = read(wire.amount, json) as { units: bigint; scale: number }
        expect(decimal.units * 10n ** BigInt(scale - decimal.scale)).toBe(units)
      }),
    )
  })

  test('is required', () => {
    expect(wire.amount.safeParse(undefined).error?.issues[0]?.message).toBe('is required')
  })
})

describe('int64', () => {
  test.each([
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['9223372036854775808', 'refused: must be at most 9223372036854775807'],
    [`-${'9'.repeat(1000)}`, 'refused: must be at least -9223372036854775808'],
    ['1.0', 1n],
    ['-12.000', -12n],
    ['1.5', 'refused: must be a whole number, written in digits'],
    ['1e3', 'refused: must be a whole number, written in digits'],
    ['"9223372036854775807"', 9_223_372_036_854_775_807n],
    ['"1.0"', 'refused: must be a number, not a string'],
    ['null', 'refused: must not be null'],
  ])('%s → %s', (json, value) => {
    expect(read(wire.int64(), json)).toBe(value)
  })

  test('goes in and out exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        expect(read(wire.int64(), String(value))).toBe(value)
        expect(JSON.stringify({ id: wireInteger(value) })).toBe(`{"id":${value}}`)
      }),
    )
  })

  test('keeps to its bounds, and so does a small one', () => {
    expect(read(wire.int64({ min: 1n }), '0')).toBe('refused: must be at least 1')
    const small = wire.smallInt({ min: 1, max: 12 })
    expect([read(small, '2.0'), read(small, '"2"')]).toEqual([2, 'refused: must be a number, not a string'])
    expect(['1', '12', '13', '0', '1.5'].map((json) => read(small, json))).toEqual([
      1,
      12,
      'refused: must be at most 12',
      'refused: must be at least 1',
      'refused: must be a whole number, written in digits',
    ])
  })
})

describe('an id in a path', () => {
  test.each<[string, bigint | null]>([
    ['1', 1n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ...['9223372036854775808', '0', '01', '-1', '1.0', '1e3', ' 1', '', 'x', '１'].map((id): [string, null] => [
      id,
      null,
    ]),
  ])('%s → %s, never a refusal', (id, value) => {
    expect(wire.idParam.parse(id)).toBe(value)
  })

  test('an external id that cannot be one is null', () => {
    expect(
      ['A/b é', 'x'.repeat(100), 'x'.repeat(101), ' ', 'a\u0000'].map((id) => wire.externalIdParam.parse(id)),
    ).toEqual(['A/b é', 'x'.repeat(100), null, null, null])
  })
})

describe('text', () => {
  test.each([
    [text('CUST-1'), 'CUST-1'],
    [text(' kept as sent '), ' kept as sent '],
    [text('Ñandú 名前 🏦'), 'Ñandú 名前 🏦'],
    [text('🏦'.repeat(100)), '🏦'.repeat(100)],
    [text('🏦'.repeat(101)), 'refused: must be at most 100 characters long'],
    [text('x'.repeat(101)), 'refused: must be at most 100 characters long'],
    [text(''), 'refused: must not be empty'],
    [text(' \u00a0'), 'refused: must not be only spaces'],
    [text('a\tb'), 'refused: must not contain control characters'],
    [text('a\u0000'), 'refused: must not contain control characters'],
    [text('a\u0085'), 'refused: must not contain control characters'],
    ['"\\ud800"', 'refused: must be valid Unicode (half of a surrogate pair is not)'],
    ['5', 'refused: must be a string'],
    ['{"source":"x"}', 'refused: must be a string'],
  ])('externalId %.40s → %.60s', (json, value) => {
    expect(read(wire.externalId, json)).toBe(value)
  })

  test('a note has lines, may be empty, and has 1,000 characters at most', () => {
    expect(['', 'a\r\n\tb', 'x'.repeat(1001), 'a\u0007'].map((note) => read(wire.note, text(note)))).toEqual([
      '',
      'a\r\n\tb',
      'refused: must be at most 1000 characters long',
      'refused: must not contain control characters',
    ])
  })
})

describe('localDate', () => {
  test.each([
    ['2026-11-20', '2026-11-20'],
    ['2024-02-29', '2024-02-29'],
    ['1900-01-01', '1900-01-01'],
    ['2999-12-31', '2999-12-31'],
    ['2026-02-29', 'refused: is not a date on the calendar'],
    ['2026-02-30', 'refused: is not a date on the calendar'],
    ['2026-13-01', 'refused: is not a date on the calendar'],
    ['2026-00-10', 'refused: is not a date on the calendar'],
    ['1899-12-31', 'refused: must be between 1900-01-01 and 2999-12-31'],
    ['3000-01-01', 'refused: must be between 1900-01-01 and 2999-12-31'],
    ['20-11-2026', 'refused: must be a date written YYYY-MM-DD'],
    ['2026-11-20T00:00:00Z', 'refused: must be a date written YYYY-MM-DD'],
    ['2026-11-20\n', 'refused: must be a date written YYYY-MM-DD'],
    ['', 'refused: must be a date written YYYY-MM-DD'],
  ])('%s → %s', (date, value) => {
    expect(read(wire.localDate, text(date))).toBe(value)
  })
})

describe('page and rows', () => {
  const query = listQuery

  test.each([
    [{}, { rows: 100 }],
    [
      { page: '3', rows: '100' },
      { page: 3, rows: 100 },
    ],
    [{ page: '2147483647' }, { page: 2_147_483_647, rows: 100 }],
  ])('%o → %o', (given, value) => {
    expect(query.parse(given)).toEqual(value)
  })

  test.each([
    { page: '0' },
    { page: '-1' },
    { page: '1.5' },
    { page: '' },
    { page: 'x' },
    { page: '2147483648' },
    { page: '9'.repeat(30) },
    { rows: '0' },
    { rows: '101' },
    { pages: '1' },
  ])('%o is refused, not clamped', (given) => {
    expect(query.safeParse(given).success).toBe(false)
  })
})

describe('the JSON reader', () => {
  /** Its own numbers as doubles, to compare. */
  const plain = (value: unknown): unknown => {
    if (value instanceof JsonNumber) return Number(value.source)
    if (Array.isArray(value)) return value.map(plain)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]))
  }

  test('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(2), (json, indent) => {
        const pretty = JSON.stringify(JSON.parse(json), null, indent)
        expect(plain(parseJson(pretty))).toEqual(JSON.parse(pretty))
        expect(JSON.stringify(parseJson(json))).toBe(JSON.stringify(JSON.parse(json)))
      }),
    )
  })

  test('refuses what JSON.parse refuses', () => {
    const alphabet = [
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      'u',
      '1',
      '0',
      '-',
      '.',
      'e',
      ' ',
      '\n',
      't',
      'true',
      'null',
      'a',
      '\ud800',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...alphabet), { maxLength: 12 }), (parts) => {
        const json = parts.join('')
        const outcome = (parse: (text: string) => unknown) => {
          try {
            return plain(parse(json))
          } catch (error) {
            return String(error).includes('twice') ? plain(JSON.parse(json)) : 'refused'
          }
        }
        expect(outcome(parseJson)).toEqual(outcome(JSON.parse))
      }),
      { numRuns: runs(5000) },
    )
  })

  test('leaves prototypes alone', () => {
    const value = parseJson('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}') as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
  })
})

describe('queryId', () => {
  test('takes what its pattern says, up to the greatest int64', () => {
    const codec = queryId('externalId')
    const { pattern } = codec.meta() as { pattern: string }
    fc.assert(
      fc.property(fc.oneof(fc.stringMatching(new RegExp(pattern)), fc.stringMatching(/^[0-9]{0,20}$/)), (given) => {
        const isId = new RegExp(pattern).test(given) && BigInt(given) <= 9_223_372_036_854_775_807n
        expect(codec.safeParse(given).success).toBe(isId)
      }),
    )
  })
})
