import { DEFAULT_CHART } from '../../src/domain/accounting/chart.ts'
import { operator } from '../../src/services/access/caller.ts'
import { setChart } from '../../src/services/accounting/charts.ts'
import { closePeriod } from '../../src/services/accounting/closePeriod.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { startKeeper, startSequencer } from './jobs.ts'
import { quiet } from './quiet.ts'
import { randomFrom } from './random.ts'
import { aBasicLoan, aBorrower, anExtendedLoan } from './recordBodies.ts'
import { type RecordId, recordIdsFrom } from './recordIds.ts'
import { recordsOf } from './records.ts'
import { startService, type TestService } from './service.ts'

/** The months in which a random book lives; all but the last are closed. */
export const MONTHS = ['2026-01', '2026-02', '2026-03', '2026-04'] as const

/** The chart from March on: cash and losses are on other accounts, and two products and the loans without one accrue. */
export const SECOND_CHART = {
  accounts: [
    ...DEFAULT_CHART.accounts,
    { code: '1001', name: 'Wallet: of "M-PESA"; and bank', type: 'asset' as const },
    { code: '1190', name: 'Allowance for losses', type: 'asset' as const },
  ],
  slots: { ...DEFAULT_CHART.slots, cash: '1001', write_offs: '1190', charge_offs: '1190' },
  method: { default: 'accrual_periodic', products: { '1': 'cash', '2': 'accrual_upfront', '4': 'cash' } },
}

/**
 * Lets a lender's book live for four months over HTTP, by random commands in both styles: a third of them is dated back, also
 * into closed months. The sweep, the sequencer and the keeper run beside.
 * @param onDay called after the commands of each day
 */
export async function openRandomBook(seed: number, onDay?: (service: TestService, today: string) => Promise<void>) {
  const service = await startService()
  const jobs = [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
  const records = recordsOf(service)
  const caller = operator(1, 'test')
  const random = randomFrom(seed)
  const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!
  const loans: string[] = []
  /** Loans of a record system, by their ids. */
  const recorded: RecordId[] = []
  let token = ''
  const nextId = recordIdsFrom(seed, [aBorrower.id])

  const at = async (moment: string) => {
    service.clock.set(moment)
    token = await service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
    await drain(sweepJob(service.deps))
  }

  const send = async (path: string, body: object): Promise<string | undefined> => {
    const { status, body: answer } = await service.post(path, { token, body })
    return status === 200 ? answer.id : undefined
  }

  const lend = async (today: string) => {
    const terms = { customerId: 'asha', productId: 1 + random(4), principal: 1_000 + random(90_000) }
    const id = await send('/v1/loans', terms)
    if (id !== undefined) loans.push(id)
    const loan_id = nextId()
    const amount = 500 + random(5_000)
    const body = oneOf([
      { ...aBasicLoan, loan_id, principal_amount: amount, released_date: today, due_date: '2026-04-15' },
      { ...anExtendedLoan, loan_id, loan_principal_amount: amount, loan_released_date: today },
    ])
    if ((await records.post('/v1/loans', { body })).status !== 200) return
    loans.push(String(loan_id))
    recorded.push(loan_id)
  }

  const restate = () => {
    const principal = 500 + random(9_000)
    return records.put(`/v1/loans/${oneOf(recorded)}`, {
      body: oneOf([{ principal_amount: principal }, { loan_principal_amount: principal }, { due_date: '2026-05-02' }]),
    })
  }

  /** Posts something to a loan, mostly money; a part of it is undone or corrected. */
  const command = async (today: string) => {
    if (random(12) === 0) {
      await restate()
      return
    }
    const types = ['', '', '', '', 'waive-interest', 'recover', 'refund', 'credit-balance-refund', 'charge-off']
    const type = oneOf([...types, 'write-off'])
    const ago = random(3) === 0 ? random(40) : 0
    const transactionDate = new Date(Date.parse(today) - ago * 86_400_000).toISOString().slice(0, 10)
    const isMark = type === 'charge-off' || type === 'write-off'
    const isSmall = type === 'waive-interest' || type === 'refund'
    const transactionAmount = (1 + random(oneOf(isSmall ? [5_000] : [20_000, 4_000_000, 12_000_000]))) / 100
    const body = { transactionDate, ...(isMark ? {} : { transactionAmount }) }
    const loan = `/v1/loans/${oneOf(loans)}`
    const id = await send(
      type === 'write-off' ? `${loan}/${type}` : `${loan}/repayments/${type}`.replace(/\/$/, ''),
      body,
    )
    if (id === undefined || random(5) > 0) return
    if (random(2) === 0) await send(`${loan}/repayments/${id}/reverse`, {})
    else await send(`${loan}/repayments/${id}/adjust`, { transactionAmount: (1 + random(900_000)) / 100 })
  }

  /** Lets some days of a month pass, with commands on each. */
  const live = async (month: string, days: readonly number[]) => {
    for (const day of days) {
      const today = `${month}-${String(day).padStart(2, '0')}`
      await at(today)
      await lend(today)
      for (let count = 0; count < 12; count++) await command(today)
      await onDay?.(service, today)
    }
  }

  const close = async (month: string, on: string) => {
    await at(on)
    await closePeriod(service.deps, caller, month)
  }

  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await records.post('/v1/borrowers', { body: aBorrower })
  await live('2026-01', [31])
  await live('2026-02', [1, 5, 10, 14, 20, 25, 28])
  await close('2026-01', '2026-03-01')
  await close('2026-02', '2026-03-02')
  await setChart(service.deps, caller, SECOND_CHART)
  await live('2026-03', [3, 8, 13, 20, 29, 31])
  await close('2026-03', '2026-04-01')
  await live('2026-04', [2, 9, 30])
  return {
    service,
    caller,
    loans,
    end: async () => {
      for (const job of jobs) await job.stop()
      await service.close()
    },
  }
}

export type RandomBook = Awaited<ReturnType<typeof openRandomBook>>
