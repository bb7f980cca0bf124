import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'
import { showing } from '../../support/upload.ts'

const MIB = 1024 * 1024

let service: TestService
let port: number
const listen = async ({ app }: TestService) => Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  port = await listen(service)
})
afterAll(() => service.close())

interface Body {
  readonly raw: Buffer
  readonly headers: Record<string, string>
}

const BOOST = '/v1/credit-scorecard/asha/boost'
const NEXT = 'GET /health/live HTTP/1.1\r\nhost: api.localhost\r\nconnection: close\r\n\r\n'
const json = (bytes: number): Body => ({
  raw: Buffer.alloc(bytes, ' '),
  headers: { 'content-type': 'application/json' },
})
const file = (bytes: number): Body => showing(Buffer.alloc(bytes))

/** A POST as it goes over the wire, in pieces, with a Content-Length or as chunks. */
function pieces(path: string, { raw, headers }: Body, chunked: boolean, more = {}): (string | Buffer)[] {
  const all = {
    ...more,
    host: 'api.localhost',
    authorization: `Bearer ${service.tokens.partner}`,
    ...headers,
    ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(raw.length) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const body = Array.from({ length: Math.ceil(raw.length / MIB) }, (_, index) => {
    const piece = raw.subarray(index * MIB, (index + 1) * MIB)
    return chunked ? [`${piece.length.toString(16)}\r\n`, piece, '\r\n'] : [piece]
  })
  return [`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, ...body.flat(), ...(chunked ? ['0\r\n\r\n'] : [])]
}

/** Sends everything before it reads anything, as many clients do. @throws where the connection breaks */
async function exchange(sent: readonly (string | Buffer)[], to = port): Promise<string> {
  const socket = connect(to, '127.0.0.1').pause()
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  for (const piece of sent)
    await new Promise<void>((resolve, reject) => socket.write(piece, (error) => (error ? reject(error) : resolve())))
  return (await socket.toArray()).join('')
}

describe('a body over its limit', () => {
  it.each([
    ['JSON of 1.2 MB', '/v1/customers', () => json(1_200_000), false],
    ['JSON of 20 MiB', '/v1/customers', () => json(20 * MIB), false],
    ['JSON of 20 MiB, in chunks', '/v1/customers', () => json(20 * MIB), true],
    ['a PDF of 12 MiB', BOOST, () => file(12 * MIB), false],
    ['a PDF of 30 MiB', BOOST, () => file(30 * MIB), false],
    ['a PDF of 30 MiB, in chunks', BOOST, () => file(30 * MIB), true],
  ])(
    '413 payload_too_large, for who sends it all first; the connection goes on: %s',
    async (_, path, body, chunked) => {
      const answers = await exchange([...pieces(path, body(), chunked), NEXT])
      expect(answers.match(/HTTP\/1.1 \d+|"code":"\w+"/g)).toEqual([
        'HTTP/1.1 413',
        '"code":"payload_too_large"',
        'HTTP/1.1 200',
      ])
    },
  )

  it.each([
    ['JSON of 5 MiB', '/v1/customers', () => json(5 * MIB), false],
    ['a PDF of 20 MiB, in chunks', BOOST, () => file(20 * MIB), true],
  ])('413 payload_too_large, for who asks to have the connection closed; it is: %s', async (_, path, body, chunked) => {
    const answer = await exchange(pieces(path, body(), chunked, { connection: 'close' }))
    expect(answer.match(/HTTP\/1.1 \d+|"code":"\w+"/g)).toEqual(['HTTP/1.1 413', '"code":"payload_too_large"'])
  })

  it('is not read for ever: the connection ends after so many bytes', async () => {
    await expect(exchange([...pieces('/v1/customers', json(80 * MIB), false), NEXT])).rejects.toThrow(
      /EPIPE|ECONNRESET/,
    )
  })

  it('nor for long: the connection ends when a request has to have arrived', async () => {
    // The headers have a third of it: a busy machine must not be later than that.
    const hasty = await startService({ REQUEST_TIMEOUT_MS: String(within(3_000)) })
    const [head = '', piece = ''] = pieces('/v1/customers', json(20 * MIB), false)
    const answers = await exchange([head, piece], await listen(hasty))
    await hasty.close()
    expect(answers).toMatch(/^HTTP\/1.1 413 /)
  })
})
