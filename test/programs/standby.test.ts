import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BehindGateway, startBehindGateway } from '../support/behindGateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { expectBook, type Sent, startLoad } from '../support/load.ts'
import { within } from '../support/patience.ts'
import type { ServiceProcess } from '../support/process.ts'
import { ask, type Node, startPrimary, startStandby } from '../support/standby.ts'

/** `npm run try -- outages` takes more. */
const SWITCHES = Number(process.env.MKOPO_SWITCHES ?? 1)

let primary: Node
let gateway: Gateway
let service: ServiceProcess
let behind: BehindGateway | undefined
/** All that was sent so far. */
const sent: Sent[] = []
let lent: { authorization: string; loans: string[] }

beforeAll(async () => {
  primary = await startPrimary()
  behind = await startBehindGateway(primary.url)
  ;({ gateway, service, lent } = behind)
})
afterAll(async () => {
  await behind?.close()
  await primary?.destroy()
})

const ready = async () => {
  const answer = await fetch(`${service.origin}/health/ready`)
  return { status: answer.status, body: (await answer.json()) as { message?: string } }
}

describe('a synchronous standby', { timeout: within(60_000 + SWITCHES * 30_000) }, () => {
  it('is led to before it is promoted, under load: unavailable, not ready, and nothing lost or doubled', async () => {
    for (let time = 0; time < SWITCHES; time++) {
      const standby = await startStandby(primary)
      const load = startLoad({ origin: service.origin, ...lent, connections: 20, everyMs: 20, name: `switch-${time}` })
      await pause(1_000)
      // Connections that are there already are cut, and new ones lead to the standby.
      gateway.lead(standby.url)
      await primary.destroy()
      primary = standby
      const isStandby = { status: 503, body: { message: expect.stringContaining('is a standby') } }
      await expect.poll(ready, { timeout: within(5_000), interval: 50 }).toMatchObject(isStandby)
      await pause(500)
      await ask(standby.url, 'SELECT pg_promote()')
      await expect.poll(ready, { timeout: within(5_000), interval: 50 }).toMatchObject({ status: 200 })
      await pause(1_000)
      await load.stop()
      sent.push(...load.sent)
      await expectBook(standby.url, sent, lent.loans)
    }
    expect(service.child.exitCode).toBeNull()
  })

  it('that a primary has become without a restart: its connections are dropped, and the rest is the same', async () => {
    const load = startLoad({ origin: service.origin, ...lent, connections: 20, everyMs: 20 })
    await pause(500)
    const set = (text: string) => ask(primary.url, text, 'SELECT pg_reload_conf()')
    await set('ALTER SYSTEM SET default_transaction_read_only = on')
    await expect.poll(ready, { timeout: within(5_000), interval: 50 }).toMatchObject({ status: 503 })
    await ask(
      primary.url,
      'SET default_transaction_read_only = off',
      'ALTER SYSTEM RESET default_transaction_read_only',
      'SELECT pg_reload_conf()',
    )
    await expect.poll(ready, { timeout: within(5_000), interval: 50 }).toMatchObject({ status: 200 })
    await pause(500)
    await load.stop()
    sent.push(...load.sent)
    await expectBook(primary.url, sent, lent.loans)
  })

  it('that is gone: changes wait, and nothing new is sent here until it is back or no longer asked for', async () => {
    await ask(primary.url, `ALTER SYSTEM SET synchronous_standby_names = 'nobody'`, 'SELECT pg_reload_conf()')
    const repaid = fetch(`${service.origin}/v1/loans/${lent.loans[0]}/repayments`, {
      method: 'POST',
      headers: { authorization: lent.authorization, 'content-type': 'application/json', host: 'api.localhost' },
      body: '{"transactionAmount": 1, "idempotencyKey": "waits"}',
    })
    await expect.poll(ready, { timeout: within(10_000), interval: 50 }).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('its synchronous standby does not answer') },
    })
    await ask(primary.url, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
    const answer = await repaid
    expect({ status: answer.status, body: await answer.text() }).toMatchObject({ status: 200 })
    await expect.poll(ready, { timeout: within(5_000), interval: 50 }).toMatchObject({ status: 200 })
  })
})
