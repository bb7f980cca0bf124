import type { RouteOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { authStyle } from '../../src/api/auth/index.ts'
import { partnerStyle } from '../../src/api/partner/index.ts'
import { recordStyle } from '../../src/api/record/index.ts'
import type { Style, StyleApp } from '../../src/api/style.ts'
import { BUILT_IN_ROLES, type BuiltInRole, mayDo, permissionsNeeded } from '../../src/domain/access/permissions.ts'
import type { Caller, Identity } from '../../src/services/access/caller.ts'
import { operationsOf } from '../support/document.ts'
import type { Document } from '../support/wire.ts'
import { toyApp } from './toy.ts'

const STYLES = [authStyle, partnerStyle, recordStyle] as const
const HOSTS = { auth: 'auth.localhost', partner: 'api.localhost', record: 'records.localhost' } as const

/** A style with routes whose handlers check nothing, each request of a caller with the built-in roles of the header `x-roles`. */
const unguarded: Style = {
  ...partnerStyle,
  registry: z.registry(),
  routes(app: StyleApp) {
    app.addHook('onRequest', async (request) => {
      const roles = String(request.headers['x-roles']).split(',') as BuiltInRole[]
      const permissions = roles.reduce((set, role) => set | BUILT_IN_ROLES[role], 0)
      request.caller = { roles, permissions } as unknown as Caller & Identity
    })
    const schema = { querystring: z.strictObject({ rows: z.literal('1').optional() }) }
    app.get('/v1/for-any', { schema, config: { needs: 'signed in' } }, () => ({ done: true }))
    app.get('/v1/for-auditors', { schema, config: { needs: 'reports.read' } }, () => ({ done: true }))
    app.get('/v1/for-admins', { schema, config: { needs: 'loans.write_off' } }, () => ({ done: true }))
    app.register(async (nested) => {
      nested.post('/v1/nested', { schema, config: { needs: 'loans.write_off' } }, () => ({ done: true }))
    })
  },
}

describe('a route that needs a permission', () => {
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
  const FOR_ADMINS = [403, 'this takes the permission loans.write_off, which your account does not have; ADMIN has it']
  const FOR_AUDITORS = [
    403,
    'this takes the permission reports.read, which your account does not have; ADMIN and AUDITOR have it',
  ]

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
    '%s %s of %s answers as the roles say, whatever its handler does',
    async (method, url, roles, answered) => {
      expect(await ask(method, url, roles)).toEqual(answered)
    },
  )

  it('refuses what is malformed first, as every route does', async () => {
    const [status] = await ask('GET', '/v1/for-admins?rows=2', 'USER')
    expect(status).toBe(400)
  })
})

/** The operations that ask for no permission, by style. */
const OPEN: Readonly<Record<string, readonly string[]>> = {
  auth: ['authenticate', 'authorize', 'getKeySet', 'getToken'],
  partner: [
    ...['getCreditScorecard', 'getCustomer', 'getDelinquency', 'getDelinquencyPolicy', 'getEvent', 'getLoan'],
    ...['getLoanProduct', 'getLoanQuote', 'getOrganization', 'getPayment', 'getReceipt', 'getSchedule'],
    ...['getSettlementQuote', 'getStatement', 'getTestClock', 'getTransaction', 'listCharges', 'listCollateral'],
    ...['getAssignment', 'getReminderPolicy', 'getWorklist', 'listContacts', 'listHolds', 'listPromises'],
    ...['listConsents', 'listCustomers', 'listEvents', 'listGuarantors', 'listLoanProducts', 'listLoanTransactions'],
    ...['listLoans', 'listRepayments', 'listSchedules', 'listTransactions', 'verifyDocument', 'withdrawPendingAction'],
  ],
  record: [
    ...['getBorrower', 'getEvent', 'getLoan', 'getReceipt', 'getRepayment', 'getStatement'],
    ...['listBorrowers', 'listCollateral', 'listConsents', 'listEvents', 'listGuarantors'],
    ...['listLoans', 'listRepayments', 'verifyDocument'],
  ],
}

/** The operations that take a permission which USER has, by style. */
const OF_USERS: Readonly<Record<string, readonly string[]>> = {
  auth: [],
  partner: [
    ...['activateCustomer', 'advanceTestClock', 'allocatePayment', 'assignExternalId', 'boostCreditLimit'],
    ...['chargeOffLoan', 'closeCustomer', 'createCollateral', 'createConsent', 'createCustomer', 'createDataRequest'],
    ...['assignLoan', 'cancelPromise', 'createContact', 'createHold', 'createPromise', 'releaseHold'],
    ...['createGuarantor', 'createLoan', 'postPayment', 'postPayments', 'postRecovery', 'postRefund', 'postRepayment'],
    ...['postRepayments', 'refundCreditBalance', 'releaseCollateral', 'releaseGuarantor', 'updateIdentity'],
    ...['waiveInterest', 'withdrawConsent'],
  ],
  record: [
    ...['createBorrower', 'createCollateral', 'createConsent', 'createGuarantor', 'createLoan', 'postRepayment'],
    ...['postRepayments', 'releaseCollateral', 'releaseGuarantor', 'updateBorrower', 'updateLoan', 'withdrawConsent'],
  ],
}

describe('every route of the styles', () => {
  it('takes the permission that the document says, or is one of those that every account may call', async () => {
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
        const names = (some: readonly RouteOptions[]) =>
          [...new Set(some.map(({ schema }) => schema!.operationId!.replace(/By(Loan)?ExternalId$/, '')))].sort()
        const permissionOf = ({ config }: RouteOptions) => permissionsNeeded(config?.needs ?? 'signed in')
        const open = own.filter((route) => permissionOf(route).length === 0)
        expect([name, names(open)]).toEqual([name, OPEN[name]!.toSorted()])
        const users = { permissions: BUILT_IN_ROLES.USER }
        const ofUsers = own.filter((route) => permissionOf(route).length > 0 && mayDo(users, permissionOf(route)))
        expect([name, names(ofUsers)]).toEqual([name, OF_USERS[name]!.toSorted()])
        const said = new Map(
          operations.map(([, operation]) => [
            operation.operationId,
            (operation as { readonly 'x-required-permission'?: string })['x-required-permission'],
          ]),
        )
        for (const route of own)
          expect([route.url, said.get(route.schema!.operationId!)]).toEqual([route.url, permissionOf(route)[0]])
        const restricted = operations.filter(([, operation]) => 'x-required-role' in operation)
        expect(restricted.length).toBe(own.length - open.length - ofUsers.length)
        // What answers that something waits can be asked for by a PROPOSER, and nothing else.
        const waiting = own.filter(({ schema }) => '202' in ((schema?.response ?? {}) as object))
        expect(own.filter(({ config }) => config?.canWait)).toEqual(waiting)
      }
    } finally {
      await app.close()
    }
  })

  it('says what it needs: one that does not cannot be registered', async () => {
    const forgetful: Style = {
      ...partnerStyle,
      registry: z.registry(),
      routes: (app) => void app.get('/v1/forgotten', { schema: { operationId: 'listForgotten' } }, () => ({})),
    }
    await expect(toyApp({}, { styles: [forgetful] })).rejects.toThrow(
      /GET .*\/v1\/forgotten says no permission: add its operation to src\/api\/permissions\.ts/,
    )
  })
})
