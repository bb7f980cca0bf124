import type { RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { authStyle } from '../../src/api/auth/index.ts'
import { partnerStyle } from '../../src/api/partner/index.ts'
import { recordStyle } from '../../src/api/record/index.ts'
import type { Style, StyleApp } from '../../src/api/style.ts'
import type { Role } from '../../src/services/access/accounts.ts'
import type { Caller, Identity } from '../../src/services/access/caller.ts'
import { operationsOf } from '../support/document.ts'
import type { Document } from '../support/wire.ts'
import { toyApp } from './toy.ts'

const STYLES = [authStyle, partnerStyle, recordStyle] as const
const HOSTS = { auth: 'auth.localhost', partner: 'api.localhost', record: 'records.localhost' } as const

/**
 * The operations that every account of an organization may call, or that need no token. An operation that is not here names
 * the role that it needs. An operation by an externalId has the name of that by the number.
 */
const OF_EVERY_ACCOUNT: Readonly<Record<string, readonly string[]>> = {
  auth: ['authenticate', 'authorize', 'getKeySet', 'getToken'],
  partner: [
    ...[
      'activateCustomer',
      'advanceTestClock',
      'allocatePayment',
      'assignExternalId',
      'assignLoan',
      'boostCreditLimit',
    ],
    ...['cancelPromise', 'chargeOffLoan', 'closeCustomer', 'createCollateral', 'createConsent', 'createContact'],
    ...['createCustomer', 'createDataRequest', 'createGuarantor', 'createHold', 'createLoan', 'createPromise'],
    ...['getAssignment', 'getCreditScorecard', 'getCustomer', 'getDelinquency', 'getDelinquencyPolicy', 'getEvent'],
    ...[
      'getLoan',
      'getLoanProduct',
      'getLoanQuote',
      'getOrganization',
      'getPayment',
      'getReceipt',
      'getReminderPolicy',
    ],
    ...['getSchedule', 'getSettlementQuote', 'getStatement', 'getTestClock', 'getTransaction', 'getWorklist'],
    ...[
      'listCharges',
      'listCollateral',
      'listConsents',
      'listContacts',
      'listCustomers',
      'listEvents',
      'listGuarantors',
    ],
    ...['listHolds', 'listLoanProducts', 'listLoanTransactions', 'listLoans', 'listPromises', 'listRepayments'],
    ...['listSchedules', 'listTransactions', 'postPayment', 'postPayments', 'postRecovery', 'postRefund'],
    ...['postRepayment', 'postRepayments', 'refundCreditBalance', 'releaseCollateral', 'releaseGuarantor'],
    ...['releaseHold', 'updateIdentity', 'verifyDocument', 'waiveInterest', 'withdrawConsent', 'withdrawPendingAction'],
  ],
  record: [
    ...['createBorrower', 'createCollateral', 'createConsent', 'createGuarantor', 'createLoan'],
    ...['getBorrower', 'getEvent', 'getLoan', 'getReceipt', 'getRepayment', 'getStatement'],
    ...['listBorrowers', 'listCollateral', 'listConsents', 'listEvents', 'listGuarantors'],
    ...['listLoans', 'listRepayments', 'postRepayment', 'postRepayments', 'releaseCollateral', 'releaseGuarantor'],
    ...['updateBorrower', 'updateLoan', 'verifyDocument', 'withdrawConsent'],
  ],
}

/** A style with routes whose handlers check nothing, each request of a caller with the roles of the header `x-roles`. */
const unguarded: Style = {
  ...partnerStyle,
  registry: z.registry(),
  routes(app: StyleApp) {
    app.addHook('onRequest', async (request) => {
      request.caller = { roles: String(request.headers['x-roles']).split(',') as Role[] } as unknown as Caller &
        Identity
    })
    const schema = { querystring: z.strictObject({ rows: z.literal('1').optional() }) }
    app.get('/v1/for-any', { schema }, () => ({ done: true }))
    app.get('/v1/for-auditors', { schema, config: { role: 'AUDITOR' } }, () => ({ done: true }))
    app.get('/v1/for-admins', { schema, config: { role: 'ADMIN' } }, () => ({ done: true }))
    app.register(async (nested) => {
      nested.post('/v1/nested', { schema, config: { role: 'ADMIN' } }, () => ({ done: true }))
    })
  },
}

describe('a route whose config names a role', () => {
  let app: Awaited<ReturnType<typeof toyApp>>
  beforeAll(async () => {
    app = await toyApp({}, { styles: [unguarded] })
  })
  afterAll(() => app.close())

  const ask = async (method: 'GET' | 'HEAD' | 'POST', url: string, roles: string) => {
    const { statusCode, payload } = await app.inject({
      method,
      url,
      headers: { host: HOSTS.partner, 'x-roles': roles },
    })
    return [statusCode, payload === '' ? undefined : JSON.parse(payload).message]
  }
  const DONE = [200, undefined]
  const FOR_ADMINS = [403, 'this takes the role ADMIN, which your account does not have']
  const FOR_AUDITORS = [403, 'this takes the role ADMIN or AUDITOR, which your account does not have']

  it.each([
    ['GET', '/v1/for-any', 'USER', DONE],
    ['GET', '/v1/for-auditors', 'USER', FOR_AUDITORS],
    ['GET', '/v1/for-auditors', 'AUDITOR', DONE],
    ['GET', '/v1/for-auditors', 'ADMIN', DONE],
    ['GET', '/v1/for-admins', 'USER', FOR_ADMINS],
    ['GET', '/v1/for-admins', 'AUDITOR', FOR_ADMINS],
    ['GET', '/v1/for-admins', 'USER,AUDITOR', FOR_ADMINS],
    ['GET', '/v1/for-admins', 'ADMIN', DONE],
    ['HEAD', '/v1/for-admins', 'USER', [403, undefined]],
    ['POST', '/v1/nested', 'USER', FOR_ADMINS],
    ['POST', '/v1/nested', 'ADMIN', DONE],
  ] as const)(
    '%s %s of %s answers as the role says, whatever its handler does',
    async (method, url, roles, answered) => {
      expect(await ask(method, url, roles)).toEqual(answered)
    },
  )

  it('refuses what is malformed first, as every route does', async () => {
    const [status] = await ask('GET', '/v1/for-admins?rows=2', 'USER')
    expect(status).toBe(400)
  })
})

describe('every route of the styles', () => {
  it('names the role that it needs, or is one of those that every account may call', async () => {
    const routes: [style: string, route: RouteOptions][] = []
    const watched = STYLES.map(
      (style): Style => ({
        ...style,
        routes(app, deps) {
          app.addHook('onRoute', (route) => {
            routes.push([style.name, route])
          })
          return style.routes(app, deps)
        },
      }),
    )
    const app = await toyApp({}, { styles: watched })
    try {
      for (const { name } of STYLES) {
        const document: Document = (await app.inject({ url: '/openapi.json', headers: { host: HOSTS[name] } })).json()
        const operations = operationsOf(document).filter(([operation]) => !operation.includes(' /health/'))
        const own = routes
          .filter(([style, { method }]) => style === name && method !== 'HEAD')
          .map(([, route]) => route)
        // Each is an operation of the document, so that test/api/everyOperation.test.ts sends it with every role.
        expect(own.map(({ schema }) => schema?.operationId).sort()).toEqual(
          operations.map(([, { operationId }]) => operationId).sort(),
        )
        const open = own.filter(({ config }) => config?.role === undefined)
        const names = open.map(({ schema }) => schema!.operationId!.replace(/By(Loan)?ExternalId$/, ''))
        expect([name, [...new Set(names)].sort()]).toEqual([name, OF_EVERY_ACCOUNT[name]])
        // What answers that something waits can be asked for by a PROPOSER, and nothing else.
        const waiting = own.filter(({ schema }) => '202' in ((schema?.response ?? {}) as object))
        expect(own.filter(({ config }) => config?.canWait)).toEqual(waiting)
        const named = operations.filter(([, operation]) => 'x-required-role' in operation)
        expect(named.length).toBe(own.length - open.length)
      }
    } finally {
      await app.close()
    }
  })
})
