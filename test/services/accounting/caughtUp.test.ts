import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestClose } from '../../../src/db/accounting/periods.ts'
import { DEFAULT_CHART } from '../../../src/domain/accounting/chart.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { journalCaughtUp } from '../../../src/services/accounting/caughtUp.ts'
import { setChart } from '../../../src/services/accounting/charts.ts'
import { exportJournal } from '../../../src/services/accounting/exportJournal.ts'
import { listPeriods } from '../../../src/services/accounting/periods.ts'
import { listPostings } from '../../../src/services/accounting/postings.ts'
import { getClosingText, getTrialBalance } from '../../../src/services/accounting/trialBalance.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { keepJournal } from '../../support/journal.ts'
import { givePosting } from '../../support/postings.ts'
import { startService, type TestService } from '../../support/service.ts'

const caller = operator(1, 'test')
const author = { organizationId: 1, accountId: null, requestId: null }

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('journals and postings are inserted by SQL')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 6_000 } })
  service.clock.set('2026-02-01')
  await drain(sweepJob(service.deps))
  await requestClose(service.deps.db, author, { firstDay: '2026-01-01', month: '2026-01', now: service.clock.now() })
  await keepJournal(service.deps)
  // The journal does not come to this one.
  await service.post('/v1/customers', { body: { externalId: 'juma' } })
})
afterAll(() => service.close())

describe('while the journal is behind', () => {
  it('what is booked in a closed month is answered at once', async () => {
    const { deps } = service
    const { accounts } = await getTrialBalance(deps, caller, { asOf: '2026-01-31' })
    expect(accounts.find(({ code }) => code === '1100')).toMatchObject({ debit: 600_000n })
    const { items } = await listPostings(deps, caller, { from: '2026-01-01', to: '2026-01-31', rows: 10 })
    expect(items).toMatchObject([{ kind: 'disbursement' }])
    const file: string[] = []
    for await (const part of await exportJournal(deps, caller, { period: '2026-01', format: 'csv' })) file.push(part)
    expect(file.join('')).toContain('disbursement')
    expect(await getClosingText(deps, caller, '2026-01-31')).toContain('TZS,1100,6000.00,0.00\n')
    expect(await listPeriods(deps, caller)).toMatchObject([{ month: '2026-02' }, { month: '2026-01', state: 'closed' }])
  })

  it('an answer of an open day waits, and is unavailable in the end', async () => {
    const hasty = { ...service.deps, journalPatience: { ...service.deps.journalPatience, readMs: 1 } }
    await expect(journalCaughtUp(hasty, 1)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the journal has not come to the last changes yet; try again in some seconds',
    })
  })

  it('requests that wait share the looks at the journal, and go on once it has all', async () => {
    const { db } = service.deps
    const looks = { count: 0 }
    const counting = (statement: { name?: string }, ...rest: unknown[]) => {
      if (statement.name === 'read-journal-head') looks.count++
      return (db.pool.query as (...all: unknown[]) => unknown)(statement, ...rest)
    }
    const pool = new Proxy(db.pool, { get: (from, name) => (name === 'query' ? counting : Reflect.get(from, name)) })
    const deps = { ...service.deps, db: { ...db, pool } }
    const REQUESTS = 40
    const waiting = Promise.all(Array.from({ length: REQUESTS }, () => journalCaughtUp(deps, 1)))
    const open = getTrialBalance(service.deps, caller, { asOf: '2026-02-01' })
    const economic = getTrialBalance(service.deps, caller, { asOf: '2026-01-31', basis: 'economic' })
    await keepJournal(service.deps)
    const [head] = await waiting
    expect((await open).sequence).toBe(head!.sequence)
    expect((await economic).sequence).toBe(head!.sequence)
    // Each looks once itself.
    expect(looks.count - REQUESTS).toBeLessThan(REQUESTS)
  })
})

it('answers a chart that the journal does not come to in time as one that is not in force', async () => {
  const { accounts, slots } = DEFAULT_CHART
  const request = {
    accounts: [...accounts, { code: '1001', name: 'M-PESA', type: 'asset' as const }],
    slots,
    method: 'cash',
  }
  const hasty = { ...service.deps, journalPatience: { ...service.deps.journalPatience, changeMs: 1 } }
  expect(await setChart(hasty, caller, request)).toMatchObject({
    version: 2,
    inForce: false,
    countsFrom: null,
  })
  await keepJournal(service.deps)
  expect(await setChart(service.deps, caller, request)).toMatchObject({
    version: 2,
    inForce: true,
    countsFrom: '2026-02-01',
  })
})

it('leaves out months that were over before the journal was opened: they are not open', async () => {
  await givePosting(service.owner, {
    organizationId: 9,
    id: 1,
    bookedOn: '2025-12-05',
    amounts: { cash: 1n, waivers: -1n },
  })
  await service.owner.pool.query(`INSERT INTO journal (organization_id, change_id, sequence, posting_id, open_from, chart_version)
    VALUES (9, 0, 0, 1, '2026-02-01', 1)`)
  expect((await listPeriods(service.deps, operator(9, 'test'))).map(({ month }) => month)).toEqual(['2026-02'])
})
