import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { documentOf } from '../../support/document.ts'
import { keptBeside, sweepAndSeal } from '../../support/journal.ts'
import { needsQuery, type Prefilled, prefilledOf, REFUSED, sendPrefilled, UNKNOWN } from '../../support/prefilled.ts'
import { startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, statementPdf } from '../../support/statementPdf.ts'
import type { Document } from '../../support/wire.ts'

// A newcomer opens the reference on a fresh service and sends one operation after the other as it is filled in.

const basic = `Basic ${Buffer.from(`${DEMO_PARTNER.email}:${DEMO_PARTNER.password}`).toString('base64')}`

/** What a person does besides: signs in to get a token, and chooses a file. */
const asPerson = async ({ name }: Prefilled) => ({
  ...(name === 'GET /v1/auth/token' && { headers: { authorization: basic } }),
  ...(name.endsWith('/boost') && {
    statement: await statementPdf(fictionalStatement({ from: '2025-12-01', to: '2026-01-31' })),
  }),
})

describe.each(['auth', 'partner', 'record'] as const)('the reference of the %s style', (style) => {
  let service: TestService
  let host: string
  let document: Document
  beforeAll(async () => {
    service = await startService()
    const { authUrl, baseUrl, recordsUrl } = service.deps.config
    host = new URL({ auth: authUrl, partner: baseUrl, record: recordsUrl }[style]).host
    document = await documentOf(service, host)
    service.clock.set('2026-02-20')
  })
  afterAll(() => service.close())

  it('fills in what succeeds, in the order of the document', async () => {
    for (const prefilled of prefilledOf(document)) {
      await sweepAndSeal(service.deps)
      const { operationId, responses } = prefilled.operation
      const { status, body } = await keptBeside(
        service.deps,
        sendPrefilled(service, prefilled, { host, ...(await asPerson(prefilled)) }),
      )
      const expected = operationId in REFUSED ? 409 : operationId in UNKNOWN ? 404 : 200
      const answered = [operationId, status === 204 ? 200 : status, status < 300 ? undefined : body.message]
      expect(answered).toEqual([operationId, expected, expected === 200 ? undefined : expect.any(String)])
      expect(Object.keys(responses)).toContain(String(status))
    }
  })

  it('fills in every parameter of a path, and no filter', () => {
    for (const { name, path, operation } of prefilledOf(document)) {
      expect([name, path]).toEqual([name, expect.not.stringMatching(/undefined|CUST-0001/)])
      expect([name, path]).toEqual([
        name,
        needsQuery(operation) ? expect.any(String) : expect.not.stringContaining('?'),
      ])
    }
  })
})
