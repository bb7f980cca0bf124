import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unmarkText } from '../../src/domain/visibleText.ts'
import { type Column, columnsNamed, csvFile, csvHead, csvRows, othersText } from '../../src/services/csv.ts'

interface Row {
  readonly name: string
  readonly amount: number | null
}

const columns: readonly Column<Row>[] = [
  ['name', ({ name }) => othersText(name)],
  ['amount', ({ amount }) => amount],
]

describe('a CSV file', () => {
  it('has the mark of its encoding, the names of its columns, and a line for each row', () => {
    const rows = [
      { name: 'Asha', amount: 1.5 },
      { name: 'Baraka, "B"\nDar', amount: null },
    ]
    expect(csvFile(columns, rows)).toBe('\uFEFFname,amount\nAsha,1.5\n"Baraka, ""B""\nDar",\n')
    expect(csvFile(columns, [])).toBe('\uFEFFname,amount\n')
  })

  it('is the same written in parts', () => {
    const rows = Array.from({ length: 5 }, (_, amount) => ({ name: `row ${amount}`, amount }))
    const parts = [
      csvHead(columns),
      csvRows(columns, rows.slice(0, 2)),
      csvRows(columns, []),
      csvRows(columns, rows.slice(2)),
    ]
    expect(parts.join('')).toBe(csvFile(columns, rows))
  })

  it('runs nothing: an apostrophe precedes formulas and digits that a spreadsheet would change', () => {
    const names = ['=1+1', '+255', '-1', '@a', '\t=1', '00123', '1234567890123456', "'=1", 'Asha']
    const cells = csvRows(
      columns,
      names.map((name) => ({ name, amount: -1 })),
    )
    expect(cells).toBe(
      [`'=1+1`, `'+255`, `'-1`, `'@a`, `'\t=1`, `'00123`, `'1234567890123456`, `''=1`, 'Asha']
        .map((name) => `${name},-1\n`)
        .join(''),
    )
    expect(othersText(null)).toBe('')
    expect(othersText(4_000_000_000_000_001n)).toBe("'4000000000000001")
  })

  it('gives every text back to its reader', () => {
    const read = (text: string) => parse(text, { bom: true, columns: true }) as Record<string, string>[]
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), (texts) => {
        const file = csvFile(
          columns,
          texts.map((name) => ({ name, amount: 1 })),
        )
        expect(read(file).map(({ name }) => unmarkText(name!))).toEqual(texts)
      }),
    )
  })

  it('takes rows that have their cells by name, and leaves empty what a row does not have', () => {
    expect(csvFile(columnsNamed(['a', 'b']), [{ b: '1' }, { a: 'x' }])).toBe('\uFEFFa,b\n,1\nx,\n')
  })
})
