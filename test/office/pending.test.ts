import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { setRoles } from '../../src/services/access/accounts.ts'
import { DEMO_AUDITOR } from '../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../support/accounts.ts'
import { commandLine, lend, letWaitAbove } from '../support/approvals.ts'
import { formOf, type Office, openOffice, type Person, type Seen } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

// Actions above the amount of the organization, at the office pages: one ADMIN asks, another decides.

const MAKER: Person = { email: 'maker@lender.example', password: 'the secret of the maker' }
const CHECKER: Person = { email: 'checker@lender.example', password: 'the secret of the checker' }
const THIRD: Person = { email: 'third@lender.example', password: 'the secret of the third' }

let service: TestService
let office: Office
let loan: string
let names = 0
beforeAll(async () => {
  service = await startService()
  for (const person of [MAKER, CHECKER, THIRD])
    await addAccount(service.deps, commandLine, { ...person, roles: ['ADMIN'] })
  await letWaitAbove(service, 500)
  office = openOffice(service.deps)
})
afterAll(async () => {
  await office.monitor.close()
  await service.close()
})
beforeEach(async () => {
  loan = (await lend(service, `pending-${names++}`)).split('/').at(-1)!
})

/** Sends a form, and answers the question that follows with yes. */
async function take(path: string, fields: Record<string, string>, person: Person): Promise<Seen> {
  const preview = await office.send(path, fields, person)
  expect(preview.status, preview.text).toBe(200)
  const { _token, ...form } = formOf(preview.text, path)
  return office.send(path, form, person)
}
const waive = (amount: string) => take(`/loans/${loan}/do/waive`, { amount, note: 'a flood' }, MAKER)
const waived = async (): Promise<number> => (await service.get(`/v1/loans/${loan}`)).body.interestWaived
/** The id of the action that waits on the loan. */
async function pendingId(): Promise<string> {
  const { text } = await office.look('/pending', CHECKER)
  const row = text.split('<tr>').find((one) => one.includes(`/loans/${loan}"`))
  return /\/pending\/(\d+)\/do\/approve/.exec(row ?? '')?.[1] ?? ''
}

describe('an action above the amount', () => {
  it('waits, is listed with who asked, and is done when another ADMIN approves what it becomes now', async () => {
    expect((await waive('1000')).headers.location).toBe(`/loans/${loan}?done=doneWaits`)
    expect(await waived()).toBe(0)
    const { text } = await office.look('/pending', CHECKER)
    expect(text).toContain('Amounts above 500.00 TZS wait for a second ADMIN.')
    expect(text).toContain(MAKER.email)
    const path = `/pending/${await pendingId()}/do/approve`
    const preview = await office.send(path, {}, CHECKER)
    expect(preview.text).toContain('<strong>109,000.00</strong>')
    const answer = await take(path, {}, CHECKER)
    expect(answer.headers.location).toBe('/pending?done=doneApprove')
    expect(await waived()).toBe(1_000)
    expect((await office.look('/pending?state=approved', CHECKER)).text).toContain(CHECKER.email)
  })

  it('at the amount or below it is done at once', async () => {
    expect((await waive('500')).headers.location).toBe(`/loans/${loan}?done=doneWaive`)
    expect(await waived()).toBe(500)
  })

  it('the one who asked may withdraw, and cannot approve', async () => {
    await waive('1000')
    const id = await pendingId()
    const { text } = await office.look('/pending', MAKER)
    expect(text).toContain(`/pending/${id}/do/withdraw`)
    expect(text).not.toContain(`/pending/${id}/do/approve`)
    const refused = await take(`/pending/${id}/do/approve`, {}, MAKER)
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('the one who asked cannot approve')])
    expect((await take(`/pending/${id}/do/withdraw`, {}, MAKER)).headers.location).toBe('/pending?done=doneWithdraw')
    expect(await waived()).toBe(0)
  })

  it('another ADMIN rejects it with a reason, which the one who asked sees', async () => {
    await waive('1000')
    const path = `/pending/${await pendingId()}/do/reject`
    expect((await office.send(path, { reason: ' ' }, CHECKER)).status).toBe(400)
    expect((await take(path, { reason: 'ask <b>her</b> first' }, CHECKER)).headers.location).toBe(
      '/pending?done=doneReject',
    )
    expect((await office.look('/pending?state=rejected', MAKER)).text).toContain('ask &lt;b&gt;her&lt;/b&gt; first')
    expect(await waived()).toBe(0)
  })

  it('two ADMINs approve at once: it is done once, and one of them hears that it was decided', async () => {
    await waive('1000')
    const path = `/pending/${await pendingId()}/do/approve`
    const forms = await Promise.all(
      [CHECKER, THIRD].map(async (person) => {
        const { _token, ...form } = formOf((await office.send(path, {}, person)).text, path)
        return { person, form }
      }),
    )
    const answers = await Promise.all(forms.map(({ person, form }) => office.send(path, form, person)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409])
    expect(await waived()).toBe(1_000)
  })

  it('an ADMIN who confirms after another has approved hears that it was decided, and sees no question again', async () => {
    await waive('1000')
    const path = `/pending/${await pendingId()}/do/approve`
    const { _token, ...form } = formOf((await office.send(path, {}, THIRD)).text, path)
    expect((await take(path, {}, CHECKER)).status).toBe(303)
    const late = await office.send(path, form, THIRD)
    expect([late.status, late.text]).toEqual([409, expect.stringContaining('the action is approved already')])
    expect(await waived()).toBe(1_000)
  })

  it('an ADMIN whose role was taken away cannot approve any more within five seconds', async () => {
    await waive('1000')
    const path = `/pending/${await pendingId()}/do/approve`
    const { _token, ...form } = formOf((await office.send(path, {}, THIRD)).text, path)
    await setRoles(service.deps, commandLine, THIRD.email, ['USER'])
    service.clock.set(new Date(service.clock.now() + 5_000).toISOString())
    expect((await office.post(path, { ...form, _token: '' }, await office.signIn(THIRD))).status).toBe(403)
    expect((await office.look(path, THIRD)).status).toBe(403)
    expect(await waived()).toBe(0)
    await setRoles(service.deps, commandLine, THIRD.email, ['ADMIN'])
  })

  it('an AUDITOR sees the list, and may do nothing', async () => {
    await waive('1000')
    const { status, text } = await office.look('/pending', DEMO_AUDITOR)
    expect(status).toBe(200)
    expect(text).not.toContain('/do/')
    expect((await office.look(`/pending/${await pendingId()}/do/approve`, DEMO_AUDITOR)).status).toBe(403)
  })

  it('404 for what is not there', async () => {
    for (const path of ['/pending/999999/do/approve', '/pending/x/do/approve', '/pending/1/do/dance'])
      expect([path, (await office.look(path, CHECKER)).status]).toEqual([path, 404])
  })
})
