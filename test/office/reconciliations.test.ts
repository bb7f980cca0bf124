import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { createChannel } from '../../src/services/payments/channels.ts'
import { paymentsJob } from '../../src/services/payments/paymentsJob.ts'
import { reconcile } from '../../src/services/payments/reconciliation/reconcile.ts'
import { type Compared, csv, DAY, DAYS, line, NEW, openCompared } from '../support/compared.ts'
import { anotherLender } from '../support/lenders.ts'
import { rowsOf, type Seen } from '../support/office.ts'
import type { Wire } from '../support/wire.ts'

// The reconciliations at the office pages: their list, one of them with its lines and its files, and who may see and do what.

const HOSTILE = `<img src=x onerror="alert(1)">`

let service: Compared['service']
let office: Compared['office']
let makeChannel: Compared['makeChannel']
let pay: Compared['pay']
let compare: Compared['compare']
let sessionOf: Compared['sessionOf']
let close: Compared['close']

beforeAll(async () => {
  ;({ service, office, makeChannel, pay, compare, sessionOf, close } = await openCompared())
})
afterAll(() => close())

describe('the page of the reconciliations', () => {
  it('says that there is none', async () => {
    const { status, text } = await office.look('/reconciliations')
    expect([status, text]).toEqual([200, expect.stringContaining('No statement has been compared.')])
  })

  it('lists them, the newest first, with channel, days, outcome and difference; those of a channel alone', async () => {
    const [one, other] = [await makeChannel(`Till ${HOSTILE}`), await makeChannel()]
    await pay(one, 'here only', 300)
    const first = await compare(one, [line('there only', 1_200.5)])
    service.clock.set('2026-02-11T09:00:00+03:00')
    const second = await compare(other, [line('a charge', -10)], { from: '2026-02-09', opening: 100, closing: 90 })
    const { text } = await office.look('/reconciliations')
    expect(text).not.toContain('<img src=x')
    expect(rowsOf(text, 'Reconciliations, the newest first')).toEqual([
      [second.id, expect.anything(), '2026-02-09 – 2026-02-10', 'balanced', 'TZS', '0.00', '2026-02-11 09:00:00'],
      [
        ...[first.id, 'Till &lt;img src=x onerror=&quot;alert(1)&quot;&gt;', DAY, 'not balanced', 'TZS', '900.50'],
        expect.stringMatching(/^2026-02-11 08:/),
      ],
    ])
    const shown = async (query: string) =>
      rowsOf((await office.look(`/reconciliations?${query}`)).text, 'Reconciliations, the newest first').map(
        ([id]) => id,
      )
    expect(await shown(`channel=${one}`)).toEqual([first.id])
    expect(await shown('channel=99999999999')).toEqual(['No statement has been compared.'])
    expect((await office.look('/channels')).text).toContain(`href="/reconciliations?channel=${one}"`)
    expect((await office.look('/')).text).toContain('<a href="/reconciliations">Reconciliations</a>')
    expect((await office.look('/audit?entity=reconciliation')).text).toContain(
      `<a href="/reconciliations/${first.id}">statement compared ${first.id}</a>`,
    )
  })

  it('goes on by cursor, and misses and repeats none', async () => {
    const channel = await makeChannel()
    const made: string[] = []
    for (let index = 0; index < 53; index++) made.push((await compare(channel, [line(`charge ${index}`, -1)])).id)
    const seen: string[] = []
    let path: string | undefined = `/reconciliations?channel=${channel}`
    const sizes: number[] = []
    while (path !== undefined) {
      const { text }: Seen = await office.look(path)
      const ids = rowsOf(text, 'Reconciliations, the newest first').map(([id]) => id!)
      sizes.push(ids.length)
      seen.push(...ids)
      path = /<a href="(\/reconciliations\?[^"]*after=[^"]*)">More/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(sizes).toEqual([50, 3])
    expect(seen).toEqual(made.toReversed())
    expect((await office.look('/reconciliations?after=nonsense')).status).toBe(400)
  })
})

it('shows what was taken back here beside what the statement says', async () => {
  const id = await makeChannel()
  const lines = ['less', 'hidden'].flatMap((receipt) => [
    line(receipt, 100),
    line(`${receipt} back`, -100, { reverses: receipt }),
  ])
  const first = await compare(id, lines)
  await service.post(`/v1/reconciliations/${first.id}/apply`, { token: service.tokens.operator })
  await drain(paymentsJob(service.deps))
  const told = lines.filter(({ receipt }) => receipt !== 'hidden back')
  const run = await compare(id, [...told.slice(0, 1), line('less back', -40, { reverses: 'less' }), ...told.slice(2)])
  const rows = rowsOf((await office.look(`/reconciliations/${run.id}`)).text, 'Differences')
  expect(rows.map(([receipt, , , there, here]) => [receipt, there, here])).toEqual([
    ['less back', '-40.00', '-100.00'],
    ['hidden back', '', '-100.00'],
  ])
})

describe('one reconciliation', () => {
  let channel: string
  let run: Wire
  let both: string
  let other: string
  let here: string
  beforeAll(async () => {
    channel = await makeChannel(HOSTILE)
    both = await pay(channel, 'both', 1_000)
    other = await pay(channel, 'another', 2_000)
    here = await pay(channel, 'here', 300, { reference: HOSTILE })
    run = await compare(
      channel,
      [
        ...[line('both', 1_000), line('another', 2_500), line('=there', 400, { reference: HOSTILE })],
        ...[line('charge', -15), line('back', -7, { reverses: 'both' })],
      ],
      { opening: 10, closing: 3_888 },
    )
  })
  const path = () => `/reconciliations/${run.id}`

  it('shows its figures, the differences with both amounts, then what else is not in both', async () => {
    const { status, text } = await office.look(path())
    expect([status, text]).toEqual([200, expect.not.stringContaining('<img src=x')])
    expect(text).toContain('<dt>Difference</dt><dd>593.00 TZS</dd>')
    expect(text).toContain('<dt>Outcome</dt><dd><strong>not balanced</strong></dd>')
    expect(text).toContain('<dt>Balance before</dt><dd>10.00 TZS</dd>')
    expect(text).toContain('<dt>Balance after</dt><dd>3,888.00 TZS</dd>')
    expect(rowsOf(text, 'Lines by kind')).toEqual([
      ['in both', '1', '1,000.00'],
      ['missing here', '1', '400.00'],
      ['not in the statement', '1', '300.00'],
      ['another amount', '1', '2,500.00'],
      ['taken back', '0', '0.00'],
      ['taken back, not known here', '1', '-7.00'],
      ['of no payment', '1', '-15.00'],
    ])
    const escaped = '&lt;img src=x onerror=&quot;alert(1)&quot;&gt;'
    const at = `${DAY} 10:00:00`
    expect(rowsOf(text, 'Differences')).toEqual([
      ['another', 'another amount', at, '2,500.00', '2,000.00', '', '', other],
      ['=there', 'missing here', at, '400.00', '', escaped, '', ''],
      ['back', 'taken back, not known here', at, '-7.00', '', '', 'both', ''],
      ['here', 'not in the statement', at, '', '300.00', escaped, '', here],
    ])
    expect(rowsOf(text, 'Other lines')).toEqual([['charge', 'of no payment', at, '-15.00', '', '', '', '']])
    expect(text).toContain(`<a href="/payments/${other}">`)
    expect(text).toContain(`<a href="${path()}?kind=matched">in both</a>`)
    expect(text.indexOf('<caption>Differences')).toBeLessThan(text.indexOf('<caption>Other lines'))
  })

  it('has the lines in both on a page of their own, and those of any kind', async () => {
    const { text } = await office.look(`${path()}?kind=matched`)
    expect(rowsOf(text, 'in both')).toEqual([
      ['both', 'in both', `${DAY} 10:00:00`, '1,000.00', '1,000.00', '', '', both],
    ])
    expect(text).not.toContain('<caption>Differences')
    const all = await office.look(`${path()}?kind=all`)
    expect(rowsOf(all.text, 'All lines')).toHaveLength(6)
    expect((await office.look(`${path()}?kind=reversal`)).text).toContain('There is no such line.')
    expect((await office.look(`${path()}?kind=dance`)).status).toBe(400)
  })

  it('shows lines by cursor', async () => {
    const own = await makeChannel()
    const long = await compare(
      own,
      Array.from({ length: 120 }, (_, index) => line(`r-${index}`, 1)),
    )
    const seen: string[] = []
    const sizes: number[] = []
    let next: string | undefined = `/reconciliations/${long.id}`
    while (next !== undefined) {
      const { text }: Seen = await office.look(next)
      const rows = rowsOf(text, 'Differences').map(([receipt]) => receipt!)
      sizes.push(rows.length)
      seen.push(...rows)
      next = /<a href="(\/reconciliations\/[^"]*after=[^"]*)">More/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(sizes).toEqual([50, 50, 20])
    expect(seen).toEqual(Array.from({ length: 120 }, (_, index) => `r-${index}`))
  })

  it('has its lines as a file, safe for a spreadsheet: all of them, or those of a kind', async () => {
    const answer = await office.look(`${path()}/lines.csv`)
    expect(answer.headers['content-disposition']).toBe(`attachment; filename="reconciliation-${run.id}-all.csv"`)
    const [head, ...rows] = answer.text.trim().split('\n')
    expect(head).toContain(
      'line,kind,receipt,at,currencyCode,amountInStatement,amountHere,reference,reverses,paymentId',
    )
    expect(rows).toHaveLength(6)
    expect(rows[1]).toBe(`2,amount_differs,another,${DAY}T10:00:00.000+03:00,TZS,2500.00,2000.00,,,${other}`)
    expect(rows[2]).toContain(`3,missing_here,'=there,${DAY}T10:00:00.000+03:00,TZS,400.00,,`)
    expect(rows[5]).toContain(`6,missing_there,here,${DAY}T10:00:00.000+03:00,TZS,,300.00,`)
    const part = (await office.look(`${path()}/lines.csv?kind=missing_here`)).text.trim().split('\n')
    expect(part).toHaveLength(2)
    expect((await office.look(`${path()}/lines.csv?kind=dance`)).status).toBe(400)
  })

  it('the file has every line of a long statement, once', async () => {
    const own = await makeChannel()
    const long = await compare(
      own,
      Array.from({ length: 2_001 }, (_, index) => line(`r-${index}`, 1)),
    )
    const rows = (await office.look(`/reconciliations/${long.id}/lines.csv`)).text.trim().split('\n').slice(1)
    expect(rows.map((row) => row.split(',')[0])).toEqual(Array.from({ length: 2_001 }, (_, index) => String(index + 1)))
  })

  it('is in Kiswahili', async () => {
    const headers = { cookie: await office.signIn(DEMO_OPERATOR), 'accept-language': 'sw' }
    const { body } = await office.monitor.inject({ url: path(), headers })
    for (const word of ['hailingani', 'hazipo kwenye taarifa', 'kiasi tofauti', 'Ingiza yasiyopo hapa'])
      expect(body).toContain(word)
  })
})

describe('who may do what', () => {
  it('an AUDITOR reads, an ADMIN compares and takes in, a USER has neither page nor link', async () => {
    const channel = await makeChannel()
    const { id } = await compare(channel, [line('roles', 10)])
    const pages = ['/reconciliations', `/reconciliations/${id}`, `/reconciliations/${id}/lines.csv`]
    for (const path of pages) {
      expect([path, (await office.look(path, DEMO_PARTNER)).status]).toEqual([path, 403])
      const { status, text } = await office.look(path, DEMO_AUDITOR)
      expect([path, status, text]).toEqual([path, 200, expect.not.stringMatching(/\/do\/|reconciliations\/new/)])
    }
    expect((await office.look('/payments', DEMO_PARTNER)).text).not.toContain('href="/reconciliations')
    for (const person of [DEMO_AUDITOR, DEMO_PARTNER]) {
      for (const path of [NEW, `/reconciliations/${id}/do/apply`])
        expect([path, (await office.look(path, person)).status]).toEqual([path, 403])
      const { cookie, _token } = await sessionOf(person)
      const form = new FormData()
      for (const [name, value] of Object.entries({ _token, channel, ...DAYS })) form.append(name, value)
      form.append('statement', new Blob([csv()]), 'statement.csv')
      const sent = new Response(form)
      const answer = await office.monitor.inject({
        method: 'POST',
        url: NEW,
        headers: { cookie, 'content-type': sent.headers.get('content-type')! },
        payload: Buffer.from(await sent.arrayBuffer()),
      })
      expect(answer.statusCode, answer.body).toBe(403)
      expect(answer.body).toContain('ADMIN')
      const applied = await office.post(`/reconciliations/${id}/do/apply`, { _token, step: 'confirm' }, cookie)
      expect([applied.status, applied.text]).toEqual([403, expect.stringContaining('ADMIN')])
    }
    expect((await service.get(`/v1/reconciliations/${id}`, { token: service.tokens.operator })).body).toMatchObject({
      missingHere: { lines: 1 },
    })
  })

  it('404 for what is not there, and for a reconciliation of another organization', async () => {
    await anotherLender(service, 2, 'TZS')
    const theirs = operator(2, 'test')
    const made = await createChannel(service.deps, theirs, { name: 'Theirs', adapter: 'canonical' })
    const { id: number } = await reconcile(service.deps, theirs, {
      channelId: BigInt(made.channel.id),
      ...DAYS,
      statement: csv(`theirs,${DAY} 10:00:00,5`),
    })
    const id = String(number)
    expect((await office.look('/reconciliations')).text).not.toContain(`/reconciliations/${id}"`)
    for (const of of ['1', 'x', id])
      for (const path of [
        `/reconciliations/${of}`,
        `/reconciliations/${of}/lines.csv`,
        `/reconciliations/${of}/do/apply`,
      ])
        expect([path, (await office.look(path)).status]).toEqual([path, 404])
  })
})
