import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../src/services/book/bookCheck.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

let folder: string
let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-terms-'))
  service = await startService()
  ops = opsOn(service)
  const body = {
    ...{ id: 9, name: 'Settled early', minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3 },
    ...{ interestRate: 3, earlySettlement: 'interest_to_period_end' },
    fees: [{ name: 'Stamp', base: 'principal', rate: 1, when: 'disbursement', treatment: 'deducted' }],
  }
  expect((await service.post('/v1/loan-products', { body, token: service.tokens.operator })).status).toBe(200)
  service.clock.set('2026-11-20')
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

async function imported(kind: 'customers' | 'loans' | 'transactions', lines: readonly object[]) {
  const path = join(folder, `${kind}.ndjson`)
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const { json } = await ops<Wire[]>(['book', 'import', `--${kind}`, path, '--yes', '--json'])
  const refused = await readFile(`${path}.refused.ndjson`, 'utf8').catch(() => '')
  return { report: json, refused }
}

const rowsOf = async (name: string): Promise<Wire[]> =>
  (await readFile(join(folder, 'book', name), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const of = { loanExternalId: 'early' }
/** 90,000 in three instalments of 30,000 and 2,700; a fee of 500 is due with the second. */
const lines = [
  { ...of, type: 'Fee', transactionAmount: 500, transactionDate: '2026-02-10', dueDate: '2026-03-01', note: 'Visit' },
  { ...of, transactionAmount: 40_000, transactionDate: '2026-02-20' },
  { ...of, transactionAmount: 55_900, transactionDate: '2026-03-10' },
  { ...of, type: 'Settlement Waiver', transactionAmount: 2_700, transactionDate: '2026-03-10' },
].map((line, index) => ({ ...line, idempotencyKey: `k${index}` }))

describe('the import and the export of a book', () => {
  it('have single charges, deducted fees and the waiver of an early settlement', async () => {
    await imported('customers', [{ externalId: 'asha', activationDate: '2026-01-01' }])
    const disbursedAt = '2026-01-31T09:30:00+03:00'
    await imported('loans', [{ externalId: 'early', customerId: 'asha', productId: 9, principal: 90_000, disbursedAt }])
    expect((await imported('transactions', lines)).refused).toBe('')
    const loan = (await service.get('/v1/loans/external/early')).body
    expect(loan).toMatchObject({
      ...{ status: 'Closed (obligations met)', closedOn: '2026-03-10', interestWaived: 2_700, feesPaid: 500 },
      ...{ netDisbursed: 89_100, feesDeducted: 900, totalOverpaid: 0 },
    })
    const { code } = await ops(['book', 'export', '--format', 'ndjson', join(folder, 'book')])
    expect(code).toBe(0)
    expect(await rowsOf('loans.ndjson')).toMatchObject([
      { externalId: 'early', principal: 90_000, netDisbursed: 89_100 },
    ])
    const transactions = await rowsOf('transactions.ndjson')
    expect(transactions.map(({ type, dueDate, note, interest }) => [type, dueDate, note, interest])).toEqual([
      ['Fee', '2026-03-01', 'Visit', 0],
      ['Repayment', null, null, 5_400],
      ['Repayment', null, null, 0],
      ['Settlement Waiver', null, null, 2_700],
    ])
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('take the same lines again as present, and refuse what does not fit', async () => {
    expect((await imported('transactions', lines)).refused).toBe('')
    expect((await service.get('/v1/loans/external/early/transactions')).body.items).toHaveLength(4)
    const wrong = [
      { ...of, type: 'Settlement Waiver', transactionDate: '2026-03-11' },
      { ...of, type: 'Fee', transactionAmount: 5, transactionDate: '2026-03-11' },
      { ...of, transactionAmount: 5, transactionDate: '2026-03-11', dueDate: '2026-03-12' },
    ].map((line, index) => ({ ...line, idempotencyKey: `w${index}` }))
    const { refused } = await imported('transactions', wrong)
    expect(
      refused
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).message),
    ).toEqual([
      expect.stringMatching(/no transaction before this line settles the loan early on 2026-03-11/),
      expect.stringMatching(/note: is required of a Fee/),
      expect.stringMatching(/dueDate: must be empty of a Repayment/),
    ])
  })

  it('leave a loan whose waiver an operator reversed as it was, and what waives nothing out', async () => {
    const disbursedAt = '2026-01-31T09:30:00+03:00'
    const loans = ['kept', 'gone'].map((externalId) => ({
      ...{ externalId, customerId: 'asha', productId: 9, principal: 90_000, disbursedAt },
    }))
    await imported('loans', loans)
    const waiver = { type: 'Settlement Waiver', transactionAmount: 2_700, transactionDate: '2026-03-10' }
    const history = [
      { loanExternalId: 'kept', transactionAmount: 95_400, transactionDate: '2026-03-10' },
      { loanExternalId: 'kept', ...waiver, status: 'reversed' },
      { loanExternalId: 'gone', transactionAmount: 10_000, transactionDate: '2026-03-10' },
      { loanExternalId: 'gone', ...waiver, interest: 0 },
    ].map((line, index) => ({ ...line, idempotencyKey: `h${index}` }))
    for (const _ of [1, 2]) expect((await imported('transactions', history)).refused).toBe('')
    const { body } = await service.get('/v1/loans/external/kept')
    expect(body).toMatchObject({ status: 'Active', totalOutstanding: 2_700, interestWaived: 0 })
    const again = { transactionAmount: 100, transactionDate: '2026-03-10' }
    await service.post('/v1/loans/external/kept/repayments', { body: again })
    expect((await service.get('/v1/loans/external/kept')).body).toMatchObject({ totalOutstanding: 2_600 })
    expect((await service.get('/v1/loans/external/gone')).body).toMatchObject({ totalOutstanding: 88_100 })
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('hold a charge to the cap at its own place, and to the due date and the name that it had', async () => {
    const body = {
      ...{ id: 10, name: 'Capped', minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3 },
      ...{
        interestRate: 3,
        totalChargeCap: 20,
        penalty: { base: 'fixed', amount: 1_000, every: 'day', per: 'instalment' },
      },
    }
    expect((await service.post('/v1/loan-products', { body, token: service.tokens.operator })).status).toBe(200)
    const disbursedAt = '2026-01-31T09:30:00+03:00'
    await imported('loans', [
      { externalId: 'capped', customerId: 'asha', productId: 10, principal: 90_000, disbursedAt },
    ])
    const fee = {
      loanExternalId: 'capped',
      type: 'Fee',
      transactionAmount: 500,
      transactionDate: '2026-02-10',
      note: 'Visit',
    }
    const history = [
      { ...fee, idempotencyKey: 'c1' },
      { loanExternalId: 'capped', transactionAmount: 98_600, transactionDate: '2026-02-20', idempotencyKey: 'c2' },
    ]
    expect((await imported('transactions', history)).refused).toBe('')
    expect((await service.get('/v1/loans/external/capped')).body).toMatchObject({
      ...{ status: 'Closed (obligations met)', feesCharged: 500, penaltyCharged: 0, totalOverpaid: 0 },
    })
    for (const other of [{ dueDate: '2026-03-01' }, { note: 'Letter' }]) {
      const { refused } = await imported('transactions', [{ ...fee, ...other, idempotencyKey: 'c1' }])
      expect(refused).toMatch(/already_exists/)
    }
  })
})
