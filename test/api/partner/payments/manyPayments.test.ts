import { afterAll, beforeAll, expect, it } from 'vitest'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { paymentsJob } from '../../../../src/services/payments/paymentsJob.ts'
import { keepJournal } from '../../../support/journal.ts'
import { within } from '../../../support/patience.ts'
import { randomFrom } from '../../../support/random.ts'
import { startService, type TestService } from '../../../support/service.ts'

const PAYMENTS = Number(process.env.MKOPO_PAYMENTS ?? 150)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
/** Payments of a day; the loans of a day live until the last one. */
const A_DAY = 50

let service: TestService
let operator: { token: string }
const channels: string[] = []
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  for (const name of ['Wallet', 'Bank']) {
    const { body } = await service.post('/v1/payment-channels', { body: { name, adapter: 'canonical' }, ...operator })
    channels.push(body.id)
  }
})
afterAll(() => service.close())

/** Two loans of the same terms, of which one is paid directly and the other through payments. */
interface Twins {
  readonly direct: string
  readonly paid: string
  readonly externalId: string
}

/** Where the money of all payments of a channel must be, in cents. */
interface Expected {
  received: bigint
  allocated: bigint
  suspense: bigint
  returned: bigint
}

const cents = (amount: number): bigint => BigInt(Math.round(amount * 100))

it(
  `leave ${PAYMENTS} random loans as repayments that were posted directly do, and each cent where it must be`,
  async () => {
    const random = randomFrom(SEED)
    const oneOf = <T>(list: readonly T[]): T => list[random(list.length)]!
    const expected = channels.map((): Expected => ({ received: 0n, allocated: 0n, suspense: 0n, returned: 0n }))
    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    for (let done = 0, day = 0; done < PAYMENTS; day++) {
      const today = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000)
      const date = (ago: number) => new Date(today.getTime() - ago * 86_400_000).toISOString().slice(0, 10)
      service.clock.set(`${date(0)}T12:00:00+03:00`)
      await drain(sweepJob(service.deps))
      operator = { token: await anotherToken() }
      const twins = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          lendTwins(`L-${day}-O${index}`, 1_000 + random(50_000), 1 + random(4)),
        ),
      )
      for (let step = 0; step < 3; step++) {
        service.clock.set(`${date(-step * 20)}T12:00:00+03:00`)
        await drain(sweepJob(service.deps))
        const plans = twins.flatMap((one) =>
          random(4) === 0
            ? []
            : [{ one, amount: (1 + random(3_000_000)) / 100, channel: random(2), fate: random(100), number: done++ }],
        )
        // Loans of other twins are paid at the same time; those of one are paid one after the other.
        await Promise.all(
          plans.map(({ one, ...plan }) =>
            payTwins(one, { ...plan, ago: oneOf([0, 0, 1, 5]), today: date(-step * 20) }, expected),
          ),
        )
      }
      for (const one of twins) expect(await stateOf(one.paid)).toEqual(await stateOf(one.direct))
      if (done % A_DAY === 0) await keepJournal(service.deps)
    }
    await drain(paymentsJob(service.deps))
    await keepJournal(service.deps)
    for (const [index, id] of channels.entries()) {
      const { body } = await service.get(`/v1/payment-channels/${id}/position?asOf=2999-12-31`, operator)
      const position = body as unknown as Readonly<Record<keyof Expected, number>>
      const found = (Object.keys(expected[index]!) as (keyof Expected)[]).map((name) => [name, cents(position[name])])
      expect(Object.fromEntries(found)).toEqual(expected[index])
    }
  },
  within(60_000 + PAYMENTS * 200),
)

/** Signs in once more: a token ends with its day, and many days pass in less time than the limits of sign-ins count. */
async function anotherToken(): Promise<string> {
  await service.deps.db.pool.query('DELETE FROM rate_limit')
  const { DEMO_OPERATOR } = await import('../../../../src/services/organizations/seedDemo.ts')
  return service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
}

async function lendTwins(externalId: string, principal: number, productId: number): Promise<Twins> {
  const lend = async (name: string) => {
    const { status, text, body } = await service.post('/v1/loans', {
      body: { customerId: 'asha', productId, principal, externalId: name },
      ...operator,
    })
    expect(status, text).toBe(200)
    return body.id
  }
  return { direct: await lend(`${externalId}-direct`), paid: await lend(externalId), externalId }
}

interface Plan {
  readonly amount: number
  readonly channel: number
  /** Of a hundred: how the payment goes. */
  readonly fate: number
  readonly number: number
  /** Days before today on which it was paid. */
  readonly ago: number
  readonly today: string
}

/** Pays twins the same: one directly, the other by a payment that finds its loan, or is sent to it by hand. */
async function payTwins(
  { direct, paid, externalId }: Twins,
  { amount, channel, fate, number, ago, today }: Plan,
  expected: readonly Expected[],
): Promise<void> {
  const paidOn = new Date(Date.parse(today) - ago * 86_400_000).toISOString().slice(0, 10)
  const loan = (await service.get(`/v1/loans/${direct}`, operator)).body as unknown as { disbursedAt: string }
  const valueDate = paidOn < loan.disbursedAt.slice(0, 10) ? today : paidOn
  const posted = await service.post(`/v1/loans/${direct}/repayments`, {
    body: { transactionAmount: amount, transactionDate: valueDate },
    ...operator,
  })
  expect(posted.status, posted.text).toBe(200)
  const isLost = fate < 10
  const reference = isLost ? 'a reference of nobody' : externalId.toLowerCase().replace('o', fate % 2 ? '0' : ' O')
  const body = {
    ...{ channelId: channels[channel], receipt: `R${number}`, amount, reference },
    paidAt: `${valueDate}T${fate % 2 ? '00:00:00' : '23:59:59'}+03:00`,
  }
  const received = await service.post('/v1/payments', { body, ...operator })
  expect(received.status, received.text).toBe(200)
  const path = `/v1/payments/${received.body.id}`
  const sums = expected[channel]!
  sums.received += cents(amount)
  if (fate % 20 === 0)
    expect((await service.post('/v1/payments', { body, ...operator })).body.id).toBe(received.body.id)
  if (isLost) {
    const found = await service.get(path, operator)
    expect(found.body.status).toBe('unmatched')
    const allocations = [{ loanId: paid, amount }]
    const done = await service.post(`${path}/allocations`, { body: { allocations }, ...operator })
    expect(done.status, done.text).toBe(200)
  }
  const isTaken = fate >= 98
  if (!isTaken) sums.allocated += cents(amount)
  else {
    const taken = await service.post(`${path}/allocations/reverse`, { body: {}, ...operator })
    expect(taken.status, taken.text).toBe(200)
    const reversed = await service.post(`/v1/loans/${direct}/repayments/${posted.body.id}/reverse`, { ...operator })
    expect(reversed.status, reversed.text).toBe(200)
    if (fate === 98) sums.suspense += cents(amount)
    else {
      sums.returned += cents(amount)
      expect((await service.post(`${path}/return`, { body: { note: 'back' }, ...operator })).status).toBe(200)
    }
  }
}

/** Returns a loan with its repayments, without what two loans differ in. */
async function stateOf(id: string): Promise<unknown> {
  const { body } = await service.get(`/v1/loans/${id}?repayments=true`, operator)
  return JSON.parse(JSON.stringify(body), (name, value: unknown) =>
    ['id', 'loanId', 'accountNo', 'externalId', 'idempotencyKey', 'paymentMethod'].includes(name) || /At$/.test(name)
      ? undefined
      : value,
  )
}
