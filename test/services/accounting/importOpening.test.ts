import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { SLOTS } from '../../../src/domain/accounting/slots.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { setChart } from '../../../src/services/accounting/charts.ts'
import { keepJournal, keptBeside } from '../../support/journal.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

// Loans that were kept elsewhere are opened against opening_equity: their money moved there (contract 9.1).

let folder: string
let service: TestService
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-opening-'))
  service = await startService()
  service.clock.set('2026-11-20')
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

async function file(name: string, lines: readonly object[]): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

const loan = { customerId: 'asha', productId: 1, principal: 6_000, disbursedAt: '2026-01-31T09:30:00+03:00' }
const paid = { transactionAmount: 700, transactionDate: '2026-02-10' }

async function postingsOf(externalId: string) {
  await keepJournal(service.deps)
  const { rows } = await service.deps.db.pool.query(
    'SELECT p.* FROM posting p JOIN loan l ON l.id = p.loan_id WHERE l.external_id = $1 ORDER BY p.id',
    [externalId],
  )
  return rows.map((row) => ({
    kind: row.kind,
    on: row.booked_on,
    ...Object.fromEntries(SLOTS.flatMap((slot) => (row[slot] === null ? [] : [[slot, Number(row[slot]) / 100]]))),
  }))
}

describe('an import', () => {
  it('opens loans and their transactions on its day, without money and without income of this book', async () => {
    const customers = await file('customers.ndjson', [{ externalId: 'asha', activationDate: '2026-01-01' }])
    const loans = await file('loans.ndjson', [
      { ...loan, externalId: 'l1' },
      { ...loan, externalId: 'l2' },
    ])
    const transactions = await file('transactions.ndjson', [{ ...paid, loanExternalId: 'l1', idempotencyKey: 'p1' }])
    const files = ['--customers', customers, '--loans', loans, '--transactions', transactions]
    expect((await opsOn(service)(['book', 'import', ...files], { says: true })).code).toBe(0)
    const opening = { kind: 'opening', on: '2026-11-20', loan_portfolio: 6_000, opening_equity: -6_000 }
    expect(await postingsOf('l2')).toEqual([opening])
    expect(await postingsOf('l1')).toEqual([
      opening,
      { kind: 'opening', on: '2026-11-20', loan_portfolio: -100, opening_equity: 100 },
    ])
  })

  it('of transactions on a loan of this book is money of this book, on its own day', async () => {
    await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 2_000, externalId: 'own' } })
    service.clock.set('2026-11-25')
    const transactions = await file('statement.ndjson', [
      { loanExternalId: 'own', transactionAmount: 500, transactionDate: '2026-11-21', idempotencyKey: 's1' },
    ])
    expect((await opsOn(service)(['book', 'import', '--transactions', transactions], { says: true })).code).toBe(0)
    expect((await postingsOf('own')).at(-1)).toEqual({
      ...{ kind: 'repayment', on: '2026-11-21', cash: 500, loan_portfolio: -300, interest_income: -200 },
    })
    expect((await opsOn(service)('book check')).code).toBe(0)
    service.clock.set('2026-11-20')
  })

  it('is not income of this book by another method either, nor before the day of the import', async () => {
    const asked = operator(1, 'test')
    await keptBeside(service.deps, setChart(service.deps, asked, { ...DEFAULT_CHART, method: 'accrual_upfront' }))
    await keepJournal(service.deps)
    expect((await postingsOf('l2')).at(-1)).toEqual({
      ...{ kind: 'method_changed', on: '2026-11-20', interest_receivable: 600, opening_equity: -600 },
    })
    // Its interest was paid, and is income by either method.
    expect((await postingsOf('own')).at(-1)).toEqual({ kind: 'method_changed', on: '2026-11-20' })
    expect((await opsOn(service)('book check')).code).toBe(0)
    await keptBeside(service.deps, setChart(service.deps, asked, DEFAULT_CHART))
    await keepJournal(service.deps)
    expect((await postingsOf('l2')).at(-1)).toEqual({
      ...{ kind: 'method_changed', on: '2026-11-20', interest_receivable: -600, opening_equity: 600 },
    })
    expect((await opsOn(service)('book check')).code).toBe(0)
  })

  it('is followed by money of this book like every other loan', async () => {
    const { body } = await service.get<{ id: string }>('/v1/loans/external/l1')
    await service.post(`/v1/loans/${body.id}/repayments`, { body: { transactionAmount: 1_000 } })
    expect((await postingsOf('l1')).at(-1)).toEqual({
      ...{ kind: 'repayment', on: '2026-11-20', cash: 1_000, loan_portfolio: -1_000 },
    })
    expect((await opsOn(service)('book check')).code).toBe(0)
  })
})
