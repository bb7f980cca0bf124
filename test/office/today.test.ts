import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { type Office, openOffice } from '../support/office.ts'
import { randomFrom } from '../support/random.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// The page of the day, read beside the answers of the API: random books of late and early payers, day by day.

let service: TestService
let office: Office
beforeEach(async () => {
  service = await startService()
  office = openOffice(service.deps)
})
afterEach(async () => {
  await office.monitor.close()
  await service.close()
})

const operator = () => ({ token: service.tokens.operator })

interface Instalment {
  readonly dueDate: string
  readonly totalOutstanding: number
}
interface Loan extends Omit<Wire, 'repaymentSchedule'> {
  readonly id: string
  readonly status: string
  readonly principal: number
  readonly disbursedAt: string
  readonly totalOutstanding: number
  readonly repaymentSchedule: readonly Instalment[]
}
interface Transaction extends Wire {
  readonly amount: number
  readonly date: string
}

const total = (amounts: readonly number[]) => Math.round(amounts.reduce((sum, one) => sum + one, 0) * 100) / 100
const shown = (amount: number) => amount.toLocaleString('en-US', { minimumFractionDigits: 2 })
const counted = (amounts: readonly number[]) =>
  amounts.length === 0 ? '0' : `${amounts.length} for ${shown(total(amounts))} TZS`

/** Reads a list, page by page. */
async function all<Item>(path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page++) {
    const { body } = await service.get<{ items: Item[] }>(`${path}?rows=100&page=${page}`)
    items.push(...body.items)
    if (body.items.length < 100) return items
  }
}

/** Reads what the page of the day should have from the loans and the transactions that the API answers. */
async function readIndependently(today: string) {
  const loans = await all<Loan>('/v1/loans')
  const open = loans.filter(({ status }) => status === 'Active')
  const upTo = ({ repaymentSchedule }: Loan, isAsked: (dueDate: string) => boolean) =>
    total(repaymentSchedule.filter(({ dueDate }) => isAsked(dueDate)).map((one) => one.totalOutstanding))
  const rows = open
    .map((loan) => ({
      id: loan.id,
      dueToday: upTo(loan, (dueDate) => dueDate === today),
      due: upTo(loan, (dueDate) => dueDate <= today),
      outstanding: loan.totalOutstanding,
    }))
    .filter(({ dueToday }) => dueToday > 0)
    .toSorted((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1))
  const items = await all<Transaction>('/v1/transactions')
  const collected = items.filter(
    ({ type, status, transactionAt }) =>
      type === 'Repayment' && status === 'posted' && String(transactionAt).startsWith(today),
  )
  const amountsOf = (some: readonly Transaction[]) => some.map(({ amount }) => amount)
  return {
    due: counted(rows.map(({ dueToday }) => dueToday)),
    collected: counted(amountsOf(collected.filter(({ date }) => date === today))),
    earlier: counted(amountsOf(collected.filter(({ date }) => date < today))),
    disbursed: counted(
      loans.filter(({ disbursedAt }) => disbursedAt.startsWith(today)).map(({ principal }) => principal),
    ),
    rows: rows.map(({ id, dueToday, due, outstanding }) => [id, ...[dueToday, due, outstanding].map(shown)]),
  }
}

const text = (html: string) => html.replace(/<[^>]*>/g, '').trim()

/** Reads the page of the day, with each part of its list. */
async function readPages() {
  const rows: string[][] = []
  let page = (await office.look('/')).text
  const tile = (word: string) => text(new RegExp(`<dt>${word}</dt><dd>(.*?)</dd>`, 's').exec(page)![1]!)
  const tiles = {
    due: tile('Due today, still owed'),
    collected: tile('Collected today'),
    earlier: tile('Posted today, paid earlier'),
    disbursed: tile('Disbursed today'),
  }
  for (;;) {
    for (const [, row] of page.matchAll(/<tr>(.*?)<\/tr>/gs)) {
      const cells = [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => text(cell!))
      if (cells.length === 7) rows.push([cells[0]!, ...cells.slice(4)])
    }
    const next = /href="(\/\?after=\d+)"/.exec(page)
    if (!next) return { ...tiles, rows }
    page = (await office.look(next[1]!)).text
  }
}

/** Lends by instalments of a week, and lets customers pay early, late, too much and not at all, day by day. */
async function live(seed: number, onDay: (today: string) => Promise<void>): Promise<void> {
  const random = randomFrom(seed)
  const terms = {
    ...{ name: `Weekly ${seed}`, minPrincipal: 100, maxPrincipal: 100_000, numberOfRepayments: 3, interestRate: 4 },
    ...{ repaymentEvery: 1, repaymentFrequencyType: 'weeks' },
    penalty: { base: 'fixed', amount: 7, every: 'week', per: 'instalment', maxTimes: 2 },
  }
  const product = (await service.post('/v1/loan-products', { ...operator(), body: terms })).body.id
  const externalId = `customer-${seed}`
  await service.post('/v1/customers', { body: { externalId } })
  const loans: string[] = []
  const send = (path: string, body: object) => service.post(path, { ...operator(), body })
  for (let day = 1; day <= 28; day++) {
    const today = new Date(Date.UTC(2026, 2 + seed * 2, day)).toISOString().slice(0, 10)
    service.clock.set(`${today}T10:00:00+03:00`)
    await drain(sweepJob(service.deps))
    if (day < 12) {
      const body = { customerId: externalId, productId: Number(product), principal: 1_000 + random(20_000) }
      for (let count = random(8); count >= 0; count--) loans.push((await send('/v1/loans', body)).body.id)
    }
    for (let count = 0; count < 6; count++) {
      const loan = `/v1/loans/${loans[random(loans.length)]}`
      const ago = new Date(Date.parse(today) - random(6) * 86_400_000).toISOString().slice(0, 10)
      const amount = (1 + random(900_000)) / 100
      const kind = random(9)
      if (kind < 5) await send(`${loan}/repayments`, { transactionAmount: amount, transactionDate: ago })
      if (kind === 5) await send(`${loan}/repayments/waive-interest`, { transactionAmount: (1 + random(30_000)) / 100 })
      if (kind === 6) await send(`${loan}/repayments/refund`, { transactionAmount: amount / 4 })
      if (kind === 7) await send(`${loan}/charges`, { name: 'Visit', amount: 50, kind: 'fee', dueDate: today })
      if (kind === 8) await send(`${loan}/charges`, { name: 'Letter', amount: 30, kind: 'penalty' })
    }
    // On every other day before the sweep has seen what the day has changed by then.
    if (day % 2 === 0) service.clock.set(`${today}T18:00:00+03:00`)
    await onDay(today)
  }
}

describe('the page of the day', () => {
  it.each([1, 2])('has what the answers of the API come to, on each day of the random book %d', async (seed) => {
    let [listed, late] = [0, 0]
    await live(seed, async (today) => {
      const expected = await readIndependently(today)
      expect([today, await readPages()]).toEqual([today, expected])
      listed += expected.rows.length
      late += expected.rows.filter(([, dueToday, due]) => dueToday !== due).length
    })
    expect([listed, late].map((count) => count > 25)).toEqual([true, true])
  })
})
