import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rememberRecent } from '../../src/office/recent.ts'
import { createTotals, type Totals } from '../../src/services/book/totals.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { portfolioJob } from '../../src/services/portfolio/keepDays.ts'
import { findChromium, signedInContext, startChromium } from '../support/browser.ts'
import { type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

const installed = findChromium()

let service: TestService
let office: Office
let totals: Totals
let browser: Browser
let loan: string

beforeAll(async () => {
  if (installed === undefined) return
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const lend = async (productId: number, principal: number): Promise<string> =>
    (await service.post('/v1/loans', { body: { customerId: 'asha', productId, principal } })).body.id
  const repay = (transactionAmount: number) =>
    service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount } })
  for (const [day, productId, principal] of [
    ['2026-02-05', 1, 2_500_000],
    ['2026-02-10', 2, 9_750_000],
    ['2026-02-17', 4, 120_000],
  ] as const) {
    service.clock.set(day)
    await lend(productId, principal)
  }
  loan = await lend(3, 6_000_000)
  service.clock.set('2026-02-20')
  await repay(1_300_000)
  service.clock.set('2026-03-01')
  await repay(500_000)
  service.clock.set('2026-03-21')
  await drain(sweepJob(service.deps))
  await drain(sequencerJob(service.deps))
  await drain(portfolioJob(service.deps))
  service.clock.set('2026-03-01')
  const recent = rememberRecent(service.clock.now)
  const why = {
    message: 'transactionAmount: must be greater than 0',
    reason: 'transactionAmount: must be greater than 0',
  }
  for (const code of ['invalid_argument', 'internal'] as const)
    recent.listener.refused?.({
      ...why,
      ...{ style: 'partner', route: '/v1/loans/external/:externalId/repayments' },
      code,
      organizationId: 1,
      accountId: 1,
      address: '127.0.0.1',
      requestId: crypto.randomUUID(),
    })
  recent.listener.swept?.(12)
  totals = createTotals(service.deps)
  await drain(totals.job)
  office = openOffice(service.deps, { recent, totals })
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

/** Errors in the browser while the page was shown, and the URLs that it requested. */
async function show(path: string, options: BrowserContextOptions, look: (page: Page) => Promise<void>): Promise<void> {
  const context = await signedInContext(browser, office, DEMO_OPERATOR, options)
  const page = await context.newPage()
  const complaints: string[] = []
  const hosts = new Set<string>()
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  const answer = await page.goto(`${office.monitor.listeningOrigin}${path}`)
  expect(answer?.status()).toBe(200)
  await look(page)
  expect(complaints).toEqual([])
  expect([...hosts]).toEqual([office.monitor.listeningOrigin])
  await context.close()
}

const WIDE = { viewport: { width: 1280, height: 900 } }
const NARROW = { viewport: { width: 390, height: 844 } }

/** Words of a plot that lie on others, or that are cut off at its edge. */
const misplacedWords = (page: Page): Promise<string[]> =>
  page.locator('svg').evaluateAll((plots) =>
    plots.flatMap((plot) => {
      const edge = plot.getBoundingClientRect()
      const words = [...plot.querySelectorAll('text')].map((text) => ({ text, box: text.getBoundingClientRect() }))
      return words
        .filter(({ box }) => box.width > 0)
        .filter(({ box, text }, index, all) => {
          const outside = box.left < edge.left || box.right > edge.right || box.bottom > edge.bottom + 1
          const onOthers = all.slice(index + 1).some((other) => {
            const apart = other.box.left >= box.right || other.box.right <= box.left
            return !apart && other.box.top < box.bottom && other.box.bottom > box.top && other.text !== text
          })
          return outside || onOthers || box.height < 10
        })
        .map(({ text }) => text.textContent ?? '')
    }),
  )

describe.each([
  ['wide', WIDE],
  ['narrow', NARROW],
] as const)("the operators' pages in Chromium, %s", (_, size) => {
  it.each([
    ['today', () => '/'],
    ['the book', () => '/book'],
    ['a loan', () => `/loans/${loan}`],
    ['portfolio at risk over time', () => '/portfolio-at-risk'],
  ])('%s: no wider than the screen, every word of a plot to be read', async (_name, path) => {
    await show(path(), size, async (page) => {
      const { scrollWidth, clientWidth } = await page.locator('html').evaluate((whole) => ({
        scrollWidth: whole.scrollWidth,
        clientWidth: whole.clientWidth,
      }))
      expect(scrollWidth).toBe(clientWidth)
      expect(await misplacedWords(page)).toEqual([])
      expect(await page.locator('svg .axis.value').allTextContents()).toContain('0')
    })
  })

  it('arrears: no wider than the screen', async () => {
    await show('/arrears', size, async (page) => {
      const { scrollWidth, clientWidth } = await page.locator('html').evaluate((whole) => ({
        scrollWidth: whole.scrollWidth,
        clientWidth: whole.clientWidth,
      }))
      expect(scrollWidth).toBe(clientWidth)
      expect(await page.locator('table', { hasText: 'Overdue loans' }).locator('tbody a').count()).toBe(2)
    })
  })
})

