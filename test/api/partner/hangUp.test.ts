import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, smallStatement, statementPdf } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'

let service: TestService
let address: string
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  service.clock.set('2026-07-02')
  address = await service.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => service.close())

interface Sent {
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly body: string
}

/** Sends over a socket; hangs up after some time, if one is given. @returns undefined when there was no answer */
function send(
  parts: readonly Buffer[],
  headers: Record<string, string>,
  hangUpAfter?: number,
): Promise<Sent | undefined> {
  const url = `${address}/v1/credit-scorecard/asha/boost`
  const all = { host: 'api.localhost', authorization: `Bearer ${service.tokens.partner}`, ...headers }
  return new Promise((resolve) => {
    const sending = request(url, { method: 'POST', headers: all }, (response) => {
      const { statusCode: status, headers: answered } = response
      let body = ''
      response.on('data', (chunk: Buffer) => {
        body += chunk
      })
      response.on('end', () => resolve({ status, connection: answered.connection, body }))
    })
    sending.on('error', () => resolve(undefined))
    for (const part of parts) sending.write(part)
    if (hangUpAfter === undefined) sending.end()
    else setTimeout(() => sending.destroy(), hangUpAfter)
  })
}

describe('a caller who hangs up', () => {
  it('while the statement is read: nothing is changed, and the same key can be sent again', async () => {
    const { raw, headers } = showing(await statementPdf(fictionalStatement()))
    const keyed = { ...headers, 'idempotency-key': 'again', 'content-length': String(raw.length) }
    expect(await send([raw], keyed, 150)).toBeUndefined()
    const { rows } = await service.deps.db.pool.query('SELECT kind FROM credit_decision')
    expect(rows).toEqual([])
    let answer: Sent | undefined
    // Until the reading has been ended, the first is still running.
    do {
      await pause(50)
      answer = await send([raw], keyed)
    } while (answer?.status === 409)
    expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('"boostStatus":"raised"') })
  })

  it('in the middle of the file: the next is served', async () => {
    const { raw, headers } = showing(await smallStatement('2026-05-01', '2026-06-30'))
    const sized = { ...headers, 'content-length': String(raw.length) }
    expect(await send([raw.subarray(0, 1_000)], sized, 50)).toBeUndefined()
    expect(await send([raw], sized)).toMatchObject({ status: 200 })
  })

  it('413 payload_too_large: at once by its Content-Length, or once too much has come', async () => {
    const { raw, headers } = showing(Buffer.alloc(11 * 1024 * 1024))
    const told = { ...headers, 'content-length': String(50_000_000) }
    for (const answer of [await send([raw.subarray(0, 1_000)], told, within(60_000)), await send([raw], headers)])
      expect(answer).toMatchObject({ status: 413, body: expect.stringContaining('"code":"payload_too_large"') })
  })

  it('before the token was looked up: the client is not counted among those that send a file', async () => {
    const { raw, headers } = showing(await smallStatement('2026-05-01', '2026-06-30'))
    const { identify } = service.deps.signIn
    for (let count = 0; count < 40; count++) {
      // The client is gone by the time it is identified.
      Object.assign(service.deps.signIn, {
        identify: async (token: string) => {
          await pause(20)
          return identify(token)
        },
      })
      expect(await send([raw.subarray(0, 100)], headers, 5)).toBeUndefined()
    }
    Object.assign(service.deps.signIn, { identify })
    // A place that is not given back is never free.
    await expect.poll(async () => (await send([raw], headers))?.status).not.toBe(429)
  })

  it('who is done is forgotten: a hundred files one after the other are taken', async () => {
    const call = showing(Buffer.from('no statement'))
    for (let count = 0; count < 100; count++)
      expect(await service.post('/v1/credit-scorecard/asha/boost', call)).toMatchObject({ status: 400 })
  })
})
