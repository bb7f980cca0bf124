import { afterAll, beforeAll, expect, it } from 'vitest'
import { addPeriods } from '../../../src/domain/dates.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { type Delinquency, getDelinquency } from '../../../src/services/delinquency/loanDelinquency.ts'
import { setPolicy } from '../../../src/services/delinquency/policies.ts'
import { type PortfolioDay, readPortfolio } from '../../../src/services/portfolio/portfolio.ts'
import { openRandomBook, type RandomBook } from '../../support/randomBook.ts'
import type { TestService } from '../../support/service.ts'

// What is answered as it was known at an instant is what was answered at that instant (contract 11.4, 11.9): each answer is
// recorded at the end of its day, and asked for again when the book has gone on for months, with changes that are dated
// back, reversals, adjustments, other terms of loans of a record system, and another policy.

const caller = operator(1, 'test')

/** What was answered at an instant. */
interface Recorded {
  readonly at: number
  readonly portfolios: readonly (readonly [asked: { asOf?: string; policy?: string }, answer: PortfolioDay])[]
  readonly loans: readonly (readonly [id: bigint, asked: { asOf?: string }, answer: Delinquency])[]
}

/** Days of which what is known changes later, and policies other than the one in force. */
const ASKED = [
  ...[{}, { asOf: '2026-01-31' }, { asOf: '2026-02-09' }, { asOf: '2026-03-14' }],
  { asOf: '2026-02-20', policy: 'cbk' },
]

const recorded: Recorded[] = []
let book: RandomBook

beforeAll(async () => {
  book = await openRandomBook(Number(process.env.MKOPO_SEED ?? 7), async (service, today) => {
    if (today === '2026-03-08')
      await setPolicy(service.deps, caller, {
        buckets: [
          { name: 'fine', fromDays: 0, toDays: 9 },
          { name: 'late', fromDays: 10, toDays: 24 },
          { name: 'bad', fromDays: 25, provisionRate: { units: 50n, scale: 0 } },
        ],
        ...{ countFrom: 'first_arrears', cureDays: 6, materiality: { percentOfPrincipal: { units: 1n, scale: 0 } } },
      })
    recorded.push(await record(service, today))
  })
})
afterAll(() => book?.end())

const idsOf = async ({ deps }: TestService): Promise<bigint[]> => {
  const { rows } = await deps.db.pool.query<{ id: bigint }>('SELECT id FROM loan WHERE organization_id = 1 ORDER BY id')
  return rows.map(({ id }) => id)
}

async function record(service: TestService, today: string): Promise<Recorded> {
  const { deps } = service
  const portfolios: [{ asOf?: string; policy?: string }, PortfolioDay][] = []
  for (const asked of ASKED)
    if (asked.asOf === undefined || asked.asOf <= today)
      portfolios.push([asked, await readPortfolio(deps, caller, asked)])
  const loans: [bigint, { asOf?: string }, Delinquency][] = []
  for (const id of await idsOf(service)) {
    const answer = await getDelinquency(deps, caller, { id }, {})
    loans.push([id, {}, answer])
    const asOf = addPeriods(today, -9, 'days')
    if (asOf >= answer.loan.terms.disbursedOn)
      loans.push([id, { asOf }, await getDelinquency(deps, caller, { id }, { asOf })])
  }
  return { at: deps.now(1), portfolios, loans }
}

it('is for each portfolio what was answered at that instant', async () => {
  const { deps } = book.service
  let changed = 0
  for (const { at: knownAt, portfolios } of recorded)
    for (const [asked, { cells, policy, asOf }] of portfolios) {
      const then = await readPortfolio(deps, caller, { ...asked, knownAt })
      const name = `${JSON.stringify(asked)} known at ${new Date(knownAt).toISOString()}`
      expect({ name, asOf: then.asOf, policy: then.policy, cells: then.cells }).toEqual({ name, asOf, policy, cells })
      const now = await readPortfolio(deps, caller, { ...asked, asOf })
      if (JSON.stringify(now.cells, text) !== JSON.stringify(cells, text)) changed++
    }
  // What is known now is something else.
  expect(changed).toBeGreaterThan(recorded.length)
})

const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

it('is for each loan what was answered at that instant', async () => {
  const { deps } = book.service
  let [answered, restated] = [0, 0]
  for (const { at: knownAt, loans } of recorded)
    for (const [id, asked, { spans, policy, asOf, loan }] of loans) {
      const then = await getDelinquency(deps, caller, { id }, { ...asked, knownAt })
      const name = `loan ${id} ${JSON.stringify(asked)} known at ${new Date(knownAt).toISOString()}`
      expect({ name, asOf: then.asOf, policy: then.policy, spans: then.spans }).toEqual({ name, asOf, policy, spans })
      answered++
      if (then.loan.terms.principal !== loan.terms.principal) restated++
    }
  expect(answered).toBeGreaterThan(200)
  expect(restated).toBeGreaterThan(5)
})
