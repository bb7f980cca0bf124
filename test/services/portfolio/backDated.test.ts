import { afterAll, beforeAll, expect, it } from 'vitest'
import { addPeriods } from '../../../src/domain/dates.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { getDelinquency } from '../../../src/services/delinquency/loanDelinquency.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { readPortfolio, readRollRates } from '../../../src/services/portfolio/portfolio.ts'
import { within } from '../../support/patience.ts'
import { randomFrom } from '../../support/random.ts'
import { startService, type TestService } from '../../support/service.ts'

// A book that is kept day by day, and the same book with all its repayments posted on its last day, dated back, in any
// order, some of them wrong at first: both answer the same, and what was kept of the days before is made again (contract 11).

const FIRST = '2026-01-31'
const LAST = '2026-05-31'
const LOANS = 12
const DAYS = ['2026-02-01', '2026-02-28', '2026-03-01', '2026-03-31', '2026-04-17', '2026-05-30', LAST]
/** The days on which something is paid. */
const STEPS = Array.from({ length: 14 }, (_, step) => addPeriods(FIRST, step * 9, 'days'))
const caller = operator(1, 'test')

interface Payment {
  readonly loan: string
  readonly day: string
  readonly amount: number
  /** What is wrong when it is posted first, later than its day: nothing, its amount, or all of it. */
  readonly mistake: 'none' | 'amount' | 'all'
}

const random = randomFrom(Number(process.env.MKOPO_SEED ?? 5))
const payments: readonly Payment[] = Array.from(
  { length: 240 },
  (): Payment => ({
    loan: `l-${random(LOANS)}`,
    day: STEPS[random(STEPS.length)]!,
    amount: 1 + random(600),
    mistake: (['none', 'none', 'none', 'amount', 'all'] as const)[random(5)]!,
  }),
)

let [inOrder, backDated]: TestService[] = []
beforeAll(async () => {
  inOrder = await startService()
  backDated = await startService()
  for (const service of [inOrder, backDated]) await lend(service)
  await keepInOrder(inOrder)
  await keepBackDated(backDated)
}, within(300_000))
afterAll(() => Promise.all([inOrder?.close(), backDated?.close()]))

const both = () => [inOrder!, backDated!] as const

async function at(service: TestService, day: string): Promise<void> {
  service.clock.set(`${day}T12:00:00+03:00`)
  await drain(sweepJob(service.deps))
  const { email, password } = DEMO_OPERATOR
  tokens.set(service, await service.deps.signIn.issueToken(email, password, '127.0.0.1'))
}

/** The token of each service's operator, of the day on which the service's clock stands. */
const tokens = new Map<TestService, string>()

async function post(service: TestService, path: string, body: object) {
  const answer = await service.post(path, { body, token: tokens.get(service)! })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

async function lend(service: TestService): Promise<void> {
  await at(service, FIRST)
  await post(service, '/v1/customers', { externalId: 'asha' })
  for (let n = 0; n < LOANS; n++) {
    const terms = { customerId: 'asha', productId: 1 + (n % 4), principal: 30_000 + 1_000 * n, externalId: `l-${n}` }
    await post(service, '/v1/loans', terms)
  }
}

async function keepInOrder(service: TestService): Promise<void> {
  for (const day of [...STEPS, LAST]) {
    await at(service, day)
    for (const { loan, amount } of payments.filter((one) => one.day === day && one.mistake !== 'all'))
      await post(service, `/v1/loans/external/${loan}/repayments`, { transactionAmount: amount })
  }
}

async function keepBackDated(service: TestService): Promise<void> {
  await at(service, LAST)
  await seal(service)
  await drain(portfolioJob(service.deps))
  // Without any repayment, these days are kept until the first one makes them stale.
  for (const asOf of DAYS) await readPortfolio(service.deps, caller, { asOf })
  const keys = new Map(payments.map((one) => [one, random(1_000_000)]))
  const shuffled = payments.toSorted((a, b) => keys.get(a)! - keys.get(b)!)
  for (const [place, { loan, day: transactionDate, amount, mistake }] of shuffled.entries()) {
    const path = `/v1/loans/external/${loan}/repayments`
    const transactionAmount = mistake === 'none' ? amount : amount * 3
    const { id } = await post(service, path, { transactionAmount, transactionDate })
    if (mistake === 'amount')
      await post(service, `${path}/${id}/adjust`, { transactionAmount: amount, transactionDate })
    if (mistake === 'all') await post(service, `${path}/${id}/reverse`, {})
    if (place % 40 === 0) await seal(service)
    // Days are kept between the repayments, too.
    if (place % 60 === 0) for (const asOf of DAYS) await readPortfolio(service.deps, caller, { asOf })
  }
}

async function seal({ deps }: TestService): Promise<void> {
  await drain(sequencerJob(deps))
}

it('has the same spans of each loan', async () => {
  let spans = 0
  for (let n = 0; n < LOANS; n++) {
    const ref = { externalId: `l-${n}` }
    const [one, other] = await Promise.all(both().map(({ deps }) => getDelinquency(deps, caller, ref, {})))
    expect([n, other!.spans]).toEqual([n, one!.spans])
    spans += other!.spans.length
  }
  expect(spans).toBeGreaterThan(LOANS * 2)
})

it.each([undefined, 'cbk'])('has the same portfolio on each day, by the policy %s', async (policy) => {
  for (const asOf of DAYS) {
    const [one, other] = await Promise.all(both().map(({ deps }) => readPortfolio(deps, caller, { asOf, policy })))
    expect([asOf, other!.cells]).toEqual([asOf, one!.cells])
    // The second answer is of what was kept.
    expect((await readPortfolio(backDated!.deps, caller, { asOf, policy })).cells).toEqual(one!.cells)
  }
})

it('has the same roll rates', async () => {
  for (const [from, to] of [
    ['2026-02-01', '2026-03-31'],
    ['2026-03-01', '2026-04-17'],
    ['2026-02-28', LAST],
  ] as const) {
    const [one, other] = await Promise.all(both().map(({ deps }) => readRollRates(deps, caller, { from, to })))
    expect([from, other!.rates]).toEqual([from, one!.rates])
  }
})

it('has a whole book, with the days that are kept', async () => {
  await seal(backDated!)
  expect((await checkBook(backDated!.deps)).differences).toEqual([])
})
