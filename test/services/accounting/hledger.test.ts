import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HLEDGER } from '../../../src/api/partner/accounting/examples.ts'
import { DEFAULT_CHART, isDebitType } from '../../../src/domain/accounting/chart.ts'
import { ledgerName } from '../../../src/domain/accounting/hledger.ts'
import { lastDayOf } from '../../../src/domain/accounting/months.ts'
import { minorToText } from '../../../src/domain/money.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { bookProvisions } from '../../../src/services/accounting/bookProvisions.ts'
import { setChart } from '../../../src/services/accounting/charts.ts'
import { closePeriod } from '../../../src/services/accounting/closePeriod.ts'
import { exportJournal } from '../../../src/services/accounting/exportJournal.ts'
import { getTrialBalance } from '../../../src/services/accounting/trialBalance.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { balancesByHledger, hasHledger, hledger } from '../../support/hledger.ts'
import { startKeeper, startSequencer } from '../../support/jobs.ts'
import { quiet } from '../../support/quiet.ts'
import { randomFrom } from '../../support/random.ts'
import { startService, type TestService } from '../../support/service.ts'

// A book of random loans, over closed months and a changed chart, as a program of accountants reads it.

const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04'] as const
const caller = operator(1, 'test')

/** From the first open day on, cash and losses are on other accounts, and two products accrue. */
const SECOND_CHART = {
  accounts: [
    ...DEFAULT_CHART.accounts,
    { code: '1001', name: 'Wallet: of "M-PESA"; and bank', type: 'asset' as const },
    { code: '1190', name: 'Allowance for losses', type: 'asset' as const },
    { code: '2350', name: 'Expected losses', type: 'liability' as const },
  ],
  slots: {
    ...{ ...DEFAULT_CHART.slots, cash: '1001', write_offs: '1190', charge_offs: '1190' },
    loan_loss_allowance: '2350',
  },
  method: { default: 'cash', products: { '2': 'accrual_upfront', '3': 'accrual_periodic' } },
}

const random = randomFrom(7)
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!

let service: TestService
let token: string
const loans: string[] = []
const taken = new Map<string, number>()

const at = async (moment: string) => {
  service.clock.set(moment)
  token = await service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
}

async function send(what: string, path: string, body: object): Promise<string | undefined> {
  const answer = await service.post(path, { token, body })
  if (answer.status !== 200) return undefined
  taken.set(what, (taken.get(what) ?? 0) + 1)
  return answer.body.id
}

const lend = async () => {
  const terms = { customerId: 'asha', productId: 1 + random(4), principal: 1_000 + random(90_000) }
  const id = await send('loan', '/v1/loans', terms)
  if (id !== undefined) loans.push(id)
}

/** Posts something to a loan, mostly money; a third of it is dated back, also into closed months. */
async function command(today: string): Promise<void> {
  const loan = oneOf(loans)
  const what = oneOf([
    '',
    '',
    '',
    '',
    'waive-interest',
    'recover',
    'refund',
    'credit-balance-refund',
    'charge-off',
    'x',
  ])
  const ago = random(3) === 0 ? random(40) : 0
  const day = new Date(Date.parse(today) - ago * 86_400_000).toISOString().slice(0, 10)
  const isMark = what === 'charge-off' || what === 'x'
  const amount = (1 + random(oneOf([20_000, 4_000_000, 12_000_000]))) / 100
  const body = { transactionDate: day, ...(isMark ? {} : { transactionAmount: amount }) }
  const path = what === 'x' ? 'write-off' : what === '' ? 'repayments' : `repayments/${what}`
  const id = await send(what === '' ? 'repayment' : path, `/v1/loans/${loan}/${path}`, body)
  if (id === undefined || random(5) > 0) return
  if (random(2) === 0) await send('reversal', `/v1/loans/${loan}/repayments/${id}/reverse`, {})
  else
    await send('adjustment', `/v1/loans/${loan}/repayments/${id}/adjust`, {
      transactionAmount: (1 + random(900_000)) / 100,
    })
}

/** Lets some days of a month pass, with commands on each. */
async function live(month: string, days: readonly number[]): Promise<void> {
  for (const day of days) {
    const today = `${month}-${String(day).padStart(2, '0')}`
    await at(today)
    await drain(sweepJob(service.deps))
    await lend()
    await lend()
    for (let count = 0; count < 12; count++) await command(today)
  }
}

async function close(month: string, on: string): Promise<void> {
  await at(on)
  await drain(sweepJob(service.deps))
  await closePeriod(service.deps, caller, month)
}

