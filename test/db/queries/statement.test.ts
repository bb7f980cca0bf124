import { expect, it } from 'vitest'
import { columnValues, tableOf } from '../../../src/db/queries/rows.ts'
import { statement, unprepared } from '../../../src/db/queries/statement.ts'

it('numbers parameters in the order in which the text names them, each name once', () => {
  const find = statement<{ id: number; organizationId: number; unused: string }>(
    'find',
    (p) => `SELECT ${p('organizationId')}, ${p('id')}, ${p('organizationId')}`,
  )
  expect(find({ id: 7, organizationId: 1, unused: 'x' })).toEqual({
    name: 'find',
    text: 'SELECT $1, $2, $1',
    values: [1, 7],
  })
})

it('of an unprepared statement there is no name', () => {
  const find = unprepared<{ id: number }>((p) => `SELECT ${p('id')}`)
  expect(find({ id: 7 })).toEqual({ text: 'SELECT $1', values: [7] })
})

it('takes a set of rows as one array a column', () => {
  const columns = { id: 'int', note: 'text' }
  const insert = statement<Record<string, unknown>>('insert', (p) => `${p('at')} ${tableOf('t', columns, p)}`)
  const rows = [
    [1, 'a'],
    [2, null],
  ]
  expect(insert({ at: 'now', ...columnValues(columns, rows) })).toEqual({
    name: 'insert',
    text: '$1 unnest((SELECT $2::int[]), $3::text[]) AS t (id, note)',
    values: ['now', '{1,2}', '{"a",NULL}'],
  })
})

it('does not compile without a value', () => {
  const find = statement<{ id: number }>('find', (p) => `SELECT ${p('id')}`)
  // @ts-expect-error: the value of `id` is missing
  expect(find({}).values).toEqual([undefined])
  // @ts-expect-error: there is no such parameter
  expect(statement<{ id: number }>('find', (p) => p('number'))({ id: 1 }).values).toEqual([undefined])
})
