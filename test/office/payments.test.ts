import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { createChannel } from '../../src/services/payments/channels.ts'
import { addAccount } from '../support/accounts.ts'
import { commandLine } from '../support/approvals.ts'
import { keepJournal } from '../support/journal.ts'
import { anotherLender } from '../support/lenders.ts'
import { formOf, type Office, openOffice, type Person, type Seen } from '../support/office.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// Payments at the office pages: those that wait, one of them, what is done with it, and the channels.

const SECOND: Person = { email: 'second@lender.example', password: 'the secret of the second' }
const HOSTILE = `<img src=x onerror="alert(1)">`

let service: TestService
let office: Office
let channelId: string
let names = 0

const post = async (path: string, body: object, token = service.tokens.partner): Promise<Wire> => {
  const answer = await service.post(path, { body, token })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const paymentNow = async (id: string): Promise<Wire> => (await service.get(`/v1/payments/${id}`)).body
const paid = async (loan: string): Promise<number> => (await service.get(`/v1/loans/${loan}`)).body.totalPaid

const makeChannel = async (body: object = {}): Promise<string> =>
  (
    await post(
      '/v1/payment-channels',
      { name: 'Wallet 400200', adapter: 'canonical', ...body },
      service.tokens.operator,
    )
  ).id

const receive = (body: object = {}): Promise<Wire> =>
  post('/v1/payments', {
    ...{ channelId, receipt: `RC-${++names}`, amount: 1_000, paidAt: new Date(service.clock.now()).toISOString() },
    ...body,
  })

/** Lends two loans to a customer, so that a payment with the customer's name fits both and waits. */
async function lendTwo() {
  const customer = `asha-${++names}`
  await post('/v1/customers', { externalId: customer })
  const lend = async (): Promise<string> =>
    (await post('/v1/loans', { customerId: customer, productId: 3, principal: 60_000 })).id
  return { customer, loans: [await lend(), await lend()] as const }
}

beforeAll(async () => {
  service = await startService()
  service.clock.set(FIRST_DAY)
  await addAccount(service.deps, commandLine, { ...SECOND, roles: ['ADMIN'] })
  office = openOffice(service.deps)
  channelId = await makeChannel()
})
afterAll(async () => {
  await keepJournal(service.deps)
  await office.monitor.close()
  await service.close()
})

/** The cells of the row of a table that has a text. */
const cellsWith = (page: string, text: string): string[] =>
  [...(page.split('<tr>').find((row) => row.includes(text)) ?? '').matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(
    ([, cell = '']) => cell,
  )
/** Answers the question of a page with yes. */
function answer(path: string, page: string, person?: Person): Promise<Seen> {
  const { _token, ...form } = formOf(page, path)
  expect(form.step).toBe('confirm')
  return office.send(path, form, person)
}
/** Sends the form of an action, and answers its question with yes. */
async function take(path: string, fields: Record<string, string>): Promise<Seen> {
  const asked = await office.send(path, { ...fields, step: 'preview' })
  expect(asked.status, asked.text).toBe(200)
  return answer(path, asked.text)
}
const allocatePath = (payment: string, loan: string) => `/payments/${payment}/loans/${loan}/do/allocate`

describe('the page of payments to match', () => {
  let customer: string
  let loans: readonly [string, string]
  let payment: Wire
  beforeAll(async () => {
    ;({ customer, loans } = await lendTwo())
    payment = await receive({ reference: customer, payerName: `Juma ${HOSTILE}`, payerPhone: '255712000001' })
  })

  it('shows what waits, the oldest first, with the cause and the loans that it may be for', async () => {
    const later = await receive({ reference: HOSTILE, amount: 2_500.5 })
    const { status, text } = await office.look('/payments')
    expect(status).toBe(200)
    const [id, day, channel, receipt, reference, payer, currency, amount, suspense, state, cause, candidates] =
      cellsWith(text, `/payments/${payment.id}"`)
    expect([id, day, channel, receipt, reference]).toEqual([
      `<a href="/payments/${payment.id}">${payment.id}</a>`,
      ...['2026-01-31', 'Wallet 400200', payment.receipt, customer],
    ])
    expect(payer).toBe('Juma &lt;img src=x onerror=&quot;alert(1)&quot;&gt;, 255712000001')
    expect([currency, amount, suspense, state]).toEqual(['TZS', '1,000.00', '1,000.00', 'in suspense'])
    expect(cause).toBe('the customer of the reference fits 2 loans')
    for (const loan of loans) expect(candidates).toContain(`href="${allocatePath(payment.id, loan)}"`)
    expect(candidates).toContain(`${customer} Customer: the reference is the name of the customer`)
    expect(text.indexOf(`/payments/${payment.id}"`)).toBeLessThan(text.indexOf(`/payments/${later.id}"`))
    expect(text).not.toContain('<img src=x')
  })

  it('a USER sees what waits without the payer, and no other payment; an AUDITOR all of it, and may do nothing', async () => {
    const mine = await office.look('/payments', DEMO_PARTNER)
    expect(mine.text).toContain(allocatePath(payment.id, loans[0]))
    expect(mine.text).not.toMatch(/Juma|712000001|payments\.csv/)
    expect((await office.look(`/payments/${payment.id}`, DEMO_PARTNER)).text).not.toMatch(/Juma|712000001|\/do\/return/)
    expect((await office.look('/payments?status=all', DEMO_PARTNER)).status).toBe(403)
    for (const path of ['/channels', '/payments.csv', '/payments-in-suspense.csv'])
      expect([path, (await office.look(path, DEMO_PARTNER)).status]).toEqual([path, 403])
    for (const path of ['/payments', `/payments/${payment.id}`]) {
      const { text } = await office.look(path, DEMO_AUDITOR)
      expect(text).toContain('255712000001')
      expect(text).not.toContain('/do/')
    }
    expect((await office.look(allocatePath(payment.id, loans[0]), DEMO_AUDITOR)).status).toBe(403)
    for (const [person, action] of [
      [DEMO_PARTNER, 'return'],
      [DEMO_PARTNER, 'reverse'],
      [DEMO_AUDITOR, 'return'],
    ] as const)
      expect((await office.look(`/payments/${payment.id}/do/${action}`, person)).status).toBe(403)
  })

  it('a payment that waits for the statement is there with its loans, and cannot be allocated', async () => {
    const { loans: own, customer: name } = await lendTwo()
    const held = await receive({ reference: name })
    await service.owner.pool.query('UPDATE payment SET unconfirmed = true WHERE id = $1', [held.id])
    const { text } = await office.look('/payments')
    const cells = cellsWith(text, `/payments/${held.id}"`)
    expect(cells[9]).toBe('in suspense, waits for the statement of the provider')
    expect(cells[11]).toContain(`/loans/${own[0]}"`)
    expect(cells[11]).not.toContain('/do/allocate')
    const refused = await office.look(allocatePath(held.id, own[0]))
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('waits for the statement')])
    await service.owner.pool.query('UPDATE payment SET unconfirmed = false WHERE id = $1', [held.id])
  })

  it('lists the payments of a channel, of a status and of a receipt for a reader', async () => {
    const other = await makeChannel({ name: 'Bank' })
    const there = await receive({ channelId: other, reference: 'nobody' })
    const shown = async (query: string) =>
      [...(await office.look(`/payments?${query}`)).text.matchAll(/<a href="\/payments\/(\d+)">/g)].map(([, id]) => id)
    expect(await shown(`channel=${other}`)).toEqual([there.id])
    expect(await shown(`status=unmatched&channel=${other}`)).toEqual([there.id])
    expect(await shown(`status=all&receipt=${there.receipt}`)).toEqual([there.id])
    const { loans: own } = await lendTwo()
    expect((await take(allocatePath(there.id, own[0]), {})).status).toBe(303)
    expect(await shown(`channel=${other}`)).toEqual([])
    expect(await shown(`receipt=${there.receipt}`)).toEqual([there.id])
    expect(await shown('channel=99999999999')).toEqual([])
    expect(await shown(`status=reversed&channel=${other}`)).toEqual([])
    expect((await office.look('/payments?status=dance')).status).toBe(400)
  })

  it('says in Kiswahili why a payment waits, on the list, on its page and in its trail; a person’s own words as they are', async () => {
    const headers = { cookie: await office.signIn(DEMO_OPERATOR), 'accept-language': 'sw' }
    const shown = async (url: string) => (await office.monitor.inject({ url, headers })).body
    const sentence = 'mteja wa kumbukumbu analingana na mikopo 2'
    expect(cellsWith(await shown('/payments'), `/payments/${payment.id}"`)[10]).toBe(sentence)
    const page = await shown(`/payments/${payment.id}`)
    expect(page).toContain(`<dt>Sababu</dt><dd>${sentence}</dd>`)
    expect(page).toContain(`sababu: ${sentence}`)
    expect(await paymentNow(payment.id)).toMatchObject({ cause: 'the customer of the reference fits 2 loans' })
    const { loans: own } = await lendTwo()
    const noted = await receive({ reference: 'nobody' })
    expect((await take(allocatePath(noted.id, own[0]), {})).status).toBe(303)
    expect((await take(`/payments/${noted.id}/do/reverse`, { note: 'the wrong <b>loan</b>' })).status).toBe(303)
    expect(await shown(`/payments/${noted.id}`)).toContain('<dt>Sababu</dt><dd>the wrong &lt;b&gt;loan&lt;/b&gt;</dd>')
  })

  it('is in Kiswahili, and on the page of the day', async () => {
    const headers = { cookie: await office.signIn(DEMO_PARTNER), 'accept-language': 'sw' }
    expect((await office.monitor.inject({ url: '/payments', headers })).body).toContain(
      'kumbukumbu ni kitambulisho cha mteja',
    )
    const { text } = await office.look('/')
    expect(text).toMatch(/<a href="\/payments">Payments to match<\/a>: \d+ for [\d,.]+ TZS/)
  })

  it('has all that waits as a file, and all payments as another, safe for a spreadsheet', async () => {
    const formula = await receive({ reference: '=1+1', payerPhone: '255700000002' })
    const waits = (await office.look('/payments-in-suspense.csv')).text.split('\n')
    expect(waits[0]).toContain('id,channelId,receipt,status,currencyCode,amount,suspense,paidAt,valueDate,reference')
    const row = waits.find((line) => line.startsWith(formula.id))
    expect(row).toContain(`unmatched,TZS,1000.00,1000.00`)
    expect(row).toContain("'=1+1")
    expect((await office.look('/payments.csv')).text).toContain(formula.receipt)
  })
})

