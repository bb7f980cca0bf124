import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLines } from '../../src/ops/files/readLines.ts'
import type { Line } from '../../src/services/book/bookImport.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let folder: string
let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-files-'))
  service = await startService()
  ops = opsOn(service)
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

/** A file whose characters are its bytes. */
async function file(name: string, bytes: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, bytes, 'latin1')
  return path
}
const utf8 = (text: string) => Buffer.from(text).toString('latin1')
async function linesOf(path: string) {
  const lines: Line<unknown>[] = []
  for await (const line of readLines(path, (record) => record).lines) lines.push(line)
  return lines
}

/** Imports customers, and returns the outcome. */
async function importOf(path: string) {
  const run = await ops(['book', 'import', '-o', '1', '--customers', path, '--yes', '--json'])
  const report = await readFile(`${path}.refused.ndjson`, 'utf8')
  const refusals = report.split('\n').filter(Boolean)
  return { ...run, refusals: refusals.map((line) => JSON.parse(line)) }
}
const namesLike = async (pattern: string) => {
  const { rows } = await service.deps.db.pool.query(
    'SELECT external_id FROM customer WHERE external_id LIKE $1 ORDER BY external_id COLLATE "C"',
    [pattern],
  )
  return rows.map((row) => row.external_id)
}

describe('a file to import that is not UTF-8', () => {
  it('NDJSON: its lines are refused, and never one customer under the names of two', async () => {
    const path = await file(
      'names.ndjson',
      `{"externalId": "u-Zo\xe9"}\n{"externalId": "u-Zo\xeb"}\n${utf8('{"externalId": "u-Zoë"}')}\n{"externalId": "u-Zoe"}\n`,
    )
    const { code, refusals } = await importOf(path)
    expect(code).toBe(1)
    expect(refusals.map(({ line, code, message }) => [line, code, message])).toEqual([
      [1, 'invalid_argument', 'the line is not valid UTF-8'],
      [2, 'invalid_argument', 'the line is not valid UTF-8'],
    ])
    expect(await namesLike('u-%')).toEqual(['u-Zoe', 'u-Zoë'])
  })

  it('CSV: the same', async () => {
    const path = await file(
      'names.csv',
      `externalId,businessName\nv-1,Zo\xe9\n${utf8('v-2,Zoë\n')}v-\xff,Zoe\nv-3,"Zo\xc3"\n`,
    )
    const { refusals } = await importOf(path)
    expect(refusals.map(({ line, message }) => [line, message])).toEqual([
      [2, 'the line is not valid UTF-8'],
      [4, 'the line is not valid UTF-8'],
      [5, 'the line is not valid UTF-8'],
    ])
    expect(await namesLike('v-%')).toEqual(['v-2'])
  })

  it('CSV whose first line is not: nothing is imported, and the line is named', async () => {
    const path = await file('heads.csv', 'externalId,n\xe9\nw-1,x\n')
    const { code, err } = await importOf(path)
    expect(code).toBe(1)
    expect(err).toContain(`${path}: line 1, of the names: is not valid UTF-8`)
  })

  it.each([
    ['mark.ndjson', utf8('\uFEFF{"externalId": "Zoë"}\n')],
    ['mark.csv', utf8('\uFEFF"externalId"\nZoë\n')],
  ])('a byte order mark is no part of it: %s', async (name, bytes) => {
    const [line, ...others] = await linesOf(await file(name, bytes))
    expect(line?.read()).toEqual({ externalId: 'Zoë' })
    expect(others).toEqual([])
  })

  it('a character that is cut in two where the file is read in pieces is whole again', async () => {
    const path = await file('pieces.ndjson', `${'x'.repeat(256 * 1024 - 2)}${utf8('ë–ë')}\n`)
    const [line] = await linesOf(path)
    expect(String(line?.raw).slice(-4)).toBe('xë–ë')
  })

  it('a line ends as NDJSON defines, and not at a line separator within a text', async () => {
    const lines = await linesOf(await file('separator.ndjson', utf8('{"note": "one\u2028line"}\n')))
    expect(lines.map((line) => line.read())).toEqual([{ note: 'one\u2028line' }])
  })
})

