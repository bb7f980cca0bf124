import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { partnerStyle } from '../../../src/api/partner/index.ts'
import type { Style } from '../../../src/api/style.ts'
import { within } from '../../support/patience.ts'
import { toyApp } from '../toy.ts'

const MIB = 1024 * 1024
/** Half of it is left when it is compressed, which is more than the buffers of a connection hold. */
const LARGE = randomBytes(16 * MIB).toString('hex')

let app: FastifyInstance
let port: number
/** The stream of the last answer that was one. */
let file: Readable

const SIGNED_IN = { config: { needs: 'signed in' } } as const

const style: Style = {
  ...partnerStyle,
  registry: z.registry(),
  routes(scope) {
    scope.decorateRequest('caller', null as never)
    scope.addHook('onRequest', async (request) => {
      request.caller = { organizationId: 1, accountId: 1 } as typeof request.caller
    })
    scope.get('/v1/large', SIGNED_IN, (_request, reply) => reply.type('text/plain').send(Buffer.from(LARGE)))
    scope.get('/v1/endless', SIGNED_IN, (_request, reply) => {
      file = new Readable({ read: () => void file.push(LARGE.slice(0, MIB)) })
      return reply.type('text/plain').send(file)
    })
    scope.get('/v1/small', SIGNED_IN, () => ({ small: true }))
  },
}

beforeAll(async () => {
  app = await toyApp({}, { styles: [style], unread: { lookEveryMs: 20, organization: MIB, withinMs: 60_000 } })
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

/** Asks for an answer, compressed, and reads its first bytes. */
async function askUnread(path: string): Promise<[socket: Socket, head: string]> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: api.localhost\r\naccept-encoding: gzip\r\n\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  return [socket, first.toString('latin1')]
}

const statusOf = async () => (await app.inject({ url: '/v1/small', headers: { host: 'api.localhost' } })).statusCode

describe('a compressed answer that is not read', { timeout: within(60_000) }, () => {
  it('counts with the bytes that wait, and no longer once they are read', async () => {
    const [socket, head] = await askUnread('/v1/large')
    expect(head).toContain('content-encoding: gzip')
    await expect.poll(statusOf).toBe(429)
    socket.resume()
    await expect.poll(statusOf).toBe(200)
    socket.destroy()
  })

  it('is let go of when its client hangs up, and so is the file that it is read from', async () => {
    const [endless, head] = await askUnread('/v1/endless')
    const [large] = await askUnread('/v1/large')
    expect(head).toContain('content-encoding: gzip')
    expect(file.destroyed).toBe(false)
    for (const socket of [large, endless]) socket.destroy()
    const open = () => new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))
    await expect.poll(open).toBe(0)
    await expect.poll(() => file.destroyed).toBe(true)
    await expect.poll(statusOf).toBe(200)
  })
})
