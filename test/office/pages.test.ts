import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { html } from '../../src/api/http/html.ts'
import { buildApp } from '../../src/app/app.ts'
import { addPeriods } from '../../src/domain/dates.ts'
import { Fold } from '../../src/domain/loan/fold.ts'
import { ago, money, percent, short } from '../../src/office/layout/page.ts'
import { rememberRecent } from '../../src/office/recent.ts'
import { createTotals, type Totals } from '../../src/services/book/totals.ts'
import type { Deps } from '../../src/services/deps.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { combineListeners, noListener } from '../../src/services/listener.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { type Office, openOffice } from '../support/office.ts'
import { opsOn } from '../support/ops.ts'
import { aBasicLoan, aBorrower } from '../support/recordBodies.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let app: FastifyInstance
let office: Office
let totals: Totals
let loan: string

const look = (url: string) => office.look(url)

/** One of now: others may have been revoked. */
const partnerToken = () => service.deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')

beforeAll(async () => {
  service = await startService()
  const recent = rememberRecent(service.clock.machineNow)
  const deps: Deps = { ...service.deps, listener: combineListeners(noListener, recent.listener) }
  app = await buildApp(deps)
  totals = createTotals(deps)
  office = openOffice(deps, { recent, totals })
  await drain(totals.job)
  const { host } = new URL(deps.config.baseUrl)
  const headers = { host, authorization: `Bearer ${service.tokens.partner}` }
  const post = async (url: string, payload: object) =>
    (await app.inject({ method: 'POST', url, headers, payload })).json()
  await post('/v1/customers', { externalId: '<b>asha</b> 0712345678' })
  const customerId = '<b>asha</b> 0712345678'
  loan = (await post('/v1/loans', { customerId, productId: 2, principal: 100_000 })).id
  await post('/v1/loans', { customerId, productId: 3, principal: 60_000, externalId: '<script>' })
  service.clock.set('2026-02-10')
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 30_000 })
  service.clock.set('2026-04-01')
  await drain(sweepJob(deps))
  recent.listener.swept?.(2)
  await post(`/v1/loans/${loan}/repayments`, {
    ...{ transactionAmount: 40_000, transactionDate: '2026-03-20', idempotencyKey: 'used twice' },
  })
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: -5, 'Asha +254712345678': 1 })
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 2, idempotencyKey: 'used twice' })
  await app.inject({ url: '/v1/customers/external/0712345678', headers })
  await app.inject({ url: '/v1/customers', headers: { host } })
  await drain(totals.job)
})
afterAll(async () => {
  await office.monitor.close()
  await app.close()
  await service.close()
})

describe('the page of the book', () => {
  it('shows outstanding, overdue and portfolio at risk by product, and their total', async () => {
    const { text } = await look('/book')
    const rows = [...text.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]+>/g, '')),
    )
    // 100,000 + 10,000 interest + 10,000 penalty − 70,000; principal 50,000 of it.
    expect(rows).toContainEqual([
      ...['Flat 10% monthly, late penalty', 'TZS', '1', '50,000.00', '1', '50,000.00'],
      ...['100.0 %', '100.0 %', '0.0 %', '0.0 %'],
    ])
    expect(rows).toContainEqual([
      ...['All', 'TZS', '2', '128,000.00', '2', '76,000.00'],
      ...['100.0 %', '100.0 %', '0.0 %', '0.0 %'],
    ])
  })

  it('plots what was disbursed and collected by day', async () => {
    const { text } = await look('/book')
    expect(text).toContain('aria-label="Disbursed and collected by day, in TZS"')
    expect(text).toContain('<title>2026-03-20: disbursed 0.00, collected 40,000.00</title>')
    expect(text.match(/<g><title>/g)).toHaveLength(31)
  })

  it('shows the latest refusals, latest first, without what the caller sent, and the state of the sweep', async () => {
    const { text } = await look('/book')
    expect(text).toMatch(/unauthenticated.*\/v1\/customers\/external\/:externalId.*…: is not a known field/s)
    expect(text).toContain('Last sweep of this instance')
    expect(text).not.toMatch(/asha|Asha|712345678|<script/i)
  })

  it('shows that a token seen before came with another amount', async () =>
    expect((await look('/book')).text).toMatch(
      /idempotency_mismatch<\/td><td[^>]*>a token seen before came with another transactionAmount</,
    ))

  it('shows the head of the chain, and what waits to be sealed', async () => {
    const waiting = (await look('/book')).text
    expect(waiting).toMatch(/Last change sealed<\/dt><dd>none yet<.*Changes not sealed yet<\/dt><dd>\d+</s)
    expect(waiting).not.toContain('mkopo-head')
    await drain(sequencerJob(service.deps))
    const { text } = await look('/book')
    const head = (await opsOn(service)('book seal')).out.split('\n')[1]
    expect(text).toContain(`<code>${head}</code>`)
    expect(text).toMatch(/Changes not sealed yet<\/dt><dd>0</)
  })

  it('loads nothing but its own style, runs no script, and is not kept', async () => {
    const { headers, text } = await look('/book')
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(
      [...text.matchAll(/(?:src|href)="([^"]*)"/g)]
        .map(([, link]) => link!)
        .filter((link) => !/^[/#](?!\/)/.test(link)),
    ).toEqual([])
    expect((await office.monitor.inject('/style.css')).headers['content-type']).toMatch(/^text\/css/)
  })

  it('is there before anything was summed up', async () => {
    const empty = openOffice(service.deps)
    const { status, text } = await empty.look('/book')
    expect(status).toBe(200)
    expect(text).toContain('Not summed up yet')
  })
})

