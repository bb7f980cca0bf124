import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unitsOf } from '../../src/ops/files/parquet.ts'
import { REPORTING_VIEWS } from '../../src/services/book/reportingExport.ts'
import { type Books, openBooks, type TrialBalanceWire } from '../support/books.ts'
import { anotherLender } from '../support/lenders.ts'
import { opsOn } from '../support/ops.ts'

// `npm run try -- reporting` runs this file with more loans, and with DuckDB as a reader.

const LOANS = Number(process.env.MKOPO_LOANS ?? 20)
const DUCKDB = process.env.MKOPO_DUCKDB

let books: Books
let ops: ReturnType<typeof opsOn>
let folder: string
let balance: TrialBalanceWire
beforeAll(async () => {
  books = await openBooks()
  const { service } = books
  ops = opsOn(service)
  folder = await mkdtemp(join(tmpdir(), 'mkopo-reporting-'))
  await books.customer('asha')
  const token = await anotherLender(service, 2, 'UGX')
  await service.post('/v1/customers', { token, body: { externalId: 'theirs' } })
  await service.post('/v1/loans', { token, body: { customerId: 'theirs', productId: 1, principal: 7_777_777 } })
  for (let done = 0; done < LOANS; done += 20)
    await Promise.all(
      Array.from({ length: Math.min(20, LOANS - done) }, async (_, index) => {
        const loan = await books.lend('asha', 10_000 + done + index, 1 + ((done + index) % 3))
        if (index % 2 === 0) await books.pay(loan, 1_000.37 + index)
      }),
    )
  balance = (await books.get<TrialBalanceWire>('trial-balance')).body
}, 600_000)
afterAll(async () => {
  await rm(folder, { recursive: true })
  await books.end()
})

const exported = async (name: string, more = '') => {
  const path = join(folder, name)
  return { path, run: await ops(`book export ${path} -o 1 --format parquet --json${more}`) }
}
const inDatabase = async (view: string, organization = 1) =>
  (
    await books.service.owner.pool.query(`SELECT * FROM reporting_rows.${view} WHERE organization_id = $1`, [
      organization,
    ])
  ).rows

describe('mkopo book export --format parquet', () => {
  it('writes a file for each view, which only its owner may read, with as many rows, and tells the trail', async () => {
    const { path, run } = await exported('files')
    expect(run.code).toBe(0)
    expect((await readdir(path)).sort()).toEqual(REPORTING_VIEWS.map((view) => `${view}.parquet`).sort())
    for (const { kind, file, rows } of run.json as unknown as { kind: string; file: string; rows: number }[]) {
      expect([kind, rows]).toEqual([kind, (await inDatabase(kind)).length])
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      const { num_rows } = await parquetMetadataAsync(await asyncBufferFromFile(file))
      expect([kind, Number(num_rows)]).toEqual([kind, rows])
    }
    const { json } = await ops(['audit', '--entity', 'organization', '--action', 'export', '--json'])
    expect(json).toMatchObject([{ action: 'export' }])
  })

  it('has the columns of the views and their values, of the organization alone, as another reader reads them', async () => {
    const { path } = await exported('read-back')
    for (const view of REPORTING_VIEWS) {
      const file = await asyncBufferFromFile(join(path, `${view}.parquet`))
      const rows = await parquetReadObjects({ file })
      const stored = await inDatabase(view)
      const columns = await books.service.owner.pool.query(`SELECT * FROM reporting.${view} LIMIT 0`)
      const { schema } = await parquetMetadataAsync(file)
      expect(schema.slice(1).map(({ name }) => name)).toEqual(columns.fields.map(({ name }) => name))
      expect(rows).toHaveLength(stored.length)
      // The reader takes decimals for floating point numbers, and days for dates.
      const types = new Map(columns.fields.map(({ name, dataTypeID }) => [name, dataTypeID]))
      const plain = ([name, value]: [string, unknown]): unknown => {
        if (value === null || value === undefined) return [name, null]
        if (types.get(name) === 1700) return [name, Number(value).toFixed(6)]
        if (types.get(name) === 1082) return [name, new Date(value as string).getTime()]
        if (value instanceof Date) return [name, value.getTime()]
        return [name, typeof value === 'bigint' ? String(value) : value]
      }
      const asText = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort()
      expect(asText(rows.map((row) => Object.entries(row).map(plain)))).toEqual(
        asText(stored.map(({ organization_id: _, ...row }) => Object.entries(row).map(plain))),
      )
    }
  })

  it('has decimals of 38 digits, 2 of them after the point, and exact', async () => {
    const { path } = await exported('decimals')
    const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(join(path, 'loans.parquet')))
    expect(schema.find(({ name }) => name === 'principal')).toMatchObject({
      converted_type: 'DECIMAL',
      precision: 38,
      scale: 2,
    })
    expect(unitsOf('-90000.5', 2)).toBe(-9_000_050n)
    expect(unitsOf('-0.01', 2)).toBe(-1n)
    expect(unitsOf('12345678901234567890.120000', 2)).toBe(1_234_567_890_123_456_789_012n)
    expect(() => unitsOf('0.001', 2)).toThrow('0.001 has more than 2 digits')
  })

  it('refuses files that are there, and --identities; a run that is stopped leaves no file', async () => {
    const { path } = await exported('twice')
    const again = await ops(`book export ${path} -o 1 --format parquet`)
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('is there already: name another folder') })
    expect((await exported('known', ' --identities')).run).toMatchObject({ code: 2 })
    const stopped = join(folder, 'stopped')
    const run = await ops(`book export ${stopped} -o 1 --format parquet`, { stopping: AbortSignal.abort() })
    expect(run.code).toBe(1)
    expect(await readdir(stopped)).toEqual([])
  })
})

