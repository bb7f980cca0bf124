import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findKeptDay } from '../../../src/db/portfolio/keptDays.ts'
import { addPeriods } from '../../../src/domain/dates.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioCsv } from '../../../src/services/portfolio/csv.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { getPortfolioAtRisk } from '../../../src/services/portfolio/portfolio.ts'
import { openOffice } from '../../support/office.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

// The portfolio by restructured or not (contract 11.9): a loan is restructured from the day from which a restructure counts, on the
// days that are kept, too, and until the restructure is reversed.

const caller = operator(1, 'test')
const FIRST = '2026-01-10'
const TODAY = '2026-03-20'
/** The day from which the restructure that is told on `TODAY` counts. */
const ON = '2026-03-15'
const PRINCIPAL = 10_000

let service: TestService
/** The id of the restructure that was told late. */
let late: string

const at = async (moment: string) => {
  service.clock.set(moment)
  await drain(sweepJob(service.deps))
  await drain(sequencerJob(service.deps))
}
const post = async (path: string, body: object) => {
  const answer = await service.post<{ id: string; restructures: { id: string }[] }>(path, {
    body,
    token: service.tokens.operator,
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const restructure = async (loan: string, more: object = {}) => {
  const body = { change: { postponeBy: { periods: 2 } }, interest: 'none', reason: 'hardship', ...more }
  return (await post(`/v1/loans/external/${loan}/restructures`, body)).restructures.at(-1)!.id
}
const keep = () => drain(portfolioJob(service.deps))
const kept = (day: string) => findKeptDay(service.deps.db, { organizationId: 1, policyVersion: 0, day })

/** Returns the numbers of loans that are not restructured, and that are, on a day. */
async function countsOn(asOf: string, knownAt?: number): Promise<number[]> {
  const { groups } = await getPortfolioAtRisk(service.deps, caller, { asOf, knownAt, by: ['restructured'] })
  return [false, true].map((is) => groups.find(({ isRestructured }) => isRestructured === is)?.total.loans ?? 0)
}

beforeAll(async () => {
  service = await startService()
  await at(`${FIRST}T08:00:00+03:00`)
  await post('/v1/customers', { externalId: 'asha' })
  // Of product 2 all loans are restructured.
  for (const externalId of ['early', 'late', 'plain'])
    await post('/v1/loans', {
      ...{ customerId: 'asha', principal: PRINCIPAL, externalId },
      productId: externalId === 'early' ? 2 : 1,
    })
  await at('2026-01-20T08:00:00+03:00')
  await restructure('early')
  await at(`${TODAY}T00:00:40+03:00`)
  await keep()
})
afterAll(() => service.close())

describe('the portfolio by restructured or not', () => {
  it('has a loan among the restructured ones from the day of its restructure on', async () => {
    expect(await countsOn('2026-01-19')).toEqual([3, 0])
    expect(await countsOn('2026-01-20')).toEqual([2, 1])
    for (const day of ['2026-03-14', ON, '2026-03-19']) {
      expect(await kept(day), day).toBeDefined()
      expect(await countsOn(day), day).toEqual([2, 1])
    }
    expect(await countsOn(TODAY)).toEqual([2, 1])
    const { groups } = await getPortfolioAtRisk(service.deps, caller, { by: ['product', 'restructured'] })
    expect(groups.map(({ productId, isRestructured, total }) => [productId, isRestructured, total.loans])).toEqual([
      [1, false, 2],
      [2, true, 1],
    ])
  })

  it('counts a restructure that is told late from its day on, also on days that were kept before', async () => {
    late = await restructure('late', { effectiveDate: ON })
    expect(await kept('2026-03-14')).toBeDefined()
    expect(await countsOn('2026-03-14')).toEqual([2, 1])
    for (const day of [ON, '2026-03-19']) {
      expect(await kept(day), day).toBeUndefined()
      expect(await countsOn(day), day).toEqual([1, 2])
    }
    expect(await countsOn(TODAY)).toEqual([1, 2])
    expect(await countsOn(ON, service.deps.now(1) - 60_000_000)).toEqual([2, 1])
    await at('2026-03-21T00:00:40+03:00')
    await keep()
    for (const day of [ON, '2026-03-19', TODAY]) {
      expect(await kept(day), day).toBeDefined()
      expect(await countsOn(day), day).toEqual([1, 2])
    }
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('is answered over HTTP, in a CSV file, at the command line and on the page of arrears', async () => {
    const get = (query: string, accept = 'application/json') =>
      service.get<{ groups: Record<string, unknown>[] }>(`/v1/portfolio/par?${query}`, {
        token: service.tokens.operator,
        headers: { accept },
      })
    const { body } = await get('by=restructured')
    expect(
      body.groups.map(({ restructured, loans, principalOutstanding }) => [
        ...[restructured, loans, principalOutstanding],
      ]),
    ).toEqual([
      [false, 1, PRINCIPAL],
      [true, 2, 2 * PRINCIPAL],
    ])
    expect((await get('by=product')).body.groups[0]).not.toHaveProperty('restructured')
    const { text } = await get('by=restructured', 'text/csv')
    expect(text.split('\n')[0]).toMatch(/^\uFEFFasOf,currencyCode,productId,month,restructured,officerId,row,/)
    expect(text).toContain(`2026-03-21,TZS,,,true,,total,,2,${2 * PRINCIPAL}.00,`)
    const whole = portfolioCsv(await getPortfolioAtRisk(service.deps, caller, {}))
    expect(whole).toContain(`2026-03-21,TZS,,,,,total,,3,${3 * PRINCIPAL}.00,`)
    const { out } = await opsOn(service)('portfolio par --by restructured')
    expect(out).toMatch(/TZS +no +all +1 +10000\.00/)
    expect(out).toMatch(/TZS +yes +all +2 +20000\.00/)
    const office = openOffice(service.deps)
    const page = (await office.look('/arrears')).text
    expect(page).toMatch(
      /Not restructured<\/td><td class="figure">10,000\.00<.*\n*.*Restructured<\/td><td class="figure">20,000\.00</s,
    )
    await office.monitor.close()
  })

  it('takes a loan back whose restructure is reversed, on the kept days, too', async () => {
    await post(`/v1/loans/external/late/restructures/${late}/reverse`, {})
    for (const day of [ON, TODAY, '2026-03-21']) expect(await countsOn(day), day).toEqual([2, 1])
    expect(await countsOn('2026-03-21', service.deps.now(1) - 30_000)).toEqual([1, 2])
    await at('2026-03-22T00:00:40+03:00')
    await keep()
    for (let back = 1; back <= 31; back++) {
      const day = addPeriods('2026-03-22', -back, 'days')
      expect(await kept(day), day).toBeDefined()
      expect(await countsOn(day), day).toEqual([2, 1])
    }
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('is named by book check where a kept day says otherwise', async () => {
    await service.owner.pool.query(
      `UPDATE portfolio_day SET cells = jsonb_set(cells, '{0,3}', 'true') WHERE day = '2026-03-20'`,
    )
    const { differences } = await checkBook(service.deps)
    expect(differences.map(({ of }) => of)).toEqual(['portfolio of 2026-03-20'])
    await service.owner.pool.query('DELETE FROM portfolio_day')
  })
})
