import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { formOf, type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// The restructure of a loan at the office pages: the form, the preview with the instalments before and after, the change, and its
// reversal. 60,000 in six months at 5% from 31 January: each instalment is 10,000 and 3,000 interest.

let service: TestService
let office: Office
let loan: string

const read = async (more = ''): Promise<Wire> => (await service.get(`/v1/loans/${loan}${more}`)).body
const path = () => `/loans/${loan}/do/restructure`

beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})
beforeEach(async () => {
  service.clock.set('2026-01-31T12:00:00+03:00')
  const externalId = crypto.randomUUID()
  await service.post('/v1/customers', { body: { externalId } })
  const body = { customerId: externalId, productId: 3, principal: 60_000 }
  loan = (await service.post('/v1/loans', { body })).body.id
  service.clock.set('2026-03-10T12:00:00+03:00')
})

/** Fills in the form, looks at the preview and says yes. @returns the preview */
async function take(url: string, fields: Record<string, string>): Promise<string> {
  const preview = await office.send(url, fields)
  expect(preview.status, preview.text).toBe(200)
  const { _token, ...form } = formOf(preview.text, url)
  expect(form.step).toBe('confirm')
  const answer = await office.send(url, form)
  expect(answer.status, answer.text).toBe(303)
  return preview.text
}

/** The cells of the rows of the instalments in a preview. */
const instalments = (page: string): string[][] =>
  page
    .slice(page.indexOf('Due on: Now'))
    .split('<tr>')
    .slice(1)
    .map((row) => [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell = '']) => cell.replace(/<[^>]+>/g, '')))
    .filter((cells) => cells.length === 5)

