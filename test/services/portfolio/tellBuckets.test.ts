import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain, workRound } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { startService, type TestService } from '../../support/service.ts'

// delinquency.changed is told once, when the day begins on which a loan is in another bucket (contract 11.14).

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('a loan loses its schedule by SQL')
  await at('2026-01-10T08:00:00+03:00')
  await post('/v1/customers', { externalId: 'asha' })
  // One instalment, due on 10 February.
  for (const n of [1, 2, 3])
    await post('/v1/loans', { customerId: 'asha', productId: 1, principal: 10_000, externalId: `l-${n}` })
})
afterAll(() => service.close())

async function seal(): Promise<void> {
  await drain(sequencerJob(service.deps))
}

const at = async (moment: string) => {
  service.clock.set(moment)
  await drain(sweepJob(service.deps))
}

const post = async (path: string, body: object) => {
  const answer = await service.post(path, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

async function keep(of = service): Promise<void> {
  const job = portfolioJob(of.deps)
  // A loan that is damaged is a failure of each day, and keeps no other from its bucket.
  while ((await workRound(job)).left !== 'done');
}

interface Told {
  readonly data: {
    readonly loan: { externalId: string; updatedAt: string }
    readonly delinquency: { readonly bucket: string }
  }
}
interface Feed {
  readonly items: readonly Told[]
  readonly next?: string
}

let after = ''
/** Returns the events that were told since the last look: the loan, and what is told of it. */
async function told(): Promise<[loan: string, told: object][]> {
  await seal()
  const { body } = await service.get<Feed>(
    `/v1/events?types=delinquency.changed&rows=1000${after && `&after=${after}`}`,
  )
  after = body.next ?? after
  return body.items.map(({ data }) => [data.loan.externalId, data.delinquency])
}

describe('delinquency.changed', () => {
  it('is not told of what loans are in when the service first looks', async () => {
    await at('2026-02-10T12:00:00+03:00')
    await keep()
    expect(await told()).toEqual([])
  })

  it('tells the loan as the API answers it, with the instant of its last change', async () => {
    await at('2026-02-11T00:00:05+03:00')
    service.clock.set('2026-02-11T00:00:08+03:00')
    const answers = await Promise.all([1, 2, 3].map((n) => service.get(`/v1/loans/external/l-${n}`)))
    service.clock.set('2026-02-11T00:00:10+03:00')
    await keep()
    await seal()
    const { body } = await service.get<Feed>('/v1/events?types=delinquency.changed')
    const updated = body.items.map(({ data }) => data.loan.updatedAt)
    expect(updated).toEqual(answers.map(({ body: loan }) => loan.updatedAt))
    expect(updated.map((moment) => moment.slice(0, 19))).toEqual(Array(3).fill('2026-02-11T00:00:05'))
  })

  it('is told once when the day begins, by whichever instance comes first', async () => {
    await at('2026-02-11T00:00:10+03:00')
    const other = await service.another()
    await Promise.all([keep(), keep(other), keep()])
    await other.close()
    // An instance leaves a portfolio that another one has claimed to its next round: so may each of the three have done.
    await keep()
    const first = { bucket: '1-30', daysPastDue: 1, since: '2026-02-11', policyVersion: '0', previousBucket: 'current' }
    expect(await told()).toEqual(['l-1', 'l-2', 'l-3'].map((loan) => [loan, first]))
    await at('2026-02-11T18:00:00+03:00')
    await keep()
    await at('2026-02-12T00:00:10+03:00')
    await keep()
    expect(await told()).toEqual([])
  })

  it('is told of a better bucket on the next day, and not of a loan that is closed', async () => {
    await post('/v1/loans/external/l-1/repayments', { transactionAmount: 50_000 })
    await post('/v1/loans/external/l-2/repayments/waive-interest', { transactionAmount: 1 })
    await at('2026-03-13T00:00:10+03:00')
    await keep()
    const second = { bucket: '31-60', daysPastDue: 31, since: '2026-03-13', policyVersion: '0', previousBucket: '1-30' }
    expect(await told()).toEqual([
      ['l-2', second],
      ['l-3', second],
    ])
    const { rows } = await service.deps.db.pool.query('SELECT count(*)::int AS n FROM loan_bucket')
    expect(rows).toEqual([{ n: 2 }])
  })

  it('waits for the sweep, and tells of the days of an outage once, as they are now', async () => {
    service.clock.set('2026-05-20T00:00:10+03:00')
    await post('/v1/loans', { customerId: 'asha', productId: 1, principal: 10_000, externalId: 'l-4' })
    await at('2026-06-21T00:00:10+03:00')
    await keep()
    const facts = (await told()) as [string, { bucket: string; since: string; previousBucket: string }][]
    expect(facts.map(([loan, { bucket, previousBucket, since }]) => [loan, bucket, previousBucket, since])).toEqual([
      ['l-2', 'over 90', '31-60', '2026-05-12'],
      ['l-3', 'over 90', '31-60', '2026-05-12'],
      ['l-4', '1-30', 'current', '2026-06-21'],
    ])
  })

  it('is among the events of its loan, and the book is whole', async () => {
    const { body: loan } = await service.get('/v1/loans/external/l-3')
    // Older events are not kept for receivers.
    const { body } = await service.get<Feed>(`/v1/events?loanId=${loan.id}&types=delinquency.*`)
    expect(body.items.map(({ data }) => data.delinquency.bucket)).toEqual(['over 90'])
    expect(body.items.at(-1)!.data).toMatchObject({ requestId: null, accountId: null, loanVersion: expect.any(Number) })
    const { body: record } = await service.get<Feed>(`/v1/events?loan_id=${loan.id}&types=delinquency.changed`, {
      host: 'records.localhost',
    })
    expect(record.items.at(-1)!.data.delinquency).toEqual({
      ...{ bucket: 'over 90', days_past_due: 131, since: '2026-05-12', policy_version: '0', previous_bucket: '31-60' },
    })
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('is told of the other loans where one is damaged', async () => {
    await post('/v1/loans', { customerId: 'asha', productId: 1, principal: 10_000, externalId: 'l-5' })
    const { rows } = await service.owner.pool.query<{ id: bigint }>(
      `DELETE FROM loan_period WHERE loan_id = (SELECT id FROM loan WHERE external_id = 'l-4') RETURNING loan_id AS id`,
    )
    await at('2026-07-22T00:00:10+03:00')
    await expect(drain(portfolioJob(service.deps)).catch(String)).resolves.toBe(
      `Error: loan ${rows[0]!.id} cannot be replayed, and is left out; run \`book check\``,
    )
    expect((await told()).map(([loan]) => loan)).toEqual(['l-5'])
  })

  it('is told again once a clock that was ahead is right', async () => {
    await at('2026-11-14T00:00:10+03:00')
    await keep()
    await told()
    await at('2026-07-23T00:00:10+03:00')
    await post('/v1/loans/external/l-5/repayments', { transactionAmount: 20_000 })
    await keep()
    const { rows } = await service.deps.db.pool.query(
      'SELECT told_on AS "toldOn", kept_on AS "keptOn" FROM portfolio_head',
    )
    expect(rows).toEqual([{ toldOn: '2026-07-23', keptOn: '2026-07-23' }])
    expect(await service.deps.db.pool.query("SELECT FROM portfolio_day WHERE day > '2026-07-22'")).toMatchObject({
      rowCount: 0,
    })
  })

  it('is told after an outage of days of loans that the sweep has not come to', async () => {
    await post('/v1/loans', { customerId: 'asha', productId: 1, principal: 10_000, externalId: 'l-6' })
    await keep()
    await told()
    service.clock.set('2026-08-27T00:00:10+03:00')
    await keep()
    expect((await told()).map(([loan]) => loan)).toEqual(['l-6'])
  })
})
