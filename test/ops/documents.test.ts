import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pdfOf } from '../support/documents.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let folder: string
let [loan, repayment] = ['', '']
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  folder = await mkdtemp(join(tmpdir(), 'mkopo-documents-'))
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const application = { customerId: 'asha', productId: 1, principal: 60_000, externalId: 'order-1' }
  loan = (await service.post('/v1/loans', { body: application })).body.id
  const paid = { transactionAmount: 4_000, idempotencyKey: '=1+1\u202e' }
  repayment = (await service.post(`/v1/loans/${loan}/repayments`, { body: paid })).body.id
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

describe('loans statement', () => {
  it('writes the PDF that the service answers', async () => {
    const file = join(folder, 'statement.pdf')
    expect(await ops(['loans', 'statement', loan, '--output', file])).toMatchObject({ code: 0, out: '', err: '' })
    expect((await readFile(file)).equals(await pdfOf(service, `/v1/loans/${loan}/statement`))).toBe(true)
  })

  it('shows CSV without what a terminal or a spreadsheet would obey, in Kiswahili where asked for', async () => {
    const { code, out } = await ops(`loans statement order-1 --external --format csv --language sw`)
    expect(code).toBe(0)
    expect(out).toContain(
      `2026-01-31,Repayment,Malipo ya mkopo,'${repayment},'=1+1[U+202E],Mobile Money,,posted,TZS,4000.00`,
    )
    expect(out).not.toContain('\u202e')
  })

  it('shows JSON with exact amounts', async () => {
    const said = { kind: 'statement', to: '2026-01-31', closingBalance: '62000.00', status: 'Active' }
    expect((await ops(`loans statement ${loan} --json`)).json).toMatchObject(said)
    expect(JSON.parse((await ops(`loans statement ${loan} --format json`)).out)).toMatchObject(said)
  })

  it.each([
    ['', 2, 'a PDF is no text: say --output <file>'],
    ['--output /nowhere/at/all.pdf', 1, '/nowhere/at/all.pdf cannot be written: ENOENT'],
    ['--to 2026-02-01 --json', 1, 'must not be in the future: today is 2026-01-31'],
    ['--language fr', 2, 'Allowed choices are en, sw'],
  ])('%s: exit code %i', async (options, code, message) => {
    const run = await ops(['loans', 'statement', loan, ...options.split(' ').filter((one) => one !== '')])
    expect([run.code, run.err]).toEqual([code, expect.stringContaining(message)])
  })
})

describe('loans receipt', () => {
  it('writes the PDF that the service answers, and JSON', async () => {
    const file = join(folder, 'receipt.pdf')
    await ops(['loans', 'receipt', loan, repayment, '--output', file])
    const path = `/v1/loans/${loan}/repayments/${repayment}/receipt`
    expect((await readFile(file)).equals(await pdfOf(service, path))).toBe(true)
    expect((await ops(`loans receipt ${loan} ${repayment} --json`)).json).toMatchObject({
      ...{ kind: 'receipt', amount: '4000.00', interest: '4000.00', balance: '62000.00', transactionId: repayment },
    })
  })
})
