import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anotherLender } from '../../support/lenders.ts'
import { startService, type TestService } from '../../support/service.ts'

// Of 12 places an account may hold 4, an organization and an address without credentials 6.
let service: TestService
let port: number
let other: string
beforeAll(async () => {
  service = await startService({ MAX_IN_FLIGHT: '12' })
  other = await anotherLender(service, 2, 'UGX')
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  const address = service.app.server.address()
  port = typeof address === 'object' ? address!.port : 0
})
afterAll(() => service.close())

/** A request whose body never comes whole. */
async function half(token: string, bytes = 100): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.setEncoding('utf8')
  socket.write(
    `POST /v1/customers HTTP/1.1\r\nhost: api.localhost\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n{`,
  )
  return socket
}

/** Returns what each is answered, a moment after so many were; nothing where its body is awaited. */
async function answersOf(sockets: readonly Socket[], refused: number): Promise<string[]> {
  const texts = sockets.map(() => '')
  for (const [index, socket] of sockets.entries())
    socket.on('data', (text: string) => {
      texts[index] = `${texts[index]}${text}`
    })
  await expect.poll(() => texts.filter(Boolean).length).toBeGreaterThanOrEqual(refused)
  await pause(300)
  return texts
}

const close = async (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.destroy()
  await expect.poll(async () => (await service.get('/v1/loan-products')).status).toBe(200)
}

describe('places in work', () => {
  it('429 resource_exhausted at once, with Retry-After, for an account that holds a third of them; others are served', async () => {
    const sockets = []
    for (let index = 0; index < 6; index++) sockets.push(await half(service.tokens.partner))
    const texts = await answersOf(sockets, 2)
    const refused = texts.filter((text) => text !== '')
    expect(refused).toHaveLength(2)
    for (const text of refused) {
      expect(text).toMatch(/^HTTP\/1.1 429 [\s\S]*retry-after: 1\r\n/i)
      expect(text).toContain('this account has 4 requests in work, which is its share; try again')
    }
    const statusOf = async (token: string) => (await service.get('/v1/loan-products', { token })).status
    expect(await statusOf(other)).toBe(200)
    expect(await statusOf(service.tokens.operator)).toBe(200)
    expect(await statusOf(service.tokens.partner)).toBe(429)
    expect((await service.app.inject({ url: '/health/ready', headers: { host: 'api.localhost' } })).statusCode).toBe(
      200,
    )
    await close(sockets)
  })

  it('429 for an organization that holds half of them by several accounts; another organization is served', async () => {
    const sockets = []
    for (const token of [service.tokens.partner, service.tokens.operator])
      for (let index = 0; index < 4; index++) sockets.push(await half(token))
    const refused = (await answersOf(sockets, 2)).filter((text) => text !== '')
    expect(refused).toHaveLength(2)
    for (const text of refused) expect(text).toContain('this organization has 6 requests in work')
    expect((await service.get('/v1/loan-products', { token: other })).status).toBe(200)
    await close(sockets)
  })

  it('429 for an address that holds half of them before it sends its credentials', async () => {
    const from = (remoteAddress: string) =>
      service.app.inject({ url: '/v1/nothing', headers: { host: 'api.localhost' }, remoteAddress })
    const answers = await Promise.all([...Array.from({ length: 8 }, () => from('10.0.0.1')), from('10.0.0.2')])
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([...Array(7).fill(404), 429, 429])
    expect(answers.at(-1)!.statusCode).toBe(404)
  })
})

describe('bodies on their way', () => {
  it('429 resource_exhausted once those of an account are 32 MiB; its other requests are served when they are gone', async () => {
    const large = await startService({ MAX_IN_FLIGHT: '1000' })
    await large.app.listen({ port: 0, host: '127.0.0.1' })
    const address = large.app.server.address()
    port = typeof address === 'object' ? address!.port : 0
    const sockets = []
    for (let index = 0; index < 34; index++) sockets.push(await half(large.tokens.partner, 1024 * 1024))
    const refused = (await answersOf(sockets, 2)).filter((text) => text !== '')
    expect(refused).toHaveLength(2)
    for (const text of refused) expect(text).toContain('too many request bodies are on their way')
    const make = (token: string) => large.post('/v1/customers', { body: { externalId: `made-${token.length}` }, token })
    expect((await make(large.tokens.partner)).status).toBe(429)
    expect((await make(large.tokens.operator)).status).toBe(200)
    // Those that are refused are not among the 128 MiB of all.
    for (let index = 0; index < 120; index++) sockets.push(await half(large.tokens.partner, 1024 * 1024))
    expect((await make(large.tokens.operator)).status).toBe(409)
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await make(large.tokens.partner)).status).not.toBe(429)
    await large.close()
  })
})

describe('statements on their way', () => {
  const upload = async (at: number, token: string) => {
    const socket = connect(at, '127.0.0.1')
    await once(socket, 'connect')
    socket.setEncoding('utf8')
    socket.write(
      `POST /v1/credit-scorecard/asha/boost HTTP/1.1\r\nhost: api.localhost\r\nauthorization: Bearer ${token}\r\n` +
        'content-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000\r\n\r\n--b\r\n',
    )
    return socket
  }

  it('429 resource_exhausted for the fifth of an account, and the seventh of an organization', async () => {
    const own = await startService()
    await own.app.listen({ port: 0, host: '127.0.0.1' })
    const address = own.app.server.address()
    const at = typeof address === 'object' ? address!.port : 0
    const { partner, operator } = own.tokens
    const refusals = async (count: number, token: string) => {
      const sockets = []
      for (let index = 0; index < count; index++) sockets.push(await upload(at, token))
      const texts = await answersOf(sockets, 1)
      const said = texts.flatMap((text) => /too many files[^"]*/.exec(text)?.[0] ?? [])
      return { sockets, said }
    }
    const first = await refusals(5, partner)
    expect(first.said).toEqual(['too many files are being sent at once by this account'])
    const second = await refusals(3, operator)
    expect(second.said).toEqual(['too many files are being sent at once by this organization'])
    const sockets = [...first.sockets, ...second.sockets]
    for (const socket of sockets) socket.destroy()
    await own.close()
  })
})
