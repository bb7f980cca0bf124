import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MODES } from '../../src/db/organizations/organizations.ts'
import { ATTEMPT_STATES } from '../../src/db/webhooks/attempts.ts'
import { ENDPOINT_STATES } from '../../src/db/webhooks/leases.ts'
import { ACCOUNT_TYPES } from '../../src/domain/accounting/chart.ts'
import { ACTION_KINDS } from '../../src/domain/approvals/pendingAction.ts'
import { PERIOD_UNITS } from '../../src/domain/dates.ts'
import { PRESETS } from '../../src/domain/delinquency/policy.ts'
import { PERIOD_STATES } from '../../src/services/accounting/periods.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { portfolioJob } from '../../src/services/portfolio/keepDays.ts'
import { ACCOUNT_WORDS, BUCKET_WORDS, PRESET_WORDS, STATE_WORDS } from '../../src/words/names.ts'
import type { Words } from '../../src/words/words.ts'
import { keepJournal } from '../support/journal.ts'
import { type Office, openOffice, type Person } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// The portfolio on the operators' pages.

const TODAY = '2026-03-20'
const HOSTILE = '<b>=asha()</b>'

let service: TestService
let office: Office
let [old, young]: string[] = []

const post = async (path: string, body: object): Promise<Wire> => {
  const answer = await service.post(path, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const lend = async (principal: number): Promise<string> =>
  (await post('/v1/loans', { customerId: HOSTILE, productId: 1, principal })).id

async function keep(): Promise<void> {
  await drain(sweepJob(service.deps))
  await drain(sequencerJob(service.deps))
  await drain(portfolioJob(service.deps))
}

beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})
beforeEach(() => service.clock.set(TODAY))

const look = (url: string, person?: Person) => office.look(url, person)
/** The cells of a row, by a text that it has. */
const cells = (text: string, having: string): string[] => {
  const row = text.split('<tr>').find((one) => one.includes(having)) ?? ''
  return [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]+>/g, ''))
}

describe('an empty book', () => {
  it('has no arrears, and no day is kept', async () => {
    // Long before the other days: where the machine is busy, the sums of this day are kept for some minutes.
    service.clock.set('2026-01-15')
    const { text } = await look('/arrears')
    expect(text).toContain('No loan is overdue.')
    expect(text).toContain('No loan is open.')
    expect((await look('/portfolio-at-risk')).text).toContain('No day is kept yet')
    for (const file of ['/arrears.csv', '/portfolio-at-risk.csv'])
      expect((await look(file)).text).toMatch(/^\uFEFF[\w,]+\n$/)
  })
})

describe('the page of arrears', () => {
  beforeAll(async () => {
    service.clock.set('2026-01-31')
    await post('/v1/customers', { externalId: HOSTILE })
    // One instalment each: due on 28 February and 10 March.
    old = await lend(100_000)
    service.clock.set('2026-02-10')
    young = await lend(50_000)
    service.clock.set(TODAY)
    await lend(25_000)
  })

  it('has the buckets of today, what is at risk, and the overdue loans, the oldest first', async () => {
    const { status, text } = await look('/arrears')
    expect(status).toBe(200)
    expect(text).toContain(`As of ${TODAY}, by version 0 of the delinquency policy, par.`)
    expect(cells(text, '<td class="words">1-30<')).toEqual(['1-30', 'TZS', '1–30', '2', '150,000.00', '85.71 %'])
    expect(cells(text, '<td class="words">over 90<')).toEqual(['over 90', 'TZS', '91+', '0', '0.00', '0.00 %'])
    expect(text).toMatch(/150,000\.00<\/td><td class="figure">85\.71 %<\/td><td class="figure">0\.00</)
    const late = text.slice(text.indexOf('Overdue loans, those with'))
    expect(late.indexOf(`/loans/${old}"`)).toBeLessThan(late.indexOf(`/loans/${young}"`))
    expect(cells(late, `/loans/${old}"`).slice(0, 8)).toEqual([
      ...[old, '&lt;b&gt;=asha()&lt;/b&gt; Customer', '', '20', '1-30', 'TZS', '110,000.00', '100,000.00'],
    ])
    expect(text).toContain('<a href="/portfolio-at-risk">')
    expect((await look('/')).text).toContain('<a href="/arrears">')
  })

  it('does not renew itself: each look reads all open loans', async () => {
    expect((await look('/arrears')).text).not.toContain('http-equiv="refresh"')
  })

  it('has the loans of one bucket, and a file of what is shown', async () => {
    service.clock.set('2026-04-02')
    const { text } = await look('/arrears?bucket=31-60')
    expect(text).toMatch(/<option value="31-60" selected>/)
    expect(text).toContain('<a href="/arrears.csv?bucket=31-60">')
    expect(text).toContain(`/loans/${old}"`)
    expect(text).not.toContain(`/loans/${young}"`)
    const file = await look('/arrears.csv?bucket=31-60')
    expect(file.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="arrears-2026-04-02.csv"',
      'cache-control': 'no-store',
    })
    expect(file.text.trimEnd().split('\n')).toHaveLength(2)
    expect((await look('/arrears?bucket=')).text).toContain(`/loans/${young}"`)
  })

  it('goes on after a place, without the sums', async () => {
    const { text } = await look(`/arrears?after=2026-02-28.${old}`)
    expect(text).toContain(`/loans/${young}"`)
    expect(text).not.toContain(`/loans/${old}"`)
    expect(text).not.toContain('Open loans by bucket')
  })

  it.each([
    ['/arrears?bucket=none', 'bucket: must be one of the policy in force: current'],
    ['/arrears?bucket=a&bucket=b', 'bucket must be given once'],
    ['/arrears?after=1', 'after: must be the place'],
    ['/arrears.csv?after=2026-02-28.x', 'after: must be the place'],
  ])('refuses %s', async (url, message) => {
    expect(await look(url)).toMatchObject({ status: 400, text: expect.stringContaining(message) })
  })
})

