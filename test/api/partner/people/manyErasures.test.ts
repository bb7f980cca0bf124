import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEMO_OPERATOR } from '../../../../src/services/organizations/seedDemo.ts'
import { anAccount, PASSWORD } from '../../../support/approvals.ts'
import { everyText } from '../../../support/everyText.ts'
import { keepJournal } from '../../../support/journal.ts'
import { within } from '../../../support/patience.ts'
import { tokenFrom } from '../../../support/process.ts'
import { randomFrom } from '../../../support/random.ts'
import { startService, type TestService } from '../../../support/service.ts'
import { Instances, killOften, Progress } from '../../../support/wallets/instances.ts'

// Erasures through two instances that are killed, beside repayments: each person is erased whole or not at all.
// `npm run try -- erasures` erases 1,000.

const PEOPLE = Number(process.env.MKOPO_PEOPLE ?? 12)
const KILLS = Number(process.env.MKOPO_KILLS ?? 1)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
const AT_ONCE = 8

let service: TestService
let instances: Instances
let maker: string
/** Tokens of the instances: of the one who asks, and of another ADMIN. */
let asker: string
let checker: string
beforeAll(async () => {
  service = await startService()
  service.clock.set(new Date().toISOString())
  maker = service.tokens.operator
  await anAccount(service, 'checker')
  const kept = { keepBorrowersYears: 0, keepOthersYears: 0 }
  expect((await service.patch('/v1/organization', { body: kept, token: maker })).status).toBe(200)
  const settings = { KEY_ENCRYPTION_SECRET: 'a secret of the tests', FALLBACK_STYLE: 'partner' }
  instances = await Instances.start({ ...settings, DATABASE_URL: service.url }, 2)
  const [origin] = instances.origins
  asker = await tokenFrom(origin!, DEMO_OPERATOR)
  checker = await tokenFrom(origin!, { email: 'checker@lender.example', password: PASSWORD })
}, within(60_000))
afterAll(
  async () => {
    await instances.stop()
    await keepJournal(service.deps)
    await service.close()
  },
  within(60_000 + PEOPLE * 100),
)

const below = randomFrom(SEED)

/** A person whose loan is paid. */
interface Person {
  readonly id: string
  /** What nothing else in the book has. */
  readonly words: readonly string[]
}

const post = async (path: string, body: object, token = service.tokens.partner) => {
  const answer = await service.post(path, { body, token })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** Makes a person with an identity and a loan that a payment of a wallet pays off. */
async function aPerson(channelId: string, number: number): Promise<Person> {
  const externalId = `25579${String(number).padStart(7, '0')}`
  const identity = { firstName: `Zawadi${number}x`, lastName: `Kipchoge${number}x`, phone: `+254 7${externalId}` }
  const { id } = await post('/v1/customers', { externalId, identity })
  const lent = { customerId: externalId, productId: 3, principal: 1_000, externalId: `of-${number}` }
  const loan = await post('/v1/loans', lent)
  const { totalOutstanding: amount } = (await service.get(`/v1/loans/${loan.id}`)).body
  const payer = { payerPhone: `0${externalId}`, payerName: `ZAWADI ${number} K` }
  await post('/v1/payments', { channelId, receipt: `R${number}`, amount, reference: externalId, ...payer })
  return { id, words: [externalId, ...Object.values(identity), payer.payerName] }
}

const begun = new Progress()
const replaced = new Progress()

/** Sends a request to an instance until one answers. @returns the status and the body */
async function send(path: string, token: string, body?: object) {
  for (;;) {
    begun.advance()
    const origin = instances.origins[below(instances.origins.length)]!
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const request = { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await fetch(`${origin}${path}`, request).catch(() => undefined)
    if (answer && ![429, 503].includes(answer.status))
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
}

async function erase({ id }: Person): Promise<void> {
  const asked = await send(`/v1/customers/${id}/data-requests`, asker, { kind: 'erasure' })
  expect(asked, JSON.stringify(asked)).toMatchObject({ status: 200, body: { state: 'waiting' } })
  const { status, body } = await send(`/v1/data-requests/${asked.body.id}/confirm`, checker)
  // The answer to the try before may have been lost.
  if (status !== 200) expect([status, body.message]).toEqual([409, 'the data request is done already'])
}

/** Finds customers of whom some words are gone and others are there. */
const HALF = `SELECT c.id FROM customer c WHERE (c.erased_at IS NOT NULL) IS DISTINCT FROM
    (NOT EXISTS (SELECT FROM loan l JOIN loan_entry e ON e.organization_id = l.organization_id AND e.loan_id = l.id
      JOIN payment p ON p.organization_id = e.organization_id AND p.id = e.payment_id AND p.payer IS NOT NULL
      WHERE l.organization_id = c.organization_id AND l.customer_id = c.id))
  AND c.external_id NOT LIKE 'beside%'`

it(`${PEOPLE} people beside repayments, through ${KILLS} kills: each whole, and no word is left`, {
  timeout: within(120_000 + PEOPLE * 400 + KILLS * 8_000),
}, async () => {
  const { id: channelId } = await post('/v1/payment-channels', { name: 'Wallet', adapter: 'canonical' }, maker)
  const people: Person[] = []
  for (let number = 0; number < PEOPLE; number++) people.push(await aPerson(channelId, number))
  await post('/v1/customers', { externalId: 'beside' })
  const lent = { customerId: 'beside', productId: 3, principal: 100_000, externalId: 'beside' }
  const { id: beside } = await post('/v1/loans', lent)
  // A job of another instance may still be deciding on the last payment.
  await expect.poll(async () => (await service.owner.pool.query(HALF)).rows).toEqual([])

  const left = [...people]
  let isOver = false
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift()) await erase(one)
  }
  const repaying = async () => {
    let paid = 0
    for (; !isOver; paid++) {
      const body = { transactionAmount: 1, idempotencyKey: `beside-${paid}` }
      expect((await send(`/v1/loans/${beside}/repayments`, asker, body)).status).toBe(200)
    }
    return paid
  }
  const watching = async () => {
    for (let kill = 1; kill <= KILLS; kill++) {
      await replaced.reached(kill)
      expect((await service.owner.pool.query(HALF)).rows).toEqual([])
    }
  }
  const repaid = repaying()
  const spacing = Math.max(1, Math.floor((PEOPLE * 2) / (KILLS + 1)))
  await Promise.all([
    killOften({ instances, kills: KILLS, spacing, begun, replaced, below }),
    watching(),
    ...Array.from({ length: AT_ONCE }, worker),
  ])
  isOver = true
  const paid = await repaid
  expect((await service.get(`/v1/loans/${beside}`)).body.totalPaid).toBe(paid)

  await keepJournal(service.deps)
  const { rows } = await service.owner.pool.query(
    'SELECT count(*)::int AS erased FROM customer WHERE erased_at IS NOT NULL',
  )
  expect(rows[0].erased).toBe(PEOPLE)
  expect((await service.owner.pool.query(HALF)).rows).toEqual([])
  const all = await everyText(service)
  expect(people.flatMap(({ words }) => words.filter((word) => all.includes(word)))).toEqual([])
})