describe('the page of the book in Chromium', () => {
  it('has its figures thousands apart, and bars as high as what moved', async () => {
    await show('/book', WIDE, async (page) => {
      const total = page.locator('tr', { hasText: 'All' }).locator('td').nth(3)
      expect(await total.textContent()).toMatch(/^\d{1,3}(,\d{3}){2}\.\d{2}$/)
      const height = (day: string, which: number) =>
        page
          .locator('g', { has: page.locator('title', { hasText: day }) })
          .locator(`.bar${which}`)
          .evaluate((bar) => bar.getBoundingClientRect().height)
      const [larger, smaller, none] = [
        await height('2026-02-10', 0),
        await height('2026-02-05', 0),
        await height('2026-02-06', 0),
      ]
      expect(larger / smaller).toBeCloseTo(9_750_000 / 2_500_000, 1)
      expect(none).toBe(0)
      expect(await height('2026-02-20', 1)).toBeGreaterThan(await height('2026-03-01', 1))
    })
  })

  it('narrow: each row of a table is a card on the screen, whose cells say what they are', async () => {
    await show('/book', NARROW, async (page) => {
      const section = page.locator('section', { hasText: 'Outstanding, overdue' })
      expect(await section.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(false)
      const cells = section.locator('tbody tr').first().locator('td')
      const last = await cells.last().boundingBox()
      expect(last!.x + last!.width).toBeLessThanOrEqual(390)
      expect(await cells.last().getAttribute('data-label')).toBe(await section.locator('thead th').last().textContent())
    })
  })

  it('narrow: the menu is folded until it is asked for', async () => {
    await show('/book', NARROW, async (page) => {
      const heading = await page.locator('h1').boundingBox()
      expect(heading!.y).toBeLessThan(200)
      expect(await page.getByRole('link', { name: 'Audit trail' }).isVisible()).toBe(false)
      await page.locator('#menu').press('Space')
      expect(await page.getByRole('link', { name: 'Audit trail' }).isVisible()).toBe(true)
    })
  })

  it('the search leads to a loan, with its schedule, its entries and its balance', async () => {
    await show('/book', WIDE, async (page) => {
      await page.getByRole('searchbox').fill(loan)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: loan, exact: true }).first().click()
      await page.waitForURL(`**/loans/${loan}`)
      expect(await page.locator('h1').textContent()).toBe(`Loan ${loan}`)
      const rows = (caption: string) => page.locator('table', { hasText: caption }).locator('tbody tr').count()
      expect([await rows('Schedule'), await rows('Transactions, newest first')]).toEqual([6, 2])
      const heights = await page.locator('.dot').evaluateAll((dots) => dots.map((dot) => dot.getBoundingClientRect().y))
      // Falling balance, from the disbursement over two repayments.
      expect(heights).toEqual(heights.toSorted((a, b) => a - b))
      expect(new Set(heights).size).toBe(3)
    })
  })
})

/** WCAG's contrast of two colours. */
function contrast(one: string, other: string): number {
  const light = (colour: string) => {
    const parts = [...colour.matchAll(/[\d.]+/g)].slice(0, 3).map(([part]) => Number(part) / 255)
    const [red = 0, green = 0, blue = 0] = parts.map((part) =>
      part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [darker = 0, lighter = 0] = [light(one), light(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

describe.each(['light', 'dark'] as const)('a reader with the scheme %s', (colorScheme) => {
  it('gets that scheme, and text of enough contrast', async () => {
    await show('/book', { ...WIDE, colorScheme }, async (page) => {
      const colour = (selector: string, property: 'color' | 'backgroundColor' | 'fill') =>
        page
          .locator(selector)
          .first()
          .evaluate((one, name) => one.ownerDocument.defaultView!.getComputedStyle(one)[name], property)
      const paper = await colour('body', 'backgroundColor')
      expect(contrast(paper, 'rgb(0, 0, 0)') < 2).toBe(colorScheme === 'dark')
      for (const [selector, property] of [
        ['td', 'color'],
        ['th', 'color'],
        ['.bad', 'color'],
        ['.axis', 'fill'],
        ['header', 'color'],
      ] as const)
        expect(contrast(paper, await colour(selector, property)), selector).toBeGreaterThan(4.5)
    })
  })
})
