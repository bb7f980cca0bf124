import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { SLOTS } from '../../../src/domain/accounting/slots.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { getChart, setChart } from '../../../src/services/accounting/charts.ts'
import { closePeriod } from '../../../src/services/accounting/closePeriod.ts'
import { closingText, getTrialBalance } from '../../../src/services/accounting/trialBalance.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { startKeeper, startSequencer } from '../../support/jobs.ts'
import { keepJournal } from '../../support/journal.ts'
import { opsOn } from '../../support/ops.ts'
import { quiet } from '../../support/quiet.ts'
import { startService, type TestService } from '../../support/service.ts'

// Another chart, and another method, count from the first open day on (contract 9.4).

const caller = operator(1, 'test')

let service: TestService
let token: string
let jobs: { stop(): Promise<void> }[]
let loan: string
beforeAll(async () => {
  service = await startService()
  jobs = [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
  token = service.tokens.operator
  await post('/v1/customers', { externalId: 'asha' })
  loan = await post('/v1/loans', { customerId: 'asha', productId: 3, principal: 6_000 })
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 700 })
})
afterAll(async () => {
  for (const job of jobs) await job.stop()
  await service.close()
})

async function post(path: string, body: object): Promise<string> {
  const answer = await service.post<{ id: string }>(path, { token, body })
  expect(answer.status).toBe(200)
  return answer.body.id
}
const at = async (day: string) => {
  service.clock.set(day)
  token = await service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
  await drain(sweepJob(service.deps))
}

const CASH_AT_BANK = { code: '1010', name: 'Cash at bank', type: 'asset' as const }
const { accounts, slots } = DEFAULT_CHART
const request = {
  accounts: [...accounts, CASH_AT_BANK],
  slots,
  method: DEFAULT_CHART.method,
  productMethods: new Map(),
}

const balances = async (asOf: string) => {
  const { accounts: listed } = await getTrialBalance(service.deps, caller, { asOf })
  return Object.fromEntries(
    listed.filter(({ debit, credit }) => debit + credit > 0n).map(({ code, balance }) => [code, Number(balance) / 100]),
  )
}

async function postings() {
  await keepJournal(service.deps)
  const { rows } = await service.deps.db.pool.query('SELECT * FROM posting ORDER BY id')
  return rows.map((row) => ({
    kind: row.kind,
    on: row.booked_on,
    ...Object.fromEntries(SLOTS.flatMap((slot) => (row[slot] === null ? [] : [[slot, Number(row[slot]) / 100]]))),
  }))
}

describe('another chart', () => {
  it('counts for all postings where nothing was closed', async () => {
    await setChart(service.deps, caller, { ...request, slots: { ...slots, cash: CASH_AT_BANK.code } })
    await keepJournal(service.deps)
    expect(await getChart(service.deps, caller)).toMatchObject({ version: 2, inForce: true, countsFrom: null })
    expect(await balances('2026-01-31')).toEqual({ '1010': -5_300, '1100': 5_600, '4000': 300 })
  })

  it('counts from the first open day on, and moves what was booked before to the new account', async () => {
    await at('2026-02-10')
    await closePeriod(service.deps, caller, '2026-01')
    const closed = await closingText(service.deps.db, 1, '2026-01-31')
    await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 10 })
    await setChart(service.deps, caller, request)
    await keepJournal(service.deps)
    expect(await getChart(service.deps, caller)).toMatchObject({ version: 3, inForce: true, countsFrom: '2026-02-01' })
    expect(await closingText(service.deps.db, 1, '2026-01-31')).toBe(closed)
    expect(await balances('2026-01-31')).toEqual({ '1010': -5_300, '1100': 5_600, '4000': 300 })
    expect(await balances('2026-02-10')).toEqual({ '1000': -5_290, '1010': 0, '1100': 5_590, '4000': 300 })
    expect((await postings()).at(-1)).toEqual({ kind: 'chart_changed', on: '2026-02-01', cash: -5_300 })
  })

  it('with another method gives each loan one posting on the first open day, before its later changes', async () => {
    await setChart(service.deps, caller, { ...request, method: 'accrual_upfront' })
    await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 90 })
    const [changed, repaid] = (await postings()).slice(-2)
    expect(changed).toEqual({
      ...{ kind: 'method_changed', on: '2026-02-01' },
      ...{ interest_receivable: 1_500, interest_income: -1_500 },
    })
    expect(repaid).toMatchObject({ kind: 'repayment', on: '2026-02-10', cash: 90 })
    expect(await balances('2026-02-10')).toMatchObject({ '1200': 1_500, '4000': 1_800 })
  })

  it('of interest that is earned as it falls due posts the interest of each instalment on the day that was over', async () => {
    const method = { default: 'cash', products: { '3': 'accrual_periodic' } }
    await setChart(service.deps, caller, { ...request, method })
    const periodic = await post('/v1/loans', { customerId: 'asha', productId: 3, principal: 6_000 })
    await at('2026-03-20')
    await post(`/v1/loans/${periodic}/repayments`, { transactionAmount: 50, transactionDate: '2026-02-20' })
    const { id } = (await service.get<{ id: string }>(`/v1/loans/${periodic}`, { token })).body
    await keepJournal(service.deps)
    const { rows } = await service.deps.db.pool.query(
      `SELECT kind, booked_on AS on, interest_receivable / 100 AS receivable, unearned_interest / 100 AS unearned,
         interest_income / 100 AS income FROM posting WHERE loan_id = $1 ORDER BY id`,
      [id],
    )
    expect(
      rows.map((row) => ({
        ...row,
        receivable: Number(row.receivable),
        unearned: Number(row.unearned),
        income: Number(row.income),
      })),
    ).toEqual([
      { kind: 'disbursement', on: '2026-02-10', receivable: 1_800, unearned: -1_800, income: 0 },
      { kind: 'time', on: '2026-03-10', receivable: 0, unearned: 300, income: -300 },
      { kind: 'repayment', on: '2026-02-20', receivable: -50, unearned: 0, income: 0 },
    ])
  })

  it('is refused where it has no account that has postings, and takes the same chart again as no change', async () => {
    const without = accounts.filter(({ code }) => code !== '4000')
    await expect(
      setChart(service.deps, caller, { ...request, accounts: without, slots: { ...slots, interest_income: '4010' } }),
    ).rejects.toMatchObject({ code: 'failed_precondition' })
    const method = { default: 'cash', products: { '3': 'accrual_periodic' } }
    const { version } = await setChart(service.deps, caller, { ...request, method })
    expect(version).toBe(5)
  })

  it('leaves a book in which the check finds nothing', async () => {
    await keepJournal(service.deps)
    const { code, json } = await opsOn(service)('book check --json')
    expect({ code, differences: json.differences }).toEqual({ code: 0, differences: [] })
  })
})
