import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MOST_A_SECOND } from '../../../src/api/limits/limits.ts'
import { buildApp } from '../../../src/app/app.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { createProduct } from '../../../src/services/organizations/products.ts'
import { anotherLender } from '../../support/lenders.ts'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'

const MIB = 1024 * 1024

let service: TestService
let other: string
beforeAll(async () => {
  service = await startService()
  other = await anotherLender(service, 2, 'UGX')
  const whole = (units: number) => ({ units: BigInt(units), scale: 0 })
  const bounds = { principalMin: whole(1), principalMax: whole(100_000_000), interestRate: whole(0) }
  const daily = { id: 77, name: 'Daily', numberOfRepayments: 2_000, repayEvery: 1, repayUnit: 'days' } as const
  await createProduct(service.deps, operator(1, 'test'), { ...bounds, ...daily })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const body = { customerId: 'asha', productId: 77, principal: 120_000 }
  for (let index = 0; index < 50; index++) await service.post('/v1/loans', { body })
})
afterAll(() => service.close())

async function serve(unread: object): Promise<{ app: FastifyInstance; port: number }> {
  const app = await buildApp(service.deps, { unread: { lookEveryMs: 20, ...unread } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  return { app, port: typeof address === 'object' ? address!.port : 0 }
}

/** Asks for a page of some 20 MB and reads its first bytes. */
async function askUnread(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = `GET /v1/loans HTTP/1.1\r\nhost: api.localhost\r\nauthorization: Bearer ${service.tokens.partner}\r\n\r\n`
  socket.write(head)
  await once(socket, 'data')
  socket.pause()
  return socket
}

const connections = (app: FastifyInstance): Promise<number> =>
  new Promise((resolve) => {
    app.server.getConnections((_error, count) => resolve(count))
  })

const statusOf = async (app: FastifyInstance, token: string): Promise<number> => {
  const headers = { host: 'api.localhost', authorization: `Bearer ${token}` }
  return (await app.inject({ url: '/v1/loan-products', headers })).statusCode
}

describe('an answer that is not read', { timeout: within(60_000) }, () => {
  it('is given up, and its connection closed, once too little of it was read for too long', async () => {
    const { app, port } = await serve({ withinMs: within(500) })
    const socket = await askUnread(port)
    expect(await connections(app)).toBe(1)
    await expect.poll(() => connections(app)).toBe(0)
    socket.destroy()
    await app.close()
  })

  it('429 resource_exhausted for its organization beyond its bytes, and no other; 200 again once it is read', async () => {
    const { app, port } = await serve({ organization: MIB })
    const socket = await askUnread(port)
    await expect.poll(() => statusOf(app, service.tokens.partner)).toBe(429)
    expect(await statusOf(app, other)).toBe(200)
    socket.resume()
    await expect.poll(() => statusOf(app, service.tokens.partner)).toBe(200)
    socket.destroy()
    await app.close()
  })

  it('is closed first where all together are beyond their bytes', async () => {
    const { app, port } = await serve({ all: MIB })
    const socket = await askUnread(port)
    await expect.poll(() => connections(app)).toBe(0)
    socket.destroy()
    await app.close()
  })
})

describe('an address that is refused again and again', { timeout: within(60_000) }, () => {
  it('has the next request on a connection read a second later; its answers come at once', async () => {
    const { app, port } = await serve({})
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    await once(socket, 'connect')
    let answers = 0
    socket.on('data', (text: string) => {
      answers += text.split('HTTP/1.1 401').length - 1
    })
    const ask = 'GET /v1/loan-products HTTP/1.1\r\nhost: api.localhost\r\n\r\n'
    let longest = 0
    // As many at once as have to be in one second, however busy the machine is; then as many again, which wait.
    const atOnce = MOST_A_SECOND + 2
    for (let asked = atOnce; asked <= 40 * atOnce && longest < 900; asked += atOnce) {
      const began = performance.now()
      socket.write(ask.repeat(atOnce))
      while (answers < asked) await pause(1)
      longest = Math.max(longest, performance.now() - began)
    }
    expect(longest).toBeGreaterThanOrEqual(900)
    socket.destroy()
    await app.close()
  })
})