describe('CSV with lines that are wrong', () => {
  it('one with too few or too many fields, or a quote within one, is refused, and the others are imported', async () => {
    const path = await file(
      'ragged.csv',
      'externalId,businessName,address\nr-1,Duka,Dar\nr-2,Duka\n\nr-3,Duka,Plot 4, Dar\nr-4\nr-5,12" pipes and 3" pipes,Dar\nr-6,"12"" pipes",Dar\n',
    )
    const { code, json, refusals } = await importOf(path)
    expect(code).toBe(1)
    expect(json).toMatchObject([{ imported: 2, refused: 4 }])
    expect(refusals).toEqual([
      {
        line: 3,
        code: 'invalid_argument',
        message: 'the line has 2 fields, where the first line names 3',
        record: ['r-2', 'Duka'],
      },
      expect.objectContaining({ line: 5, message: 'the line has 4 fields, where the first line names 3' }),
      expect.objectContaining({ line: 6, message: 'the line has 1 field, where the first line names 3' }),
      {
        line: 7,
        code: 'invalid_argument',
        message: 'there is a quote within a field: put the field in quotes, and double the one within',
        record: null,
      },
    ])
    expect(await namesLike('r-%')).toEqual(['r-1', 'r-6'])
  })

  it.each([
    ['a quote that is not closed', 'externalId,address\nq-1,Dar\nq-2,"Plot 4\nq-3,Dar\nq-4,Dar\n', 3],
    ['one that closes elsewhere', 'externalId,address\nq-1,Dar\nq-2,"Plot 4\nq-3,"Dar"\nq-4,Dar\n', 3],
    ['one that closes within the field', 'externalId,address\nq-1,Dar\nq-2,"Plot" 4\nq-3,Dar\n', 3],
    ['one before very many lines', `externalId,address\nq-1,"Dar\n${'q-2,Dar\n'.repeat(200_000)}`, 2],
  ])('%s ends the file, and the line is named', async (name, bytes, line) => {
    const path = await file(`${name}.csv`, bytes)
    await expect(linesOf(path)).rejects.toThrow(`${path} is not CSV that can be read from line ${line} on: `)
  })

  it.each([
    ['a quote that is not closed', '"Plot 4\n'],
    ['one that closes within the field', '"Plot" 4\n'],
    ['a line that is longer than any', `${'x'.repeat(1024 * 1024)}\n`],
  ])('the lines before %s are imported', async (name, address) => {
    const prefix = `s${name.length}-`
    const good = Array.from({ length: 2_500 }, (_, index) => `${prefix}${index},Dar\n`).join('')
    const path = await file(`before-${name.length}.csv`, `externalId,address\n${good}${prefix}bad,${address}`)
    const { code, err } = await ops(['book', 'import', '-o', '1', '--customers', path, '--yes'])
    expect([code, err]).toEqual([1, expect.stringContaining('is not CSV that can be read from line 2502 on: ')])
    expect(await namesLike(`${prefix}%`)).toHaveLength(2_500)
  })

  it('lines are numbered as an editor does, also behind a line break of two characters within a field', async () => {
    const bytes = 'externalId,address\r\nt-1,"Plot 4\r\nDar"\r\nt-2,Duka,Dar\r\nt-3,12" pipes\r\n'
    const { refusals } = await importOf(await file('breaks.csv', bytes))
    expect(refusals.map(({ line }) => line)).toEqual([4, 5])
  })

  it('a name that the first line has twice ends it before anything is imported', async () => {
    const path = await file('twice.csv', 'externalId,address,address\nt-9,Dar,Moshi\n')
    const { code, err } = await ops(['book', 'import', '-o', '1', '--customers', path, '--yes'])
    expect([code, err]).toEqual([1, expect.stringContaining('line 1, of the names: address is given twice')])
    expect(await namesLike('t-9')).toEqual([])
  })
})

describe('the fault of a line is reported in the words of the line', () => {
  it.each([
    [
      'loans',
      'csv',
      'externalId,customerId,productId,principal,disbursedAt\na,b,1,"1,000",2026-01-31T09:30:00+03:00\n',
      'principal: must be a number, not a string',
    ],
    ['customers', 'ndjson', '[]\n', 'the line must be a JSON object'],
    ['customers', 'ndjson', '{"externalId": "a", "constructor": 1}\n', 'constructor: is not a known field'],
    [
      'customers',
      'ndjson',
      `{"externalId": "a", "phone": "${'1'.repeat(51)}"}\n`,
      'phone: must be at most 50 characters long',
    ],
    [
      'customers',
      'ndjson',
      '{"externalId": "a", "businessName": "Duka\\nla Asha"}\n',
      'businessName: must not contain control characters',
    ],
  ])('of %s, %s: %j', async (kind, format, bytes, message) => {
    const path = await file(`word-${message.length}.${format}`, bytes)
    await ops(['book', 'import', '-o', '1', `--${kind}`, path, '--yes'])
    const [refusal = '{}'] = (await readFile(`${path}.refused.ndjson`, 'utf8')).split('\n')
    expect(JSON.parse(refusal)).toMatchObject({ code: 'invalid_argument', message })
  })
})
