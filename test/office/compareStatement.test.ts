import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../src/services/jobs/job.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { paymentsJob } from '../../src/services/payments/paymentsJob.ts'
import { addAccount } from '../support/accounts.ts'
import { commandLine } from '../support/approvals.ts'
import { type Compared, csv, DAY, DAYS, line, NEW, openCompared } from '../support/compared.ts'
import { formOf, type Person, rowsOf, type Seen } from '../support/office.ts'
import type { Wire } from '../support/wire.ts'

// A statement that an ADMIN sends at the office pages as a file, and what is taken in of it.

const SECOND: Person = { email: 'second@lender.example', password: 'the secret of the second' }
const HOSTILE = `<img src=x onerror="alert(1)">`

let service: Compared['service']
let office: Compared['office']
let makeChannel: Compared['makeChannel']
let pay: Compared['pay']
let compare: Compared['compare']
let send: Compared['send']
let sessionOf: Compared['sessionOf']
let close: Compared['close']

beforeAll(async () => {
  ;({ service, office, makeChannel, pay, compare, send, sessionOf, close } = await openCompared())
  await addAccount(service.deps, commandLine, { ...SECOND, roles: ['ADMIN'] })
})
afterAll(() => close())

describe('a statement that is sent', () => {
  it('is compared, and is the same reconciliation when it is sent again, also as another file', async () => {
    const channel = await makeChannel()
    await pay(channel, 'r-1', 500)
    const form = await office.look(`${NEW}?channel=${channel}`)
    expect(form.text).toMatch(new RegExp(`<option value="${channel}" selected>`))
    expect(form.text).toContain('enctype="multipart/form-data"')
    const sent = await send(
      { channel, ...DAYS, layout: 'plain' },
      csv(`r-1,${DAY} 10:00:00,500`, `r-2,${DAY} 11:00:00,"1,200.50"`),
    )
    expect(sent.status, sent.text).toBe(303)
    const [, id] = /^\/reconciliations\/(\d+)\?done=doneCompare$/.exec(String(sent.headers.location))!
    const { text } = await office.look(String(sent.headers.location))
    expect(text).toMatch(/role="status">The statement is compared\./)
    expect(rowsOf(text, 'Differences')).toEqual([
      ['r-2', 'missing here', `${DAY} 11:00:00`, '1,200.50', '', '', '', ''],
    ])
    const again = csv(`r-1,${DAY} 10:00:00,500.00`, `r-2,${DAY} 11:00:00,1200.50`).replaceAll('\n', '\r\n')
    const second = await send({ channel, ...DAYS, layout: 'plain' }, `\uFEFF${again}`)
    expect(second.headers.location).toBe(`/reconciliations/${id}?done=doneCompare`)
    const { body } = await service.get(`/v1/reconciliations?channelId=${channel}`, { token: service.tokens.operator })
    expect(body.total).toBe(1)
  })

  it('in the layout of a portal, with balances, one of them below 0', async () => {
    const channel = await makeChannel()
    const content = [
      'Organization:,Lender',
      'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn,A/C No.,Linked Transaction ID',
      `RKT1,10-02-2026 12:00:00,Completed,500.00,,loan-1,`,
    ].join('\n')
    const fields = { channel, ...DAYS, layout: 'daraja_organization', opening: '-1,500.50', closing: '-1000.50' }
    const sent = await send(fields, content)
    expect(sent.status, sent.text).toBe(303)
    const { text } = await office.look(String(sent.headers.location))
    expect(text).toContain('<dt>Balance before</dt><dd>-1,500.50 TZS</dd>')
    expect(text).toContain('<dt>Layout</dt><dd>M-Pesa organization portal, CSV</dd>')
  })

  it.each<[string, Record<string, string>, string | Uint8Array<ArrayBuffer>, string]>([
    ['a day that is none', { from: '10/02/2026' }, csv(), 'from must be a date, YYYY-MM-DD'],
    ['no first day', { from: '' }, csv(), 'First day: is required'],
    ['days in the wrong order', { from: '2026-02-11' }, csv(), 'Last day: must not be before First day'],
    ['too many days', { from: '2025-10-01' }, csv(), 'Last day: must be less than 93 days after First day'],
    ['no such layout', { layout: 'dance' }, csv(), 'layout must be one of plain, daraja_organization, camt053'],
    ['no channel', { channel: '' }, csv(), 'Channel: is required'],
    ['a channel that is not there', { channel: '9999' }, csv(), 'no payment channel has that id'],
    ['a balance that is none', { opening: 'much' }, csv(), 'opening must be a number'],
    [
      'a balance of too many decimals',
      { closing: '1.001' },
      csv(),
      'Balance after: must have at most 2 decimals in TZS',
    ],
    ['an empty file', {}, '', 'File of the statement, CSV or XML: is required: choose the file'],
    [
      'a line that cannot be read',
      {},
      csv(`r-1,${DAY} 10:00:00,5`, 'r-2,yesterday,5'),
      'line 3: at must be a time such as',
    ],
    ['a file without its columns', {}, 'a,b\n1,2', 'CSV or XML: must have a column receipt'],
    ['a file that is no text', {}, new Uint8Array([0xff, 0xfe, 0x00]), 'must be a text in UTF-8'],
    ['what is not camt.053', { layout: 'camt053' }, '<a/>', 'must be a camt.053'],
    ['an amount of too many decimals', {}, csv(`r-1,${DAY} 10:00:00,5.001`), 'must have at most 2 decimals in TZS'],
  ])('%s is told at the form, which keeps what was typed', async (_, wrong, content, why) => {
    const channel = await makeChannel()
    const fields = { channel, ...DAYS, layout: 'plain', opening: '10', closing: '', ...wrong }
    const { status, text } = await send(fields, content)
    const isMissing = wrong.channel === '9999'
    expect([status, text]).toEqual([isMissing ? 404 : 400, expect.stringContaining(why)])
    expect(text).toContain('<p class="bad" role="alert">')
    const kept = formOf(text, NEW)
    expect(kept).toMatchObject({ from: fields.from, to: fields.to, opening: fields.opening })
    if (fields.channel === channel) expect(text).toContain(`<option value="${channel}" selected>`)
    const { body } = await service.get(`/v1/reconciliations?channelId=${channel}`, { token: service.tokens.operator })
    expect(body.total).toBe(0)
  })

  it('what was typed is shown as text', async () => {
    const channel = await makeChannel()
    const { status, text } = await send({ channel, ...DAYS, opening: HOSTILE }, csv())
    expect(status).toBe(400)
    expect(text).not.toContain('<img src=x')
    expect(text).toContain('value="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;"')
  })

  it('413 for a file beyond its bound, 415 for another kind of form, 403 for a form of nobody', async () => {
    const channel = await makeChannel()
    const large = await send({ channel, ...DAYS }, 'x'.repeat(1_048_577))
    expect([large.status, large.text]).toEqual([413, expect.stringContaining('larger than 1 MiB')])
    expect((await office.send(NEW, { channel, ...DAYS })).status).toBe(415)
    expect((await send({ channel, ...DAYS, _token: 'another' }, csv())).status).toBe(403)
    const elsewhere = await send({ channel, ...DAYS }, csv(`r,${DAY} 10:00:00,5`))
    expect(elsewhere.status).toBe(303)
  })
})