describe('the page of a loan', () => {
  it('shows its state, its schedule, its entries and its balance', async () => {
    const { text } = await look(`/loans/${loan}`)
    expect(text).toMatch(/<dt>Outstanding<\/dt><dd>50,000\.00<\/dd>/)
    expect(text).toMatch(/<caption>Schedule<\/caption>.*2026-02-28.*10,000\.00/s)
    expect(text).toMatch(
      /<caption>Transactions, newest first<\/caption>.*2026-03-20.*40,000\.00.*2026-02-10.*30,000\.00/s,
    )
    const told = [...text.matchAll(/<circle[^>]*><title>([^<]*)<\/title>/g)].map(([, one]) => one)
    expect(told).toEqual([
      '2026-01-31: 110,000.00 owed',
      '2026-02-10: 80,000.00 owed',
      '2026-02-28: 90,000.00 owed',
      '2026-03-20: 50,000.00 owed',
    ])
    expect(text).not.toMatch(/<b>asha|<script/i)
  })

  it('404 for a loan that this organization does not have, and for what cannot be one', async () => {
    for (const id of ['1', 'abc', '9223372036854775808', '99999999999999999999'])
      expect(await look(`/loans/${id}`)).toMatchObject({
        status: 404,
        text: expect.stringContaining('no loan has that id'),
      })
    expect((await look('/nothing')).status).toBe(404)
  })

  it('shows a loan whose id a record system chose, up to the largest there is', async () => {
    const id = '9223372036854775807'
    const { host } = new URL(service.deps.config.recordsUrl)
    const token = await partnerToken()
    const loanOf = JSON.stringify(aBasicLoan).replace('"loan_id":1', `"loan_id":${id}`)
    expect((await service.post('/v1/borrowers', { host, token, body: aBorrower })).status).toBe(200)
    expect((await service.post('/v1/loans', { host, token, raw: loanOf })).status).toBe(200)
    expect(await look(`/loans/${id}`)).toMatchObject({ status: 200, text: expect.stringContaining(`Loan ${id}`) })
  })

  it('of a loan with many entries applies each of them twice at most, and lists the latest 1,000', async () => {
    const token = await partnerToken()
    const body = { customerId: '<b>asha</b> 0712345678', productId: 3, principal: 600_000 }
    const { id } = (await service.post('/v1/loans', { token, body })).body
    service.clock.set('2026-06-01')
    const entries = 1_010
    const repayments = Array.from({ length: entries }, (_, index) => ({
      transactionAmount: 100,
      transactionDate: addPeriods('2026-04-01', Math.floor(index / 20), 'days'),
    }))
    await Promise.all(repayments.map((one) => service.post(`/v1/loans/${id}/repayments`, { token, body: one })))
    const applied = vi.spyOn(Fold.prototype, 'apply')
    const { text } = await look(`/loans/${id}`)
    expect(applied.mock.calls.length).toBeLessThanOrEqual(2 * entries)
    applied.mockRestore()
    expect(text.match(/<td>Repayment<\/td>/g)).toHaveLength(1_000)
    expect(text).toContain('Transactions, newest first: the latest 1000 of 1010')
    expect(text).toContain('<title>2026-05-21: 679,000.00 owed</title>')
  })
})

describe('the words of a page', () => {
  it('escape what is put in', () => {
    expect(html`<p title="${'"'}">${['<b>', 1n]}${html`<i>`}${undefined}${false}</p>`.text).toBe(
      '<p title="&quot;">&lt;b&gt;1<i></p>',
    )
  })

  it.each([
    [money(123_456_789n, 'TZS'), '1,234,567.89'],
    [money(-123_456n, 'UGX'), '-123,456'],
    [money(0n, 'KES'), '0.00'],
    [percent(1n, 3n), '33.3 %'],
    [percent(0n, 0n), '–'],
    [short(0), '0'],
    [short(1_250_000), '1.25M'],
    [short(40_000), '40k'],
    [ago(0, 89_000), '89 s ago'],
    [ago(0, 600_000), '10 min ago'],
    [ago(0, 7_200_000), '2 h ago'],
  ])('%s is %s', (shown, text) => expect(shown).toBe(text))
})
