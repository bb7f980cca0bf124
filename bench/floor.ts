import { generateKeyPairSync, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import Fastify, { type FastifyRequest } from 'fastify'
import { importSPKI, jwtVerify, SignJWT } from 'jose'
import pg from 'pg'
import * as byHand from './byHand.ts'
import { serve } from './peer.ts'

// The floor: what a good engineer would write by hand for the same requests. Bare Fastify and pg, no domain, no log.

declare module 'fastify' {
  interface FastifyRequest {
    who: byHand.Caller
  }
}

/** As many connections as the service's own pool has. */
const POOL = 20
const MOST_VERIFIED = 10_000
const VERIFIED_FOR_MS = 4_000

/** The floor, in a process of its own. */
const duties = {
  /** @returns the port that it listens on */
  async start({ databaseUrl }: { databaseUrl: string }): Promise<number> {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: POOL })
    pool.on('error', () => undefined)
    const app = Fastify()
    app.decorateRequest('who', null as unknown as byHand.Caller)
    const identify = await verifier(pool)
    app.addHook('onRequest', async (request) => {
      if (request.routeOptions.url !== '/v1/auth/token') request.who = await identify(request)
    })

    app.post<{ Params: { id: string }; Body: { transactionAmount: number; idempotencyKey: string } }>(
      '/v1/loans/:id/repayments',
      { schema: { body: body({ transactionAmount: POSITIVE, idempotencyKey: TEXT }) } },
      ({ who, params, body: { transactionAmount, idempotencyKey } }) =>
        byHand.repay(pool, who, Number(params.id), Math.round(transactionAmount * 100), idempotencyKey),
    )
    app.post<{ Body: { repayment_id: number; loan_id: number; amount: number } }>(
      '/v1/repayments',
      {
        schema: {
          body: body({ repayment_id: POSITIVE, loan_id: POSITIVE, amount: POSITIVE, collection_date: TEXT }),
        },
      },
      async ({ who, body: { repayment_id: id, loan_id: loan, amount } }) => {
        const item = await byHand.repay(pool, who, loan, Math.round(amount * 100), String(id))
        return { item, success: true }
      },
    )
    app.post<{ Body: { customerId: string; principal: number; externalId: string } }>(
      '/v1/loans',
      {
        schema: {
          body: body({ customerId: TEXT, productId: POSITIVE, principal: POSITIVE, externalId: TEXT }),
        },
      },
      ({ who, body: { customerId, principal, externalId } }) =>
        byHand.create(pool, who, customerId, Math.round(principal * 100), externalId),
    )
    app.get<{ Params: { id: string } }>('/v1/loans/:id', ({ who, params }) => byHand.read(pool, who, Number(params.id)))
    app.get<{ Querystring: { page: string } }>('/v1/loans', ({ who, query }) =>
      byHand.list(pool, who, Number(query.page)),
    )
    app.get<{ Params: { id: string } }>('/v1/credit-scorecard/:id', ({ who, params }) =>
      byHand.scorecard(pool, who, params.id),
    )
    const issue = issuer(pool)
    app.get('/v1/auth/token', async ({ headers }) => ({ token: await issue(headers.authorization ?? '') }))

    await app.listen({ host: '127.0.0.1', port: 0 })
    return Number(new URL(app.listeningOrigin).port)
  },
}

const POSITIVE = { type: 'number', exclusiveMinimum: 0 }
const TEXT = { type: 'string', minLength: 1, maxLength: 100 }

const body = (properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
})

/** Checks tokens with the service's public keys; one that was checked is taken as read for a while, as the service does. */
async function verifier(pool: pg.Pool): Promise<(request: FastifyRequest) => Promise<byHand.Caller>> {
  const { rows } = await pool.query<{ kid: string; public_pem: string }>('SELECT kid, public_pem FROM signing_key')
  const keys = new Map(await Promise.all(rows.map(async (row) => [row.kid, await spki(row.public_pem)] as const)))
  const known = new Map<string, { who: byHand.Caller; until: number }>()
  return async ({ headers }) => {
    const token = headers.authorization?.slice('Bearer '.length) ?? ''
    const cached = known.get(token)
    if (cached && Date.now() < cached.until) return cached.who
    const { payload } = await jwtVerify(token, ({ kid = '' }) => {
      const key = keys.get(kid)
      if (!key) throw new Error('unknown key')
      return key
    })
    if (known.size >= MOST_VERIFIED) known.clear()
    const who = { org: Number(payload.org), account: Number(payload.sub) }
    known.set(token, { who, until: Date.now() + VERIFIED_FOR_MS })
    return who
  }
}

const spki = (pem: string) => importSPKI(pem, 'RS256')

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt)

/** Issues a token for Basic credentials: the same stored hash at the same cost, and a signature. */
function issuer(pool: pg.Pool): (authorization: string) => Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return async (authorization) => {
    const given = Buffer.from(authorization.slice('Basic '.length), 'base64').toString()
    const colon = given.indexOf(':')
    const { rows } = await pool.query<{ id: number; organization_id: number; password_hash: string }>({
      name: 'account',
      text: 'SELECT id, organization_id, password_hash FROM account WHERE email = $1 AND disabled_at IS NULL',
      values: [given.slice(0, colon)],
    })
    const account = rows[0]
    if (!account) throw new Error('no such account')
    const [, N, r, p, salt = '', key = ''] = account.password_hash.split('$')
    const cost = { N: Number(N), r: Number(r), p: Number(p), maxmem: 256 * Number(N) * Number(r) }
    const expected = Buffer.from(key, 'base64url')
    const derived = await derive(given.slice(colon + 1), Buffer.from(salt, 'base64url'), expected.length, cost)
    if (!timingSafeEqual(derived, expected)) throw new Error('wrong password')
    return new SignJWT({ org: account.organization_id })
      .setProtectedHeader({ alg: 'RS256' })
      .setSubject(String(account.id))
      .setExpirationTime('365d')
      .sign(privateKey)
  }
}

export type FloorDuties = typeof duties

serve(duties)
