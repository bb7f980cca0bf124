import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Deps } from '../../../../src/services/deps.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { decideNext } from '../../../../src/services/payments/decidePayments.ts'
import { readInbox } from '../../../../src/services/payments/inbound/inbox.ts'
import { paymentsJob } from '../../../../src/services/payments/paymentsJob.ts'
import { keepJournal } from '../../../support/journal.ts'
import { SANDBOX, type Sandbox, sandboxOf } from '../../../support/sandbox.ts'
import { startService, type TestService } from '../../../support/service.ts'

// Two instances: a payment comes to one of them, and the job of the other one, whose clock is behind, decides on it.

let instances: [TestService, TestService]
let sandbox: Sandbox
let path: string
beforeAll(async () => {
  const service = await startService()
  instances = [service, await service.another()]
  sandbox = await sandboxOf(service)
  await sandbox.lend('asha', 1)
  const made = await sandbox.post<{ inboundUrl: string }>('/v1/payment-channels', { name: 'W', adapter: 'canonical' })
  path = new URL(made.body.inboundUrl).pathname
})
afterAll(async () => {
  await keepJournal(instances[0].deps)
  await instances[0].close()
})

/** The moment to which the clock of the test organization was advanced last. */
let now: string
/** The day of that moment. */
let today: string
beforeEach(async () => {
  const [one, other] = instances
  // What this instance knows of the clock is out of date from the next line on.
  await other.deps.testClocks.refresh(SANDBOX)
  const advanced = await sandbox.advance({ by: { days: 1 } })
  now = String(advanced.body.to)
  today = now.slice(0, 10)
  expect(other.deps.now(SANDBOX)).toBeLessThan(one.deps.now(SANDBOX))
})

let receipts = 0

const tell = async (body: object) => {
  const raw = JSON.stringify({ receipt: `M-${++receipts}`, amount: 100, paidAt: now, ...body })
  const headers = { 'content-type': 'application/json' }
  const told = await instances[0].post(path, { raw, token: '', headers })
  expect(told.status, told.text).toBe(200)
}

interface Shown {
  readonly status: string
  readonly cause: string | null
  readonly valueDate: string
  readonly receivedAt: string
  readonly allocations: readonly { readonly date: string }[]
}

const last = async () => {
  const { body } = await sandbox.get<{ items: readonly Shown[] }>('/v1/payments?rows=100')
  const { status, cause, valueDate, receivedAt, allocations } = body.items.at(-1)!
  return { status, ...(cause && { cause }), valueDate, receivedAt, dates: allocations.map(({ date }) => date) }
}

describe('where the test clock was advanced on another instance', () => {
  it('a message is read by the moment at which it came', async () => {
    await tell({ reference: 'loan-asha' })
    await drain(paymentsJob(instances[1].deps))
    expect(await last()).toEqual({ status: 'allocated', valueDate: today, receivedAt: now, dates: [today] })
  })

  it('a message that comes after the job has looked at the clock is read by the moment at which it came, too', async () => {
    await tell({ reference: 'loan-asha' })
    await readInbox(instances[1].deps, SANDBOX)
    expect(await last()).toMatchObject({ status: 'received', valueDate: today, receivedAt: now })
  })

  it('a payment waits for the next round, and is not refused as one of a day to come', async () => {
    const [one, other] = instances
    await drain(paymentsJob(one.deps))
    await tell({ reference: 'loan-asha' })
    await readInbox(one.deps, SANDBOX)
    expect(await decideNext(other.deps, SANDBOX)).toMatchObject({ decided: [], isStale: true })
    await drain(paymentsJob(other.deps))
    expect(await last()).toMatchObject({ status: 'allocated', dates: [today] })
  })

  it('a payment that fits no loan, and one that is taken back, keep the order of time', async () => {
    const [one, other] = instances
    await tell({ receipt: 'back', reference: 'loan-asha' })
    await drain(paymentsJob(one.deps))
    await tell({ reference: 'nobody' })
    await readInbox(one.deps, SANDBOX)
    await decideNext(other.deps, SANDBOX)
    expect(await last()).toMatchObject({ status: 'unmatched' })
    await tell({ reverses: 'back' })
    await readInbox(one.deps, SANDBOX)
    await drain(paymentsJob(other.deps))
    const { body } = await sandbox.get<{ items: readonly { receipt: string; status: string }[] }>(
      '/v1/payments?rows=100',
    )
    expect(body.items.find(({ receipt }) => receipt === 'back')).toMatchObject({ status: 'reversed' })
    const backwards = await one.owner.pool.query(
      `SELECT entity_id, action FROM (
         SELECT entity_id, action, at, lag(at) OVER (PARTITION BY organization_id, entity_id ORDER BY id) AS before
         FROM audit_entry WHERE entity = 'payment') AS trail
       WHERE at < before`,
    )
    expect(backwards.rows).toEqual([])
  })
})

describe('where the clocks of two machines differ', () => {
  it('a payment of the first moments of a day is allocated by the machine that has not come to that day', async () => {
    const [one] = instances
    const behind: Deps = { ...one.deps, now: (id) => one.deps.now(id) - 86_400_000 }
    await tell({ reference: 'loan-asha' })
    await readInbox(behind, SANDBOX)
    const { decided } = await decideNext(behind, SANDBOX)
    expect(decided).toMatchObject([{ status: 'allocated', cause: null }])
    expect(await last()).toEqual({ status: 'allocated', valueDate: today, receivedAt: now, dates: [today] })
  })
})
