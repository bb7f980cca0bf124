import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Db } from '../../../src/db/postgres/client.ts'
import { type ColumnTypes, columnsOf, rowsOf, statementOver } from '../../../src/db/queries/rows.ts'
import { freshDatabase } from '../../support/database.ts'
import { runs } from '../../support/runs.ts'

let db: Db
let drop: () => Promise<void>
beforeAll(async () => {
  ;({ db, drop } = await freshDatabase())
})
afterAll(() => drop())

const COLUMNS: ColumnTypes = { n: 'int', id: 'bigint', told: 'text', day: 'date', at: 'timestamptz', doc: 'jsonb' }

/** Whatever means something in an array literal, and whatever else there is but the one character Postgres refuses. */
const text = fc.oneof(
  fc.constantFrom('NULL', 'null', '', ' ', '{}', '{"a"}', '"', '\\', '\\"', ',', '\n', '\t', '\\n', "'", '\u{1f33d}'),
  fc.string({ unit: 'grapheme', maxLength: 20 }).filter((one) => !one.includes('\0')),
  fc.string({ unit: fc.constantFrom('"', '\\', ',', '{', '}', ' ', 'a'), maxLength: 8 }),
)
const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
const row = fc.tuple(
  fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  fc.option(text),
  fc.option(day.map((one) => one.toISOString().slice(0, 10))),
  fc.option(day),
  fc.option(fc.record({ note: text, other: text })),
)

it('rows come out of Postgres as they were sent, whatever is in them, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 20 }), async (rows) => {
      const sent = rows.map(([n, id, told, on, at, doc]) => [
        ...[n, id, told, on, at?.toISOString()],
        doc && JSON.stringify(doc),
      ])
      const answer = await db.pool.query({
        text: `SELECT * FROM ${rowsOf('sent', COLUMNS, 1)}`,
        values: columnsOf(COLUMNS, sent),
        rowMode: 'array',
      })
      expect(answer.rows).toEqual(
        rows.map(([n, id, told, on, at, doc]) => [n, id, told, on, at?.getTime() ?? null, doc]),
      )
    }),
    { numRuns: runs(200) },
  )
})

it('a statement over sets of rows answers the same for one row as for many; a set without a row joins nothing', async () => {
  const KEYED: ColumnTypes = { id: 'bigint', told: 'text' }
  const pairs = statementOver(
    'pairs',
    [COLUMNS, KEYED],
    (first, second) => `
    SELECT f.*, s.told AS second FROM ${first('f')} LEFT JOIN ${second('s')} ON s.id = f.id ORDER BY f.n`,
  )
  const one = [1, 7n, 'a', '2026-01-31', '2026-01-31T06:00:00.000Z', '{"note": "b"}']
  const two = [2, 8n, null, null, null, null]
  const other = [7n, 'c']
  const ask = async (...rows: unknown[][][]) => (await db.pool.query(pairs(...rows))).rows

  expect(pairs([one], [other]).name).toBe('pairs-alone')
  for (const seconds of [[], [other]]) {
    const [row] = await ask([one, two], seconds)
    expect(row).toMatchObject({ n: 1, id: 7n, doc: { note: 'b' }, second: seconds.length > 0 ? 'c' : null })
    expect(await ask([one], seconds)).toEqual([row])
  }
  expect(await ask([], [other])).toEqual([])
  expect(await ask([one], [other, other])).toHaveLength(2)
})

it('a row of anything but numbers, booleans and texts is a mistake of ours, and not sent', () => {
  expect(() => columnsOf({ told: 'text' }, [[{ told: 'a' }]])).toThrow('a row of numbers, booleans and texts')
})