describe('in Kiswahili', () => {
  const inKiswahili = async (url: string) => {
    const cookie = await office.signIn(DEMO_OPERATOR)
    const { body } = await office.monitor.inject({ url, headers: { cookie, 'accept-language': 'sw' } })
    return body.replaceAll(/ data-label="[^"]*"/g, '')
  }

  it('the buckets, and the policy of a preset, have their words; an address has the name', async () => {
    const text = await inKiswahili('/arrears')
    expect(text).toContain(`Hadi ${TODAY}, kwa toleo 0 la sera ya malimbikizo, mikopo iliyo hatarini (PAR).`)
    expect(cells(text, '<td class="words">zaidi ya 90<')).toEqual([
      ...['zaidi ya 90', 'TZS', '91+', '0', '0.00', '0.00 %'],
    ])
    expect(text).toContain('<option value="current">haijachelewa</option>')
    expect(await inKiswahili('/portfolio-at-risk')).toContain('la sera ya malimbikizo, mikopo iliyo hatarini (PAR).')
  })

  it('the kinds of postings, the types of accounts and the states of months have their words', async () => {
    await keepJournal(service.deps)
    const journal = await inKiswahili('/journal?from=2026-01-01')
    expect(journal).toContain('<td>Mkopo uliotolewa</td>')
    expect(journal).not.toContain('disbursement')
    expect(await inKiswahili(`/loans/${old}`)).toContain('<td>Mkopo uliotolewa</td>')
    const balance = await inKiswahili('/trial-balance')
    for (const word of ['mali', 'mapato', 'wazi']) expect(balance).toContain(`<td>${word}</td>`)
  })

  it('every name of a list of the contract has its words', () => {
    const without = (names: readonly (string | null)[], words: Words) =>
      names.filter((name) => name !== null && !Object.hasOwn(words, name))
    expect(without(ACCOUNT_TYPES, ACCOUNT_WORDS)).toEqual([])
    for (const names of [PERIOD_STATES, ENDPOINT_STATES, ATTEMPT_STATES, ACTION_KINDS, MODES, PERIOD_UNITS])
      expect(without(names, STATE_WORDS)).toEqual([])
    expect(
      without(
        PRESETS.map(({ name }) => name),
        PRESET_WORDS,
      ),
    ).toEqual([])
    const buckets = PRESETS.flatMap(({ policy }) => policy.buckets)
    expect(
      without(
        buckets.flatMap((bucket) => [bucket.name, bucket.class]),
        BUCKET_WORDS,
      ),
    ).toEqual([])
  })
})

describe('the page of the portfolio at risk over time', () => {
  it('has a plot and a table of the kept days, and a file', async () => {
    await keep()
    const { status, text } = await look('/portfolio-at-risk')
    expect(status).toBe(200)
    expect(text.match(/<path class="series"/g)).toHaveLength(4)
    expect(text).toContain('<title>2026-03-10: PAR 1 66.67</title>')
    expect(text).toContain('aria-label="Portfolio at risk in percent, TZS"')
    const days = text.slice(text.indexOf('Portfolio at risk by day'))
    expect(cells(days, '<td>2026-03-19<')).toEqual([
      ...['2026-03-19', '2', '150,000.00', '100.00 %', '0.00 %', '0.00 %', '0.00 %', ''],
    ])
    expect(days.indexOf('2026-03-19')).toBeLessThan(days.indexOf('2026-02-17'))
    const { text: file, headers } = await look('/portfolio-at-risk.csv')
    expect(headers['content-disposition']).toBe('attachment; filename="portfolio-at-risk.csv"')
    expect(file).toContain('\n2026-03-10,TZS,2,150000.00,100000.00,66.67,0.00,0,0.00,0,0.00,0,false\n')
  })

  it('marks the days that a change made stale, until they are right again', async () => {
    await post(`/v1/loans/${old}/repayments`, { transactionAmount: 20_000, transactionDate: '2026-03-15' })
    const { text } = await look('/portfolio-at-risk')
    expect(cells(text, '<td>2026-03-14<').at(-1)).toBe('')
    expect(cells(text, '<td>2026-03-15<').at(-1)).toBe('changed since')
    expect(text).toContain('<circle class="point faint"')
    expect((await look('/portfolio-at-risk.csv')).text).toMatch(/\n2026-03-15,.*,true\n/)
    service.clock.set('2026-03-21')
    await keep()
    const { text: after } = await look('/portfolio-at-risk')
    expect(after).not.toContain('point faint')
    expect(cells(after, '<td>2026-03-15<').at(-1)).toBe('')
  })

  it('has a gap where days are missing', async () => {
    await service.owner.pool.query(`DELETE FROM portfolio_day WHERE day = '2026-03-01'`)
    const path = /<path class="series" d="([^"]+)"/.exec((await look('/portfolio-at-risk')).text)?.[1]
    expect(path?.match(/M/g)).toHaveLength(2)
  })
})

describe.each([
  ['/arrears', 200],
  ['/arrears.csv', 200],
  ['/portfolio-at-risk', 403],
  ['/portfolio-at-risk.csv', 403],
])('%s', (url, forUser) => {
  it(`is for people who signed in, and answers a USER ${forUser}`, async () => {
    expect((await office.monitor.inject({ url })).statusCode).toBe(303)
    expect((await look(url, DEMO_PARTNER)).status).toBe(forUser)
    expect((await look(url)).headers['content-security-policy']).toContain("default-src 'none'")
  })
})