/** Books the provisions of a product, another one for each month, in minor units; what is booked of the others is taken to 0. */
async function provide(asOf: string, amount: bigint): Promise<void> {
  const provisions = [{ productId: Number(asOf.slice(5, 7)), currency: 'TZS', amount }]
  await bookProvisions(service.deps, caller, { asOf, policy: {}, provisions })
}

async function exported(month: string): Promise<string> {
  const parts = await exportJournal(service.deps, caller, { period: month, format: 'hledger' })
  const written: string[] = []
  for await (const part of parts) written.push(part)
  return written.join('')
}

/** The balances of our trial balance in the words of hledger: debits less credits. */
async function balancesByService(month: string): Promise<Record<string, string>> {
  const asOf = lastDayOf(`${month}-01`)
  const { accounts, currency } = await getTrialBalance(service.deps, caller, { asOf })
  const said = accounts.flatMap(({ balance, ...account }): [string, string][] => {
    const net = isDebitType(account.type) ? balance : -balance
    return net === 0n ? [] : [[ledgerName(account), `${minorToText(net, currency)} ${currency.code}`]]
  })
  return Object.fromEntries(said)
}

describe.skipIf(!hasHledger())('hledger (skipped where it is not installed and cannot be)', () => {
  const files: string[] = []
  const jobs: { stop(): Promise<void> }[] = []

  beforeAll(async () => {
    service = await startService()
    jobs.push(startSequencer(service.deps, quiet), startKeeper(service.deps, quiet))
    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    await live('2026-01', [31])
    await live('2026-02', [1, 5, 10, 14, 20, 25, 28])
    await provide('2026-02-28', 1_000_050n)
    await close('2026-01', '2026-03-01')
    await provide('2026-01-31', 70_000n)
    await close('2026-02', '2026-03-02')
    await setChart(service.deps, caller, SECOND_CHART)
    await live('2026-03', [3, 8, 13, 20, 29, 31])
    await close('2026-03', '2026-04-01')
    await provide('2026-03-31', 900_000n)
    await live('2026-04', [2, 9, 30])
    for (const month of MONTHS) files.push(await exported(month))
  })
  afterAll(async () => {
    for (const job of jobs) await job.stop()
    await service?.close()
  })

  it('reads a book of every kind of change, with late money and with balances that moved', async () => {
    const { rows } = await service.deps.db.pool.query<{ kind: string; late: boolean }>(
      'SELECT kind, bool_or(value_date < booked_on) AS late FROM posting GROUP BY kind',
    )
    const kinds = rows.map(({ kind }) => kind).toSorted()
    expect(kinds).toEqual([
      ...['adjustment', 'charge_off', 'chart_changed', 'credit_balance_refund', 'disbursement', 'method_changed'],
      ...['provision', 'recovery_repayment', 'refund', 'repayment', 'reversal', 'time', 'waive_interest', 'write_off'],
    ])
    expect(rows.find(({ kind }) => kind === 'repayment')).toEqual({ kind: 'repayment', late: true })
  })

  it.each(MONTHS)('accepts the months up to %s, and comes to the balances of our trial balance', async (month) => {
    const upTo = files.slice(0, MONTHS.indexOf(month) + 1).join('\n')
    hledger(upTo, 'check', '--strict')
    const expected = await balancesByService(month)
    expect(Object.keys(expected).length).toBeGreaterThan(2)
    expect(balancesByHledger(upTo)).toEqual(expected)
  })

  it.each(MONTHS)('accepts %s alone, with what came before as opening balances', async (month) => {
    const alone = files[MONTHS.indexOf(month)]!
    hledger(alone, 'check', '--strict')
    expect(balancesByHledger(alone)).toMatchObject(await balancesByService(month))
  })

  it('accepts the example of the document', () => {
    hledger(HLEDGER, 'check', '--strict')
    expect(balancesByHledger(HLEDGER)).toEqual({
      'assets:1000 Cash and mobile money': '-90000.00 TZS',
      'assets:1100 Loans to customers': '100000.00 TZS',
      'income:4000 Interest income': '-10000.00 TZS',
    })
  })

  it('refuses a journal of which an amount was changed', () => {
    const [changed] = [files[1]!.replace(/^( {4}income:4000 Interest income {2}-)(\d+)/m, '$19$2')]
    expect(changed).not.toBe(files[1])
    expect(() => hledger(changed, 'check', '--strict')).toThrow()
  })
})
