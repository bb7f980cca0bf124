import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { findChromium, signedInContext, startChromium } from '../support/browser.ts'
import { keepJournal } from '../support/journal.ts'
import { type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

// The office pages in a real browser: by keyboard alone, without script, and for those who cannot see them.

const installed = findChromium()
const HOSTILE = `<img src=x onerror="alert(1)">'"=1+1 አበበ 张三 أحمد`

let service: TestService
let office: Office
let browser: Browser
let loan: string
let customer: string
let idle: string
let payment: string
let channelId: string
let reconciliation: string

beforeAll(async () => {
  if (installed === undefined) return
  service = await startService()
  customer = (await service.post('/v1/customers', { body: { externalId: HOSTILE } })).body.id
  idle = (await service.post('/v1/customers', { body: { externalId: 'idle' } })).body.id
  await service.post('/v1/customers', { body: { externalId: 'held' } })
  loan = (await service.post('/v1/loans', { body: { customerId: HOSTILE, productId: 3, principal: 600_000 } })).body.id
  const body = { transactionAmount: 20_000, idempotencyKey: HOSTILE }
  expect(await service.post(`/v1/loans/${loan}/repayments`, { body })).toMatchObject({ status: 200 })
  const forgiven = { transactionAmount: 10, note: '\u202eevil' }
  expect(await service.post(`/v1/loans/${loan}/repayments/waive-interest`, { body: forgiven })).toMatchObject({
    status: 200,
  })
  const operator = { token: service.tokens.operator }
  const channel = { name: HOSTILE, adapter: 'canonical' }
  channelId = (await service.post('/v1/payment-channels', { body: channel, ...operator })).body.id
  const paid = { channelId, receipt: 'RC-1', amount: 1_500, reference: `${HOSTILE} 2`, payerName: HOSTILE }
  payment = (await service.post('/v1/payments', { body: paid })).body.id
  const day = new Date(service.clock.now()).toISOString()
  const told = { receipt: HOSTILE, amount: 400, at: day, reference: HOSTILE }
  const lines = [told, { ...told, receipt: 'RC-1', amount: 1_501 }, { ...told, receipt: 'fee', amount: -5 }]
  const asked = { channelId, from: day.slice(0, 10), to: day.slice(0, 10), lines, opening: 0, closing: 1 }
  reconciliation = (await service.post('/v1/reconciliations', { body: asked, ...operator })).body.id
  await keepJournal(service.deps)
  office = openOffice(service.deps)
  await office.monitor.listen({ host: '127.0.0.1', port: 0 })
  browser = await startChromium(installed)
})
afterAll(async () => {
  if (installed === undefined) return
  await browser.close()
  await office.monitor.close()
  await service.close()
})
beforeEach(({ skip }) => skip(installed === undefined, 'Chromium is not installed'))

const WIDE = { viewport: { width: 1400, height: 900 } }
const NARROW = { viewport: { width: 390, height: 844 } }
const PATHS = () => [
  ...['/worklist', '/customers/do/create', `/customers/${customer}/do/lend`, `/customers/${customer}/do/contact`],
  ...['promise', 'hold', 'assign', 'repay'].map((action) => `/loans/${loan}/do/${action}`),
  ...['/', '/customers', `/customers/${customer}`, `/loans/${loan}`, '/search?q=%3Cimg', '/arrears', '/pending'],
  ...[
    '/portfolio-at-risk',
    '/growth',
    '/products',
    '/documents',
    '/journal',
    '/trial-balance',
    '/month-end',
    '/webhooks',
    '/audit',
  ],
  ...['/exports', '/book', `/loans/${loan}/do/waive`, `/loans/${loan}/do/charge`, `/customers/${customer}/do/close`],
  `/loans/${loan}/do/restructure`,
  ...['/payments', '/payments?status=all', `/payments/${payment}`, `/payments/${payment}?q=%3Cimg`, '/channels'],
  ...['/reconciliations', '/reconciliations/new', `/reconciliations/${reconciliation}/do/apply`],
  ...['', '?kind=all'].map((query) => `/reconciliations/${reconciliation}${query}`),
  ...[`/payments/${payment}/loans/${loan}/do/allocate`, `/payments/${payment}/do/return`],
]

/** Opens a page in a context of its own, and collects what the browser complains of. */
async function open(look: (page: Page, complaints: string[]) => Promise<void>, options = {}) {
  const context = await signedInContext(browser, office, DEMO_OPERATOR, { ...WIDE, ...options })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('dialog', (dialog) => complaints.push(dialog.message()))
  page.on('request', (request) => {
    if (!request.url().startsWith(office.monitor.listeningOrigin)) complaints.push(request.url())
  })
  await look(page, complaints)
  expect(complaints).toEqual([])
  await context.close()
}

const goTo = (page: Page, path: string) => page.goto(`${office.monitor.listeningOrigin}${path}`)

describe.each([
  ['every page, wide, in English', { ...WIDE, locale: 'en-GB' }, () => PATHS(), true],
  ['every page, narrow, in Kiswahili', { ...NARROW, locale: 'sw-TZ' }, () => PATHS(), true],
  ['pages of each kind, dark', { ...WIDE, colorScheme: 'dark' as const }, () => PATHS().slice(0, 6), true],
] as const)('%s', (_, options, paths, look) => {
  it('has no fault that axe calls serious, where it looks, and is no wider than the screen', async () => {
    await open(async (page) => {
      for (const path of paths()) {
        expect((await goTo(page, path))?.status(), path).toBe(200)
        const { scrollWidth, clientWidth } = await page.locator('html').evaluate((whole) => ({
          scrollWidth: whole.scrollWidth,
          clientWidth: whole.clientWidth,
        }))
        expect([path, scrollWidth]).toEqual([path, clientWidth])
        if (!look) continue
        await page.evaluate(axe.source)
        const found = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
        const faults = found.violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical' || impact === 'moderate')
          .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
        expect([path, faults]).toEqual([path, []])
      }
    }, options)
  })
})

/** The button of the menu is there on a phone alone. */
const CONTROLS = 'a[href], button, input:not([type=hidden], .fold), select'

/** Presses the tab key until the focus is on an element with a text, and returns how often. */
async function tabTo(page: Page, text: string): Promise<number> {
  const focused = () =>
    page
      .locator(':focus')
      .evaluateAll(([one]) => (one?.tagName === 'INPUT' ? one.getAttribute('name') : (one?.textContent?.trim() ?? '')))
  for (let pressed = 1; pressed <= 200; pressed++) {
    await page.keyboard.press('Tab')
    if ((await focused()) === text) return pressed
  }
  return expect.unreachable(`the tab key never came to "${text}"`)
}

describe('by keyboard alone, without script', () => {
  it('a person signs in, skips the menu, finds a customer, waives interest, and signs out', async () => {
    const context = await browser.newContext({ ...WIDE, javaScriptEnabled: false })
    const page = await context.newPage()
    await goTo(page, '/')
    const keys = page.keyboard
    // The first field has the focus once the page is drawn.
    await page.locator('input[name=email]:focus').waitFor()
    await keys.type(DEMO_OPERATOR.email)
    await keys.press('Tab')
    await keys.type(DEMO_OPERATOR.password)
    await keys.press('Enter')
    await page.waitForURL(`${office.monitor.listeningOrigin}/`)
    expect(await tabTo(page, 'Skip to the page')).toBe(1)
    await tabTo(page, 'q')
    await keys.type('<img src=x')
    await keys.press('Enter')
    await page.waitForURL('**/search?*')
    await tabTo(page, customer)
    await keys.press('Enter')
    await page.waitForURL(`**/customers/${customer}`)
    await tabTo(page, loan)
    await keys.press('Enter')
    await page.waitForURL(`**/loans/${loan}`)
    await tabTo(page, 'Waive interest')
    await keys.press('Enter')
    await page.waitForURL('**/do/waive')
    await tabTo(page, 'amount')
    await keys.type('1,000')
    await tabTo(page, 'See what it becomes')
    await keys.press('Enter')
    await page.getByText('Is this what you want?').waitFor()
    // A second press of the key changes nothing: the button has to be chosen.
    expect(await page.locator('button:focus').count()).toBe(0)
    await tabTo(page, 'Yes, do it')
    await keys.press('Enter')
    await page.waitForURL(`**/loans/${loan}?done=doneWaive`)
    expect((await service.get(`/v1/loans/${loan}`)).body.interestWaived).toBe(1_010)
    await tabTo(page, 'Sign out')
    await keys.press('Enter')
    await page.waitForURL('**/sign-in')
    await context.close()
  })

  it.each([
    ['Reverse', (): string => `/loans/${loan}`, ['note', 'twice'], 'doneReverse'],
    ['Charge', (): string => `/loans/${loan}`, ['name', 'A visit', 'amount', '500'], 'doneCharge'],
    ['Adjust', (): string => `/loans/${loan}`, ['amount', '9000'], 'doneAdjust'],
    ['Restructure', (): string => `/loans/${loan}`, ['value', '1', 'note', 'a flood'], 'doneRestructure'],
    ['Write off', (): string => `/loans/${loan}`, ['note', 'gone'], 'doneWriteOff'],
    ['Close the customer', (): string => `/customers/${idle}`, ['reason', 'moved'], 'doneClose'],
    ['Retire', (): string => '/products', [], 'doneRetire'],
  ] as const)(
    'an ADMIN chooses "%s", fills in the form, looks at the preview and says yes',
    async (action, path, fields, done) => {
      // What was taken back is paid again, so that each action finds a transaction.
      await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 10_000 } })
      await open(
        async (page) => {
          await goTo(page, path())
          await tabTo(page, action)
          await page.keyboard.press('Enter')
          await page.waitForURL('**/do/**')
          for (let at = 0; at < fields.length; at += 2) {
            await tabTo(page, fields[at]!)
            await page.keyboard.press('ControlOrMeta+A')
            await page.keyboard.type(fields[at + 1]!)
          }
          await tabTo(page, 'See what it becomes')
          await page.keyboard.press('Enter')
          await page.getByText('Is this what you want?').waitFor()
          await tabTo(page, 'Yes, do it')
          await page.keyboard.press('Enter')
          await page.waitForURL(`**?done=${done}`)
          expect(await page.getByRole('status').count()).toBe(1)
        },
        { javaScriptEnabled: false },
      )
    },
  )

  it('a person chooses a payment that waits, searches for a loan, and says yes to a part of it', async () => {
    await open(
      async (page) => {
        await goTo(page, '/payments')
        await tabTo(page, payment)
        await page.keyboard.press('Enter')
        await page.waitForURL(`**/payments/${payment}`)
        const allocate = `Allocate to loan ${loan}`
        await tabTo(page, 'Find another loan')
        await page.keyboard.press('Shift+Tab')
        await page.keyboard.type('<img src=x')
        await page.keyboard.press('Enter')
        await page.waitForURL('**?q=*')
        await tabTo(page, allocate)
        await page.keyboard.press('Enter')
        await page.getByText(`TZS of payment RC-1 to loan ${loan}`).waitFor()
        await tabTo(page, 'amount')
        await page.keyboard.press('ControlOrMeta+A')
        await page.keyboard.type('500')
        await tabTo(page, 'See what it becomes')
        await page.keyboard.press('Enter')
        await page.getByText(`500.00 TZS of payment RC-1 to loan ${loan}`, { exact: false }).waitFor()
        await tabTo(page, 'Yes, do it')
        await page.keyboard.press('Enter')
        await page.waitForURL('**?done=doneAllocate')
        expect(await page.getByRole('status').count()).toBe(1)
      },
      { javaScriptEnabled: false },
    )
    expect((await service.get(`/v1/payments/${payment}`)).body).toMatchObject({ allocated: 500, suspense: 1_000 })
  })

  it('an ADMIN compares a statement that is chosen as a file, and takes in what is missing here', async () => {
    const [day] = new Date(service.clock.now()).toISOString().split('T')
    const content = `receipt,at,amount\nRC-2,${day} 12:00:00,"1,200.50"\n`
    await open(
      async (page, complaints) => {
        await goTo(page, '/reconciliations')
        await tabTo(page, 'Compare a statement')
        await page.keyboard.press('Enter')
        await page.waitForURL('**/reconciliations/new')
        for (const name of ['from', 'to']) await page.locator(`input[name=${name}]`).fill(day!)
        const file = { name: 'statement.csv', mimeType: 'text/csv', buffer: Buffer.from('nothing') }
        await page.locator('input[name=statement]').setInputFiles(file)
        await tabTo(page, 'Compare a statement')
        await page.keyboard.press('Enter')
        await page.getByRole('alert').getByText('must have a column receipt').waitFor()
        // The browser notes the refusal.
        expect(complaints.splice(0)).toEqual([expect.stringContaining('400 (Bad Request)')])
        expect(await page.locator('input[name=from]').inputValue()).toBe(day)
        await page.locator('input[name=statement]').setInputFiles({ ...file, buffer: Buffer.from(content) })
        await tabTo(page, 'Compare a statement')
        await page.keyboard.press('Enter')
        await page.waitForURL('**?done=doneCompare')
        await tabTo(page, 'Take in what is missing here')
        await page.keyboard.press('Enter')
        await page.getByText('Payments that are taken in: 1, for 1,200.50 TZS.').waitFor()
        await tabTo(page, 'Yes, do it')
        await page.keyboard.press('Enter')
        await page.waitForURL('**?done=doneApply')
        expect(await page.getByRole('status').count()).toBe(1)
      },
      { javaScriptEnabled: false },
    )
    const { body } = await service.get('/v1/payments?receipt=RC-2', { token: service.tokens.operator })
    expect(body.items).toMatchObject([{ channelId, amount: 1_200.5 }])
  })

  it('an ADMIN gives a holiday, sees each due date before and after, and takes the restructure back', async () => {
    const { body: other } = await service.post('/v1/loans', {
      body: { customerId: 'held', productId: 3, principal: 60_000 },
    })
    const scheduleOf = async () => (await service.get(`/v1/loans/${other.id}`)).body.repaymentSchedule
    const before = await scheduleOf()
    await open(
      async (page) => {
        const sayYes = async (done: string) => {
          await tabTo(page, 'See what it becomes')
          await page.keyboard.press('Enter')
          await page.getByText('Is this what you want?').waitFor()
          const rows = await page.locator('table').last().locator('tbody tr').allInnerTexts()
          await tabTo(page, 'Yes, do it')
          await page.keyboard.press('Enter')
          await page.waitForURL(`**?done=${done}`)
          return rows
        }
        await goTo(page, `/loans/${other.id}`)
        await tabTo(page, 'Restructure')
        await page.keyboard.press('Enter')
        await page.waitForURL('**/do/restructure')
        await page.locator('select[name=interest]').selectOption('none')
        await tabTo(page, 'value')
        await page.keyboard.type('2')
        const moved = await sayYes('doneRestructure')
        const after = await scheduleOf()
        expect(moved).toHaveLength(6)
        for (const [index, row] of moved.entries()) {
          expect(row).toContain(before[index]!.dueDate)
          expect(row).toContain(after[index]!.dueDate)
        }
        await page.locator('a[href*="/do/reverse-restructure"]').first().focus()
        await page.keyboard.press('Enter')
        await page.waitForURL('**/do/reverse-restructure')
        await sayYes('doneReverseRestructure')
        expect(await scheduleOf()).toEqual(before)
      },
      { javaScriptEnabled: false },
    )
  })

  it('every link, field and button can be reached, and shows the focus', async () => {
    await keepJournal(service.deps)
    await open(async (page) => {
      const forms = [`/loans/${loan}/do/waive`, '/audit', '/reconciliations/new']
      for (const path of ['/', `/loans/${loan}`, ...forms]) {
        await goTo(page, path)
        const all = await page.locator(CONTROLS).count()
        const [reached, seen] = [new Set<string>(), [] as string[]]
        for (let pressed = 0; pressed < all * 3 + 20; pressed++) {
          await page.keyboard.press('Tab')
          const at = await page.locator(':focus').evaluateAll(([one], controls) => {
            if (!one) return undefined
            const { outlineStyle, outlineWidth } = one.ownerDocument.defaultView!.getComputedStyle(one)
            const place = [...one.ownerDocument.querySelectorAll(controls)].indexOf(one)
            return { place, isSeen: outlineStyle !== 'none' && outlineWidth !== '0px', html: one.outerHTML }
          }, CONTROLS)
          // The button of a date field, which is none of the page's own.
          if (!at) continue
          seen.push(at.html.slice(0, 40))
          expect([path, at.html.slice(0, 100), at.isSeen]).toEqual([path, at.html.slice(0, 100), true])
          if (at.place >= 0) reached.add(String(at.place))
        }
        expect([path, reached.size, seen.slice(-3)]).toEqual([path, all, seen.slice(-3)])
      }
    })
  })
})

describe('what a client sent', () => {
  it('is shown as text on every page, and runs nothing', async () => {
    await open(async (page) => {
      const pages = ['/customers', `/customers/${customer}`, `/loans/${loan}`, '/search?q=%3Cimg']
      const compared = ['/reconciliations', `/reconciliations/${reconciliation}`, '/reconciliations/new']
      for (const path of [...pages, '/payments', `/payments/${payment}`, '/channels', ...compared]) {
        await goTo(page, path)
        expect([path, await page.locator('main img').count()]).toEqual([path, 0])
        const text = (await page.locator('main').textContent()) ?? ''
        expect([path, text]).toEqual([path, expect.stringContaining('<img src=x onerror="alert(1)">')])
        if (path.startsWith('/loans/')) expect(text).toContain('\\u{202e}evil')
      }
    })
  })
})