describe('the form of a restructure', () => {
  it('is reached from the loan, and has a field for each part of the change', async () => {
    expect((await office.look(`/loans/${loan}`)).text).toContain(`<a href="${path()}">`)
    const { status, text } = await office.look(path())
    expect(status).toBe(200)
    for (const name of ['change', 'interest', 'treatment', 'reason']) expect(text).toContain(`<select name="${name}"`)
    for (const name of ['value', 'fee', 'waivePenalty', 'date', 'note']) expect(text).toContain(`name="${name}"`)
    for (const word of ['holiday, in periods', 'roll over until', 'by the rate of the loan', 'disaster'])
      expect(text).toContain(word)
  })

  it('a holiday: the preview has each due date as it is and as it becomes, and the loan then has these', async () => {
    const fields = { change: 'postponeBy', value: '2', interest: 'none', reason: 'disaster', note: 'A flood' }
    const preview = await take(path(), fields)
    expect(instalments(preview)).toEqual([
      ['1', '2026-02-28', '2026-05-31', '13,000.00', '13,000.00'],
      ['2', '2026-03-31', '2026-06-30', '13,000.00', '13,000.00'],
      ['3', '2026-04-30', '2026-07-31', '13,000.00', '13,000.00'],
      ['4', '2026-05-31', '2026-08-31', '13,000.00', '13,000.00'],
      ['5', '2026-06-30', '2026-09-30', '13,000.00', '13,000.00'],
      ['6', '2026-07-31', '2026-10-31', '13,000.00', '13,000.00'],
    ])
    expect(preview).toContain('<strong>2026-05-31</strong>')
    expect(preview).not.toContain('<strong>13,000.00</strong>')
    const { repaymentSchedule, totalOutstanding } = await read()
    expect(repaymentSchedule.map(({ dueDate }) => dueDate)).toEqual(instalments(preview).map(([, , then]) => then))
    expect(totalOutstanding).toBe(78_000)
    expect((await read('/schedules')).items.at(-1)).toMatchObject({
      restructure: {
        change: { postponeBy: { periods: 2 } },
        reason: 'disaster',
        note: 'A flood',
        countsAs: 'hardship',
      },
    })
    const { text } = await office.look(`/loans/${loan}?done=doneRestructure`)
    expect(text).toContain('The loan is restructured.')
    expect(text).toContain('2026-10-31')
  })

  it('an extension with a fee: instalments that go and that come are in the preview', async () => {
    const fields = { change: 'numberOfRepayments', value: '4', interest: 'none', fee: '1,000', treatment: 'added' }
    const preview = await take(path(), { ...fields, reason: 'other' })
    const rows = instalments(preview)
    expect(rows.map(([number, now, then]) => [number, now, then])).toEqual([
      ['1', '2026-02-28', '2026-03-31'],
      ['2', '2026-03-31', '2026-04-30'],
      ['3', '2026-04-30', '2026-05-31'],
      ['4', '2026-05-31', '2026-06-30'],
      ['5', '2026-06-30', ''],
      ['6', '2026-07-31', ''],
    ])
    const loanAfter = await read()
    expect(loanAfter.repaymentSchedule).toHaveLength(4)
    expect(loanAfter).toMatchObject({ feesCharged: 1_000, totalOutstanding: 79_000, principalOutstanding: 60_000 })
  })

  it.each([
    [{ change: 'newFirstDueDate', value: '2026-04-15' }, '2026-04-15'],
    [{ change: 'instalmentAmount', value: '20,000' }, '2026-03-31'],
  ])('%o: the first instalment is due then', async (fields, first) => {
    await take(path(), { ...fields, interest: 'none', reason: 'other' })
    expect((await read()).repaymentSchedule[0]).toMatchObject({ dueDate: first })
  })

  it('a restructure of an earlier day counts from that day', async () => {
    await take(path(), { change: 'postponeBy', value: '1', interest: 'keep', reason: 'hardship', date: '2026-03-05' })
    expect((await read('/schedules')).items.at(-1)).toMatchObject({ restructure: { on: '2026-03-05' } })
  })

  it.each([
    [{ change: 'postponeBy', value: '' }, 'value must be a whole number, 1 to 120'],
    [{ change: 'postponeBy', value: '1.5' }, 'value must be a whole number, 1 to 120'],
    [{ change: 'numberOfRepayments', value: '9999' }, 'value must be a whole number, 1 to 2000'],
    [{ change: 'newFirstDueDate', value: 'May' }, 'value must be a date written YYYY-MM-DD'],
    [{ change: 'newFirstDueDate', value: '2026-03-10' }, 'must be after today, 2026-03-10'],
    [{ change: 'until', value: '2026-12-01' }, 'a roll-over needs a loan that has one left'],
    [{ change: 'instalmentAmount', value: 'much' }, 'value must be a number'],
    [{ change: 'postponeBy', value: '1', fee: 'some' }, 'fee must be a number'],
    [{ change: 'postponeBy', value: '1', date: '2026-03-11' }, 'future'],
    [{ change: 'postponeBy', value: '1', waivePenalty: '5' }, '5.00 TZS is more than the penalties outstanding'],
    [{ change: 'shorten', value: '1' }, 'change'],
  ])('%o is refused in plain words, with the form as it was, and changes nothing', async (fields, why) => {
    const before = await read()
    const { status, text } = await office.send(path(), { interest: 'keep', reason: 'other', ...fields } as Record<
      string,
      string
    >)
    expect([status >= 400 && status < 500, text]).toEqual([true, expect.stringContaining(why)])
    expect(text).toContain('role="alert"')
    expect(await read()).toEqual(before)
  })

  it('is for an ADMIN alone, and not offered where the loan is paid off', async () => {
    for (const person of [DEMO_PARTNER, DEMO_AUDITOR]) expect((await office.look(path(), person)).status).toBe(403)
    await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 78_000 } })
    expect((await office.look(`/loans/${loan}`)).text).not.toContain(path())
  })
})

describe('the reversal of a restructure', () => {
  it('is in its row of the loan, takes its fee back with it, and the schedule is as it was', async () => {
    const before = await read()
    const fee = { fee: '500', treatment: 'due_now' }
    await take(path(), { change: 'postponeBy', value: '1', interest: 'keep', reason: 'hardship', ...fee })
    const { text } = await office.look(`/loans/${loan}`)
    const links = [...text.matchAll(/\/transactions\/(\d+)\/do\/([a-z-]+)/g)].map(([, , action]) => action)
    // The fee has none: it goes with the restructure.
    expect(links).toEqual(['reverse-restructure'])
    const [link] = /\/loans\/\d+\/transactions\/\d+\/do\/reverse-restructure/.exec(text)!
    const preview = await take(link, { note: 'A mistake' })
    expect(instalments(preview).at(-1)).toEqual(['7', '2026-09-30', '', expect.any(String), ''])
    const { repaymentSchedule, totalOutstanding, feesCharged } = await read()
    expect({ repaymentSchedule, totalOutstanding, feesCharged }).toEqual({
      repaymentSchedule: before.repaymentSchedule,
      totalOutstanding: before.totalOutstanding,
      feesCharged: before.feesCharged,
    })
  })
})
