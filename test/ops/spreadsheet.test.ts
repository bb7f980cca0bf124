import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { markText, unmarkText } from '../../src/domain/visibleText.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let folder: string
let service: TestService
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-spreadsheet-'))
  service = await startService()
  service.clock.set('2026-06-30')
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

/** Names that a spreadsheet would run, ids that it would change, and texts that it leaves alone. */
const CUSTOMERS = [
  { externalId: '=1+1', businessName: '=HYPERLINK("http://evil.example","pay here")', phone: '+255700000001' },
  { externalId: '-2', businessName: '@SUM(A1:A9)', address: '=cmd|calc,\n"quoted"' },
  { externalId: '1234567890123456', businessName: "'=already quoted", phone: '0754000123' },
  { externalId: '007', businessName: "'Ndogo shop", region: '12e5' },
  { externalId: 'wallet-1', businessName: 'Mama Asha; =1+1', phone: '255700000001' },
]

async function exported(kind: string, format = 'csv'): Promise<Buffer> {
  return readFile(join(folder, format, `${kind}.${format}`))
}
const cells = async (kind: string): Promise<Record<string, string>[]> =>
  parse(await exported(kind), { columns: true, bom: true })

describe('book export --format csv', () => {
  beforeAll(async () => {
    const ops = opsOn(service)
    const customers = join(folder, 'customers.ndjson')
    await writeFile(customers, CUSTOMERS.map((one) => `${JSON.stringify(one)}\n`).join(''))
    expect((await ops(['book', 'import', '--customers', customers, '--yes'])).code).toBe(0)
    const { id } = (
      await service.post('/v1/loans', {
        body: { customerId: '=1+1', productId: 1, principal: 1_000, externalId: '9007199254740993' },
      })
    ).body
    const pay = (transactionAmount: number, idempotencyKey: string) =>
      service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount, idempotencyKey } })
    await pay(300, '00000000000000000001')
    const wrong = (await pay(50, 'wrong')).body.id
    await service.post(`/v1/loans/${id}/repayments/${wrong}/reverse`, { token: service.tokens.operator })
    await pay(900.5, '-tx')
    for (const format of ['csv', 'ndjson'])
      expect((await ops(['book', 'export', join(folder, format), '--format', format])).code).toBe(0)
  })

  it('begins with a byte order mark', async () => {
    for (const kind of ['customers', 'loans', 'instalments', 'transactions'])
      expect((await exported(kind)).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]))
  })

  it('has no cell that a spreadsheet runs, and none whose digits it changes', async () => {
    for (const kind of ['customers', 'loans', 'instalments', 'transactions'])
      for (const line of await cells(kind))
        for (const [name, cell] of Object.entries(line))
          expect({ name, cell }).toEqual({
            name,
            cell: expect.not.stringMatching(/^[=+\-@\t\r]|^\d{16,}$|^0\d+$|^\d+e\d+$/i),
          })
    const [first] = await cells('customers')
    expect(first).toMatchObject({
      id: expect.stringMatching(/^'4\d{15}$/),
      externalId: "'=1+1",
      phone: "'+255700000001",
    })
  })

  it('has what each transaction paid; of a reversed one nothing', async () => {
    const parts = ({
      transactionAmount,
      status,
      principal,
      interest,
      fees,
      penalty,
      overpayment,
    }: Record<string, string>) => [transactionAmount, status, principal, interest, fees, penalty, overpayment]
    expect((await cells('transactions')).map(parts)).toEqual([
      ['300.00', 'posted', '200.00', '100.00', '0.00', '0.00', '0.00'],
      ['50.00', 'reversed', '', '', '', '', ''],
      ['900.50', 'posted', '800.00', '0.00', '0.00', '0.00', '100.50'],
    ])
    const [json] = (await exported('transactions', 'ndjson')).toString().split('\n')
    expect(JSON.parse(json!)).toMatchObject({ principal: 200, interest: 100, fees: 0, penalty: 0, overpayment: 0 })
  })

  it('is imported as what it was: the marks are no part of a text', async () => {
    const elsewhere = await startService()
    elsewhere.clock.set('2026-07-01')
    const files = ['customers', 'loans', 'transactions'].flatMap((kind) => [
      `--${kind}`,
      join(folder, 'csv', `${kind}.csv`),
    ])
    const { json } = await opsOn(elsewhere)(['book', 'import', ...files, '--yes', '--json'])
    expect(json).toMatchObject([
      { imported: 5, refused: 0 },
      { imported: 1, refused: 0 },
      { imported: 2, refused: 1 },
    ])
    const bookOf = async ({ deps }: TestService) => [
      (
        await deps.db.pool.query(
          'SELECT external_id, business_name, phone, address, region FROM customer ORDER BY external_id',
        )
      ).rows,
      (await deps.db.pool.query('SELECT external_id, total_paid, total_overpaid FROM loan')).rows,
      (await deps.db.pool.query('SELECT token, amount FROM loan_entry WHERE reversed_at IS NULL ORDER BY ordinal'))
        .rows,
    ]
    expect(await bookOf(elsewhere)).toEqual(await bookOf(service))
    await elsewhere.close()
  })
})

describe('the mark of a text', () => {
  const awkward = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '0', '7', 'e', 'a'), maxLength: 24 }),
  )
  it('is taken off again, whatever the text', () => {
    fc.assert(fc.property(awkward, (text) => unmarkText(markText(text)) === text))
    fc.assert(fc.property(awkward, (text) => !/^[=+\-@\t\r]/.test(markText(text))))
  })

  it.each(["'Ndogo shop", "'", "''", '12', "'12"])('an apostrophe of somebody else stays: %s', (text) => {
    expect(unmarkText(text)).toBe(text)
    expect(markText(text)).toBe(text)
  })
})
