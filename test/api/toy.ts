import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { authStyle } from '../../src/api/auth/index.ts'
import { wireInteger } from '../../src/api/body/json.ts'
import { listQuery } from '../../src/api/lists/query.ts'
import { partnerStyle } from '../../src/api/partner/index.ts'
import { recordStyle } from '../../src/api/record/index.ts'
import type { Style, StyleApp } from '../../src/api/style.ts'
import { amount, externalId, idParam, int64, localDate } from '../../src/api/wire.ts'
import { type AppOptions, buildApp } from '../../src/app/app.ts'
import { type Config, readConfig } from '../../src/app/config.ts'
import type { Db } from '../../src/db/postgres/client.ts'
import { invalidArgument, LendingError } from '../../src/domain/errors.ts'
import { signerPlace } from '../../src/services/access/tokens.ts'
import type { Deps } from '../../src/services/deps.ts'
import { noListener } from '../../src/services/listener.ts'

/** Any caller may ask. */
const OPEN = { needs: 'signed in' } as const

/** A style with the words of a real one, its own registry, and a few routes that need no database. */
const toy = (style: Style, routes: (app: StyleApp, style: Style) => void): Style => {
  const made: Style = { ...style, registry: z.registry(), routes: (app) => routes(app, made) }
  return made
}

const repayment = z.strictObject({
  transactionAmount: amount,
  transactionDate: localDate.optional(),
  idempotencyKey: externalId.optional(),
})

const auth = toy(authStyle, (app) => {
  app.get('/v1/auth/token', { config: { public: true } }, () => ({ token: 'a' }))
})

const partner = toy(partnerStyle, (app, style) => {
  const PostRepaymentRequest = repayment.register(style.registry, { id: 'PostRepaymentRequest' })
  const Remark = z.strictObject({ note: externalId }).register(style.registry, { id: 'Remark' })
  const Repayment = z.object({ id: z.string(), amount: z.number() }).register(style.registry, { id: 'Repayment' })
  app.get('/v1/customers', { config: OPEN, schema: { querystring: listQuery } }, (request) => request.query)
  app.get('/v1/loans/:id', { config: OPEN, schema: { params: z.object({ id: idParam }) } }, ({ params }) => ({
    id: String(params.id),
  }))
  app.get('/v1/loans', { config: OPEN }, () => ({ style: 'partner' }))
  app.post(
    '/v1/loans/:id/repayments',
    {
      schema: {
        summary: 'Post a repayment',
        params: z.object({ id: idParam }),
        body: PostRepaymentRequest,
        response: { 200: Repayment },
      },
      config: { ...OPEN, refusals: ['failed_precondition'] },
    },
    ({ body, params }) => ({ id: String(params.id), amount: Number(body.transactionAmount.units) }),
  )
  app.post('/v1/loans/:id/close', { config: OPEN, schema: { body: Remark.optional() } }, ({ body }) => ({
    note: body?.note ?? 'none',
  }))
  app.get('/v1/fail/:how', { config: OPEN }, ({ params }) => {
    throw thrown[(params as { how: string }).how]
  })
})

const products = z.array(z.strictObject({ stock_id: int64({ min: 1n }), quantity: amount })).max(3)

const record = toy(recordStyle, (app) => {
  app.get('/v1/borrowers', { config: OPEN }, () => ({ items: [] }))
  app.get('/v1/loans', { config: OPEN }, () => ({ style: 'record' }))
  app.post(
    '/v1/loans',
    {
      config: OPEN,
      schema: {
        body: z.strictObject({ loan_id: int64({ min: 1n }), borrower_type: z.enum(['a', 'b']), products }).partial(),
      },
    },
    ({ body }) => ({ loan_id: body.loan_id === undefined ? undefined : wireInteger(body.loan_id) }),
  )
})

/** The errors that `/v1/fail/:how` throws. */
const thrown: Readonly<Record<string, unknown>> = {
  bug: new Error('password is hunter2'),
  text: 'a string',
  unreachable: Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' }),
  field: invalidArgument('amount', 'must be greater than 0'),
  limited: new LendingError('resource_exhausted', 'too many attempts', [], 30),
  state: new LendingError('failed_precondition', 'the loan is closed'),
}

const settings = (env: Record<string, string> = {}): Config => readConfig(env)

/** The service with toy styles and no database. */
export function toyApp(env: Record<string, string> = {}, options: AppOptions = {}): Promise<FastifyInstance> {
  const db = new Proxy({} as Db, {
    get: () => {
      throw new Error('there is no database here')
    },
  })
  const deps = {
    config: settings(env),
    now: () => 0,
    db,
    listener: noListener,
    tokenSigner: signerPlace(),
  } as unknown as Deps
  return buildApp(deps, { styles: [auth, partner, record], ready: async () => true, ...options })
}

/** Sends raw bytes and gives back everything that is answered until the connection closes. */
export function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk) => {
      answer += chunk.toString()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}