/** What is used of DuckDB. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(
      path: string,
    ): Promise<{ connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRows(): unknown[][] }> }> }>
  }
}

describe.skipIf(DUCKDB === undefined)('DuckDB', () => {
  it('reads the files: their totals are those of the trial balance and of the views, to the cent', async () => {
    const { path, run } = await exported('duckdb')
    expect(run.code).toBe(0)
    const { DuckDBInstance } = (await import(/* @vite-ignore */ DUCKDB!)) as DuckDb
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    const totals = async (view: string, sums: string) => {
      const sql = `SELECT ${sums} FROM read_parquet('${join(path, `${view}.parquet`)}')`
      return (await connection.runAndReadAll(sql)).getRows()[0]!.map(String)
    }
    const ofView = async (view: string, sums: string) => {
      const text = `SELECT ${sums} FROM reporting_rows.${view} WHERE organization_id = 1`
      const { rows } = await books.service.owner.pool.query<unknown[]>({ text, rowMode: 'array' })
      return rows[0]!.map(String)
    }
    const total = balance.totalDebit.toFixed(2)
    expect(balance.totalDebit).toBe(balance.totalCredit)
    for (const view of ['trial_balance', 'postings'])
      expect([view, await totals(view, 'sum(debit), sum(credit)')]).toEqual([view, [total, total]])
    for (const [view, sums] of [
      ['trial_balance', 'sum(debit), sum(credit)'],
      ['postings', 'sum(debit), sum(credit), count(*)'],
      ['loans', 'sum(principal), sum(total_outstanding), sum(total_paid), count(*), min(disbursed_on), max(loan_id)'],
      ['loan_transactions', 'sum(amount), count(*), max(value_date)'],
      ['instalments', 'sum(total_scheduled), sum(principal_settled), sum(interest_settled), count(*)'],
    ] as const)
      expect([view, await totals(view, sums)]).toEqual([view, await ofView(view, sums)])
    const [types] = [
      (
        await connection.runAndReadAll(
          `SELECT column_type FROM (DESCRIBE SELECT principal, disbursed_at, disbursed_on, loan_id FROM read_parquet('${join(path, 'loans.parquet')}'))`,
        )
      ).getRows(),
    ]
    expect(types).toEqual([['DECIMAL(38,2)'], ['TIMESTAMP WITH TIME ZONE'], ['DATE'], ['BIGINT']])
  })
})
