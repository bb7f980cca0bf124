import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { findChromium, signedInContext, startChromium } from '../support/browser.ts'
import { type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

const installed = findChromium()

let service: TestService
let office: Office
let browser: Browser
let late: string

beforeAll(async () => {
  if (installed === undefined) return
  service = await startService()
  service.clock.set('2025-12-20T09:30:00+03:00')
  const identity = { firstName: 'Asha', lastName: 'Mrisho', phone: '+255 700 000 222' }
  await service.post('/v1/customers', { body: { externalId: 'late', identity } })
  late = (await service.post('/v1/loans', { body: { customerId: 'late', productId: 1, principal: 50_000 } })).body.id
  service.clock.set('2026-01-31T09:30:00+03:00')
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

/** Opens a page of the operator in a context of its own. */
async function open(options: object, look: (page: Page) => Promise<void>): Promise<void> {
  const context = await signedInContext(browser, office, DEMO_OPERATOR, options)
  await look(await context.newPage())
  await context.close()
}

describe.each([
  ['wide, in English', { viewport: { width: 1400, height: 900 }, locale: 'en-GB' }],
  ['narrow, in Kiswahili', { viewport: { width: 390, height: 844 }, locale: 'sw-TZ' }],
])("an officer's morning, %s", (_, options) => {
  it('takes at most 12 actions: whom to call, the call, a promise, a repayment and its receipt', async () => {
    await open(options, async (page) => {
      let actions = 0
      const press = async (selector: string) => {
        actions += 1
        await page.locator(selector).first().click()
      }
      await page.goto(`${office.monitor.listeningOrigin}/worklist`)
      actions += 1
      // The call itself is one: the phone number is a link that a telephone opens.
      expect(await page.locator('a[href="tel:+255700000222"]').isVisible()).toBe(true)
      actions += 1
      await press(`a[href="/loans/${late}/do/promise"]`)
      await page.locator('input[name=amount]').fill('1000')
      await page.locator('input[name=until]').fill('2026-02-05')
      await press('main form button')
      await press('.question button')
      await page.waitForURL(`**/loans/${late}?done=donePromise`)
      await press(`a[href="/loans/${late}/do/repay"]`)
      await page.locator('input[name=amount]').fill('1000')
      await press('main form button')
      await press('.question button')
      await page.waitForURL(`**/loans/${late}?done=doneRepay`)
      const receipt = page.locator('p.actions a[href*="/receipt"]').first()
      expect(await receipt.isVisible()).toBe(true)
      actions += 1
      expect(actions).toBeLessThanOrEqual(12)
    })
  })
})