describe('one payment', () => {
  let loans: readonly [string, string]
  let payment: Wire
  beforeEach(async () => {
    const two = await lendTwo()
    loans = two.loans
    payment = await receive({ reference: two.customer })
  })

  it('is allocated to a candidate by one click and yes, after what the loan owes before and then', async () => {
    const path = allocatePath(payment.id, loans[1])
    const question = await office.look(path)
    expect(question.status).toBe(200)
    expect(question.text).toContain(`Allocate 1,000.00 TZS of payment ${payment.receipt} to loan ${loans[1]} of `)
    const { totalOutstanding } = (await service.get(`/v1/loans/${loans[1]}`)).body
    const shown = (amount: number) => amount.toLocaleString('en', { minimumFractionDigits: 2 })
    expect(cellsWith(question.text, '<td>Outstanding</td>')).toEqual([
      'Outstanding',
      shown(totalOutstanding),
      `<strong>${shown(totalOutstanding - 1_000)}</strong>`,
    ])
    expect(await paid(loans[1])).toBe(0)
    const done = await answer(path, question.text)
    expect([done.status, done.headers.location]).toEqual([303, `/payments/${payment.id}?done=doneAllocate`])
    expect(await paid(loans[1])).toBe(1_000)
    const { text } = await office.look(String(done.headers.location))
    expect(text).toMatch(/role="status">The payment is allocated\./)
    expect(text).toMatch(new RegExp(`Repayments of the payment.*href="/loans/${loans[1]}"`, 's'))
    expect(text).toMatch(/Changes, newest first.*allocated/s)
    expect((await office.look(`/loans/${loans[1]}`)).text).toContain(`<a href="/payments/${payment.id}">Payment</a>`)
    expect((await office.look(`/loans/${loans[1]}`)).text).not.toMatch(/transactions\/\d+\/do\/(reverse|adjust)/)
    expect((await office.look('/audit?entity=payment')).text).toContain(`<a href="/payments/${payment.id}">`)
  })

  it('a USER allocates, too', async () => {
    const path = allocatePath(payment.id, loans[0])
    expect((await answer(path, (await office.look(path, DEMO_PARTNER)).text, DEMO_PARTNER)).status).toBe(303)
    expect(await paid(loans[0])).toBe(1_000)
  })

  it('goes to a loan that was searched for, a part of it first', async () => {
    const { customer, loans: others } = await lendTwo()
    const { text } = await office.look(`/payments/${payment.id}?q=${customer}`)
    expect(text).toMatch(new RegExp(`Loans that were found.*${allocatePath(payment.id, others[0])}`, 's'))
    const path = allocatePath(payment.id, others[0])
    expect((await take(path, { amount: '400' })).status).toBe(303)
    expect(await paymentNow(payment.id)).toMatchObject({ status: 'partly_allocated', suspense: 600 })
    expect(await paid(others[0])).toBe(400)
    expect((await office.look('/payments')).text).toContain(`/payments/${payment.id}"`)
  })

  it('a second click, and the same question answered many times at once, post once', async () => {
    const path = allocatePath(payment.id, loans[0])
    const { text } = await office.look(path)
    const answers = await Promise.all([1, 2, 3, 4].map(() => answer(path, text)))
    expect(answers.filter(({ status }) => status === 303).length).toBeGreaterThanOrEqual(1)
    expect((await answer(path, text)).status).toBe(303)
    expect(await paid(loans[0])).toBe(1_000)
  })

  it('of two people at once one allocates, and the other sees what became of it', async () => {
    const asked = await Promise.all(
      ([undefined, SECOND] as const).map(async (person, index) => {
        const path = allocatePath(payment.id, loans[index]!)
        return { path, person, text: (await office.look(path, person)).text }
      }),
    )
    const answers = await Promise.all(asked.map(({ path, person, text }) => answer(path, text, person)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 409])
    const lost = answers.find(({ status }) => status === 409)!
    expect(lost.text).toContain('role="alert"')
    expect(lost.text).toMatch(/<dt>Status<\/dt><dd>allocated<\/dd>/)
    expect(lost.text).toMatch(/Repayments of the payment.*href="\/loans\/\d+"/s)
    expect((await paid(loans[0])) + (await paid(loans[1]))).toBe(1_000)
  })

  it('asks again where the loan has changed since', async () => {
    const path = allocatePath(payment.id, loans[0])
    const { text } = await office.look(path)
    await post(`/v1/loans/${loans[0]}/repayments`, { transactionAmount: 100 })
    const again = await answer(path, text)
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('The payment or the loan has changed')])
    expect(await paid(loans[0])).toBe(100)
    expect((await answer(path, again.text)).status).toBe(303)
    expect(await paid(loans[0])).toBe(1_100)
  })

  it.each([
    [{ amount: '' }, 'amount must be a number'],
    [{ amount: '0' }, 'greater than 0'],
    [{ amount: '1.001' }, 'decimals'],
    [{ amount: '1000.01' }, '1000.01 TZS is more than what is in suspense of the payment, 1000.00 TZS'],
  ])('%o is refused in plain words, and changes nothing', async (fields, why) => {
    const path = allocatePath(payment.id, loans[0])
    const { status, text } = await office.send(path, { ...fields, step: 'preview' })
    expect([status >= 400 && status < 500, text]).toEqual([true, expect.stringContaining(why)])
    expect(await paymentNow(payment.id)).toMatchObject({ suspense: 1_000 })
  })

  it('is paid back with a note, a part first, by an ADMIN', async () => {
    const path = `/payments/${payment.id}/do/return`
    const bare = await office.send(path, { note: ' ' })
    expect([bare.status, bare.text]).toEqual([400, expect.stringContaining('note must be 1 to 1000 characters')])
    const asked = await office.send(path, { amount: '300', note: 'sent <b>back</b>' })
    expect(asked.text).toContain('<strong>700.00</strong>')
    expect(asked.text).toContain('sent &lt;b&gt;back&lt;/b&gt;')
    expect((await answer(path, asked.text)).headers.location).toBe(`/payments/${payment.id}?done=doneReturn`)
    expect(await paymentNow(payment.id)).toMatchObject({ returned: 300, suspense: 700 })
    expect((await take(path, { note: 'the rest' })).status).toBe(303)
    expect(await paymentNow(payment.id)).toMatchObject({ status: 'returned', returned: 1_000 })
    expect((await office.send(path, { amount: '1', note: 'again' })).status).toBe(409)
  })

  it('is taken from its loans again, one repayment or all, by an ADMIN', async () => {
    for (const [loan, amount] of [
      [loans[0], '300'],
      [loans[1], '500'],
    ] as const)
      expect((await take(allocatePath(payment.id, loan), { amount })).status).toBe(303)
    const [first] = (await paymentNow(payment.id)).allocations as { transactionId: string }[]
    const one = `/payments/${payment.id}/repayments/${first!.transactionId}/do/reverse`
    expect((await office.look(`/payments/${payment.id}`)).text).toContain(`href="${one}"`)
    const asked = await office.send(one, { note: 'wrong loan' })
    expect(cellsWith(asked.text, '<td>Paid</td>')).toEqual(['Paid', '300.00', '<strong>0.00</strong>'])
    expect((await answer(one, asked.text)).status).toBe(303)
    expect([await paid(loans[0]), await paid(loans[1])]).toEqual([0, 500])
    expect((await take(allocatePath(payment.id, loans[0]), { amount: '200' })).status).toBe(303)
    const all = `/payments/${payment.id}/do/reverse`
    const both = await office.send(all, {})
    expect(cellsWith(both.text, '<td>In suspense</td>')).toEqual(['In suspense', '300.00', '<strong>1,000.00</strong>'])
    expect((await answer(all, both.text)).headers.location).toBe(`/payments/${payment.id}?done=doneReverseAllocations`)
    expect([await paid(loans[0]), await paid(loans[1])]).toEqual([0, 0])
    expect((await office.send(all, {})).status).toBe(409)
  })

  it('shows the messages that told of it, for readers', async () => {
    await service.owner.pool.query(
      `INSERT INTO payment_inbox (organization_id, channel_id, received_at, message, state, outcome, payment_id, decided_at)
       VALUES (1, $1, now(), 'sealed', 'done', 'received <i>once</i>', $2, now())`,
      [Number(channelId), payment.id],
    )
    expect((await office.look(`/payments/${payment.id}`)).text).toContain('received &lt;i&gt;once&lt;/i&gt;')
    expect((await office.look(`/payments/${payment.id}`, DEMO_PARTNER)).text).not.toContain('once')
  })

  it('404 for what is not there, and for a payment of another organization', async () => {
    const other = await receiveElsewhere()
    expect((await office.look('/payments')).text).not.toContain(`/payments/${other}"`)
    for (const path of [
      ...['/payments/1', '/payments/x', '/payments/1/do/return', `/payments/${payment.id}/do/dance`],
      ...[allocatePath(payment.id, '1'), allocatePath('1', loans[0]), `/payments/${other}`],
      ...[`/payments/${payment.id}/repayments/1/do/reverse`, `/payments/${other}/do/return`],
      allocatePath(other, loans[0]),
    ])
      expect([path, (await office.look(path)).status]).toEqual([path, 404])
  })
})