describe('what is missing here', () => {
  const pathOf = (run: Wire) => `/reconciliations/${run.id}/do/apply`
  const answer = (path: string, page: string, person?: Person): Promise<Seen> => {
    const { _token, ...form } = formOf(page, path)
    expect(form.step).toBe('confirm')
    return office.send(path, form, person)
  }
  const receipts = async (channel: string): Promise<readonly Wire[]> =>
    (await service.get(`/v1/payments?channelId=${channel}`, { token: service.tokens.operator })).body.items

  it('is taken in after a question that says how many payments and how much, once', async () => {
    const channel = await makeChannel()
    await pay(channel, 'known', 100)
    const lines = [
      line('known', 100),
      line('n-1', 400),
      line('n-2', 1_600.5),
      line('back', -100, { reverses: 'known' }),
    ]
    const run = await compare(channel, lines)
    expect((await office.look(`/reconciliations/${run.id}`)).text).toContain(`<a href="${pathOf(run)}">Take in`)
    const asked = await office.look(pathOf(run))
    expect(asked.status).toBe(200)
    expect(asked.text).toContain('<strong>Payments that are taken in: 2, for 2,000.50 TZS.</strong>')
    expect(asked.text).toContain('<strong>Lines that are taken back: 1, for 100.00 TZS.</strong>')
    expect(await receipts(channel)).toHaveLength(1)
    const done = await answer(pathOf(run), asked.text)
    expect([done.status, done.headers.location]).toEqual([303, `/reconciliations/${run.id}?done=doneApply`])
    const { text } = await office.look(String(done.headers.location))
    expect(text).toMatch(/role="status">What was missing here is taken in/)
    expect(text).toContain('<dt>Outcome</dt><dd>balanced</dd>')
    expect(text).not.toContain('/do/apply')
    expect((await receipts(channel)).map(({ receipt, amount }) => [receipt, amount])).toEqual([
      ['known', 100],
      ['n-1', 400],
      ['n-2', 1_600.5],
    ])
    // A second click on the same question.
    const { cookie, _token } = await sessionOf(DEMO_OPERATOR)
    expect((await office.post(pathOf(run), { ...formOf(asked.text, pathOf(run)), _token }, cookie)).status).toBe(303)
    expect(await receipts(channel)).toHaveLength(3)
    const late = await office.look(pathOf(run))
    expect([late.status, late.text]).toEqual([409, expect.stringContaining('nothing of the statement is missing here')])
  })

  it('shows a known reversal with what it came to here', async () => {
    const channel = await makeChannel()
    const known = await pay(channel, 'known', 100)
    const lines = [line('known', 100), line('back', -40, { reverses: 'known' })]
    const run = await compare(channel, lines)
    const asked = await office.look(pathOf(run))
    expect(asked.text).not.toContain('Payments that are taken in')
    expect((await answer(pathOf(run), asked.text)).status).toBe(303)
    // The reversal is with its payment once the job has applied it and the statement is compared again.
    await drain(paymentsJob(service.deps))
    await compare(channel, lines)
    const { text } = await office.look(`/reconciliations/${run.id}?kind=reversal`)
    expect(rowsOf(text, 'taken back')).toEqual([
      ['back', 'taken back', `${DAY} 10:00:00`, '-40.00', '-40.00', '', 'known', known],
    ])
  })

  it('of two people at once one takes it in, and the other is told; once compared again, it is asked again', async () => {
    const channel = await makeChannel()
    const lines = [line('n-1', 400), line('n-2', 500)]
    const run = await compare(channel, lines)
    const first = await office.look(pathOf(run))
    await pay(channel, 'n-1', 400)
    await compare(channel, lines)
    const again = await answer(pathOf(run), first.text)
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('was compared again since you looked')])
    expect(again.text).toContain('Payments that are taken in: 1, for 500.00 TZS.')
    const second = await office.look(pathOf(run), SECOND)
    const answers = [
      await answer(pathOf(run), again.text),
      await answer(pathOf(run), second.text, SECOND).catch(String),
    ]
    expect(answers[0]).toMatchObject({ status: 303 })
    expect(answers[1]).toMatchObject({ status: 409 })
    expect(await receipts(channel)).toHaveLength(2)
  })
})
