import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ResolveName } from '../../../src/services/webhooks/address.ts'
import { createPoster, type Poster, type PosterOptions } from '../../../src/services/webhooks/poster.ts'
import { within } from '../../support/patience.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'

// One request to a receiver on this machine, and what a receiver can do to the one that calls it.

let receiver: Receiver
let posters: Poster[] = []
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.close())
afterEach(() => {
  for (const poster of posters) poster.close()
  posters = []
})

const posterOf = (options: Partial<PosterOptions> = {}): Poster => {
  const poster = createPoster({ toPrivate: true, answerWithinMs: within(5_000), ...options })
  posters.push(poster)
  return poster
}
const message = (url = receiver.url) => ({ url, headers: { 'webhook-id': 'evt_1_1' }, body: '{"data":{}}' })
const named = (port = new URL(receiver.url).port) => message(`http://hooks.example:${port}/hook`)

describe('a request to a receiver', () => {
  it('succeeds with any 2xx, and keeps the first kB of the answer', async () => {
    receiver.react = () => (response) => response.writeHead(202).end('y'.repeat(3_000))
    expect(await posterOf().post(message())).toMatchObject({ status: 202, error: null, text: 'y'.repeat(1_024) })
  })

  it('fails with any other status, and follows no redirect', async () => {
    const before = receiver.received.length
    receiver.react = () => (response) => response.writeHead(307, { location: receiver.url }).end()
    expect(await posterOf().post(message())).toMatchObject({
      status: 307,
      error: 'answered 307: a redirect is not followed',
    })
    expect(receiver.received).toHaveLength(before + 1)
    receiver.react = () => 404
    expect(await posterOf().post(message())).toMatchObject({ status: 404, error: 'answered 404 Not Found' })
  })

  it('waits for an answer for a bounded time', async () => {
    receiver.react = () => () => undefined
    expect(await posterOf({ answerWithinMs: 400 }).post(message())).toMatchObject({
      status: null,
      error: 'no answer within 0.4 s',
    })
  })

  it('counts a status that came, whatever becomes of the body', async () => {
    receiver.react = () => (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setTimeout(() => response.destroy(), 20)
    }
    expect(await posterOf().post(message())).toMatchObject({ status: 200, error: null, text: 'half' })
    receiver.react = () => (response) => void response.writeHead(200).write('never ends')
    expect(await posterOf({ answerWithinMs: within(5_000) }).post(message())).toMatchObject({
      status: 200,
      error: null,
      text: 'never ends',
    })
  })

  it('reads no more than it needs of an answer without an end', async () => {
    let written = 0
    receiver.react = () => (response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('z'.repeat(65_536))) written += 65_536
        response.once('drain', more)
      }
      more()
    }
    expect(await posterOf().post(message())).toMatchObject({ status: 200, text: 'z'.repeat(1_024) })
    expect(written).toBeLessThan(50_000_000)
  })

  it('says why there is no answer, in words for people', async () => {
    receiver.react = () => (response) => response.destroy()
    const poster = posterOf()
    expect(await poster.post(message())).toMatchObject({
      status: null,
      error: 'the connection was closed without an answer',
    })
    const closed = createServer()
    await new Promise<void>((done) => closed.listen(0, '127.0.0.1', done))
    const { port } = closed.address() as AddressInfo
    await new Promise((done) => closed.close(done))
    expect(await poster.post(message(`http://127.0.0.1:${port}/`))).toMatchObject({
      error: 'the connection was refused',
    })
    const unknown: ResolveName = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND hooks.example'), { code: 'ENOTFOUND' })
    }
    expect(await posterOf({ resolve: unknown }).post(named())).toMatchObject({
      error: 'no address is known for the name',
    })
  })

  it('survives a receiver that speaks no HTTP', async () => {
    const garbage = createServer((socket) => {
      socket.on('error', () => undefined).resume()
      socket.end('220 mail.example ESMTP\r\n')
    })
    await new Promise<void>((done) => garbage.listen(0, '127.0.0.1', done))
    const { port } = garbage.address() as AddressInfo
    const { status, error } = await posterOf().post(message(`http://127.0.0.1:${port}/`))
    expect([status, error]).toEqual([null, expect.any(String)])
    await new Promise((done) => garbage.close(done))
  })

  it('keeps to the Retry-After of an answer', async () => {
    receiver.react = () => (response) => response.writeHead(503, { 'retry-after': '7' }).end()
    expect(await posterOf().post(message())).toMatchObject({ retryAfterMs: 7_000 })
  })

  it('uses a connection again, and makes another one where the receiver has closed it', async () => {
    receiver.react = () => 204
    const poster = posterOf()
    expect(await poster.post(message())).toMatchObject({ status: 204 })
    receiver.react = ({ headers }) => (headers.connection === 'close' ? 204 : (response) => response.destroy())
    expect(await poster.post(message())).toMatchObject({ status: 204 })
  })
})

describe('the address of a request', () => {
  it('is refused before anything is sent, where it is not on the internet', async () => {
    const before = receiver.received.length
    const poster = posterOf({ toPrivate: false })
    for (const url of [receiver.url, receiver.url.replace('http:', 'https:'), 'https://[::ffff:127.0.0.1]/'])
      expect(await poster.post(message(url))).toMatchObject({ status: null, error: expect.any(String) })
    expect(receiver.received).toHaveLength(before)
  })

  it('is that of the look-up that was checked: a name cannot lead elsewhere at a second look-up', async () => {
    let looked = 0
    const rebinding: ResolveName = async () => [{ address: ++looked === 1 ? '203.0.114.1' : '127.0.0.1', family: 4 }]
    const before = receiver.received.length
    // The first address is checked and called, where nobody is; the second one would lead to the receiver.
    const first = await posterOf({ toPrivate: false, resolve: rebinding, answerWithinMs: 400 }).post(
      message('https://hooks.example/'),
    )
    expect([first.status, looked]).toEqual([null, 1])
    const second = await posterOf({ toPrivate: false, resolve: rebinding }).post(
      message(`https://hooks.example:${new URL(receiver.url).port}/`),
    )
    expect(second).toMatchObject({ error: 'the name leads to an address of a private, local or reserved network' })
    expect(receiver.received).toHaveLength(before)
  })

  it('is called by the name that the URL has', async () => {
    receiver.react = () => 204
    const resolve: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }]
    expect(await posterOf({ resolve }).post(named())).toMatchObject({ status: 204 })
    expect(receiver.received.at(-1)!.headers.host).toMatch(/^hooks\.example:/)
  })
})
