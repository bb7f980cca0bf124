import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantText } from '../../../src/db/audit/stamp.ts'
import { jsonbText } from '../../../src/db/queries/rows.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'
import { runs } from '../../support/runs.ts'

let fresh: FreshDatabase
beforeAll(async () => {
  fresh = await freshDatabase('template0')
})
afterAll(() => fresh.drop())

/** Texts that Postgres takes: without U+0000, and without half of a pair. */
const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((one) => !one.includes('\0') && one.isWellFormed())
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(text, fc.boolean(), fc.constant(null), fc.integer(), fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n })),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 6 }),
  ),
})).any

it('writes JSON as Postgres writes it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 20 }), async (values) => {
      const texts = values.map(jsonbText)
      const { rows } = await fresh.db.pool.query<{ text: string }>(
        'SELECT t::jsonb::text AS text FROM unnest($1::text[]) WITH ORDINALITY AS x (t, n) ORDER BY n',
        [texts],
      )
      expect(rows.map((row) => row.text)).toEqual(texts)
    }),
    { numRuns: runs(200) },
  )
})

it('leaves out members that are undefined, and writes a Date as JSON does', () => {
  expect(jsonbText({ b: undefined, aa: new Date(0), c: 1e21 })).toBe(
    '{"c": 1000000000000000000000, "aa": "1970-01-01T00:00:00.000Z"}',
  )
})

it('writes an instant as Postgres writes it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.date({ min: new Date('1900-01-01Z'), max: new Date('9999-12-31Z'), noInvalidDate: true }), {
        minLength: 1,
      }),
      async (dates) => {
        const { rows } = await fresh.db.pool.query<{ text: string }>(
          'SELECT t::timestamptz::text AS text FROM unnest($1::text[]) WITH ORDINALITY AS x (t, n) ORDER BY n',
          [dates.map((date) => date.toISOString())],
        )
        expect(dates.map((date) => instantText(date.getTime()))).toEqual(rows.map((row) => row.text))
      },
    ),
  )
})
