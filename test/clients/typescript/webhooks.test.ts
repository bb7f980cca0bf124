import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { MkopoError, verifyWebhook, type WebhookHeaders } from '../../../clients/typescript/src/index.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes ....').toString('base64')}`
const OTHER = `whsec_${Buffer.from('another secret, 25 bytes.').toString('base64')}`
const AT = Date.parse('2026-01-31T06:30:00Z')
const BODY = '{"id":"evt_1_1","type":"loan.disbursed","data":{"loan":{"id":"1"},"note":"é"}}'
const options = { now: () => AT }

/** The headers of a delivery, signed by the library of Standard Webhooks. */
function signedBy(secrets: readonly string[], body = BODY, at = AT) {
  const signature = secrets.map((secret) => new Webhook(secret).sign('evt_1_1', new Date(at), body)).join(' ')
  return { 'webhook-id': 'evt_1_1', 'webhook-timestamp': String(at / 1_000), 'webhook-signature': signature }
}

const refused = async (
  headers: WebhookHeaders,
  body: string | Uint8Array = BODY,
  secret: string | string[] = SECRET,
) => {
  const error: MkopoError = await verifyWebhook(body, headers, secret, options).then(
    () => Promise.reject(new Error('it was taken')),
    (error) => error,
  )
  expect(error).toBeInstanceOf(MkopoError)
  expect(error.code).toBe('invalid_webhook')
  return error.message
}

describe('a webhook', () => {
  it('is verified as the library of Standard Webhooks does, and read', async () => {
    const headers = signedBy([SECRET])
    const event = { id: 'evt_1_1', type: 'loan.disbursed', data: { loan: { id: '1' }, note: 'é' } }
    expect(await verifyWebhook(BODY, headers, SECRET, options)).toEqual(event)
    expect(await verifyWebhook(new TextEncoder().encode(BODY), headers, SECRET, options)).toEqual(event)
    expect(await verifyWebhook(BODY, new Headers(headers), SECRET, options)).toEqual(event)
    const ofNode = { 'Webhook-Id': ['evt_1_1'], host: undefined, ...headers, 'webhook-id': undefined }
    expect(await verifyWebhook(BODY, ofNode, SECRET.slice(6), options)).toEqual(event)
  })

  it('may be signed by several secrets, and verified by several', async () => {
    const { id } = await verifyWebhook(BODY, signedBy([OTHER, SECRET]), SECRET, options)
    expect(id).toBe('evt_1_1')
    expect(await verifyWebhook(BODY, signedBy([SECRET]), [OTHER, SECRET], options)).toMatchObject({ id })
    expect(await refused(signedBy([OTHER]))).toBe('no signature in webhook-signature fits a secret')
    expect(await refused(signedBy([SECRET]), BODY, [])).toContain('no signature')
  })

  it('that was changed is refused', async () => {
    const headers = signedBy([SECRET])
    for (const body of [`${BODY} `, BODY.replace('"1"', '"2"'), ''])
      expect(await refused(headers, body)).toContain('no signature')
    expect(await refused({ ...headers, 'webhook-id': 'evt_1_2' })).toContain('no signature')
    expect(await refused({ ...headers, 'webhook-timestamp': String(AT / 1_000 + 1) })).toContain('no signature')
    const flipped = headers['webhook-signature'].replace(/^v1,./, (head) => (head === 'v1,A' ? 'v1,B' : 'v1,A'))
    expect(await refused({ ...headers, 'webhook-signature': flipped })).toContain('no signature')
    for (const signature of ['v1,', 'v1,?', 'v1a,AAAA', headers['webhook-signature'].slice(3)])
      expect(await refused({ ...headers, 'webhook-signature': signature })).toContain('no signature')
  })

  it('that is older or newer than five minutes is refused, or than was asked for', async () => {
    for (const seconds of [-300, 0, 300])
      await verifyWebhook(BODY, signedBy([SECRET], BODY, AT + seconds * 1_000), SECRET, options)
    for (const seconds of [-301, 301])
      expect(await refused(signedBy([SECRET], BODY, AT + seconds * 1_000))).toContain('more than 300 s away')
    const strict = verifyWebhook(BODY, signedBy([SECRET], BODY, AT - 11_000), SECRET, {
      ...options,
      toleranceSeconds: 10,
    })
    await expect(strict).rejects.toThrow('more than 10 s away')
    expect(await refused({ ...signedBy([SECRET]), 'webhook-timestamp': 'soon' })).toContain('more than 300 s away')
    // The clock of the machine, which is later.
    await expect(verifyWebhook(BODY, signedBy([SECRET]), SECRET)).rejects.toThrow('more than 300 s away')
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s is refused', async (name) => {
    expect(await refused({ ...signedBy([SECRET]), [name]: undefined })).toContain('are needed')
  })

  it('is not verified with what is no secret', async () => {
    for (const secret of ['', 'whsec_', 'whsec_???'])
      await expect(verifyWebhook(BODY, signedBy([SECRET]), secret, options)).rejects.toThrow(TypeError)
  })

  it('of the record style has exact ids', async () => {
    const body =
      '{"id":"evt_1_1","type":"loan.disbursed","data":{"loan":{"loan_id":9223372036854775807,"duration":30}}}'
    const event = await verifyWebhook(body, signedBy([SECRET], body), SECRET, { ...options, style: 'record' })
    expect(event.data.loan).toEqual({ loan_id: 9_223_372_036_854_775_807n, duration: 30 })
  })
})