/** Lets another organization receive a payment. @returns its id */
async function receiveElsewhere(): Promise<string> {
  const token = await anotherLender(service, 2, 'TZS')
  const { channel } = await createChannel(service.deps, operator(2, 'test'), { name: 'Theirs', adapter: 'canonical' })
  const body = { channelId: String(channel.id), receipt: 'elsewhere', amount: 10, reference: 'nobody' }
  return (await post('/v1/payments', body, token)).id
}

describe('the page of the channels', () => {
  it('shows each with what came in today, what waits, and where its money is', async () => {
    const id = await makeChannel({ name: `Till ${HOSTILE}`, account: '1000', shortCode: '400200' })
    const { loans } = await lendTwo()
    const held = await receive({ channelId: id, reference: 'nobody', amount: 5_000 })
    await receive({ channelId: id, reference: 'nobody', amount: 700, paidAt: '2026-01-30T10:00:00+03:00' })
    expect((await take(allocatePath(held.id, loans[0]), { amount: '2000' })).status).toBe(303)
    const { text } = await office.look('/channels')
    expect(text).not.toContain('<img src=x')
    const rows = text.split('<tr>').filter((row) => row.includes(`channel=${id}&amp;status=all`))
    const cells = (row = '') =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replace(/<[^>]+>/g, ''))
    expect(rows).toHaveLength(2)
    expect(cells(rows[0]).slice(1, 10)).toEqual([
      ...['canonical', '400200', 'active', '1000', 'TZS', '1', '5,000.00', '2', '3,700.00'],
    ])
    expect(cells(rows[0])[11]).toMatch(/^2026-01-31 /)
    expect(cells(rows[0])[12]).toMatch(/^2026-01-31 .* ago\)$/)
    expect(cells(rows[1]).slice(1)).toEqual(['TZS', '5,700.00', '2,000.00', '3,700.00', '0.00', '0.00'])
    await service.patch(`/v1/payment-channels/${id}`, { body: { state: 'disabled' }, token: service.tokens.operator })
    expect((await office.look('/channels')).text).toContain('<td>disabled</td>')
  })
})
