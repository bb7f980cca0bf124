import { setTimeout as pause } from 'node:timers/promises'
import { createAccount } from '../src/services/access/accounts.ts'
import { operator } from '../src/services/access/caller.ts'
import { checkBook } from '../src/services/book/bookCheck.ts'
import { createCustomer } from '../src/services/customers/customers.ts'
import type { Deps } from '../src/services/deps.ts'
import { listHeads } from '../src/services/events/chainHeads.ts'
import { createOrganization } from '../src/services/organizations/organizations.ts'
import { createProduct } from '../src/services/organizations/products.ts'
import type { Checked } from './checkBooks.ts'
import { HttpConnection } from './httpConnection.ts'
import { type Ask, CREATED_PRODUCT, customerName, toHttp } from './scenarios.ts'

// `book check` of a book that the service has made. The large book is laid by SQL, without a trail, so that the check would call
// all of it a difference: a lender of its own gets its loans and repayments over HTTP instead.

const ORGANIZATION = 2
const ACCOUNT = { email: 'bench@example.com', password: 'a long enough secret' }
const CUSTOMERS = 50
const CONNECTIONS = 32
/** One request in so many is sent twice. */
const TWICE = 10
const SEALED_WITHIN_MS = 60_000
const AGAIN_MS = 100

const whole = (units: number) => ({ units: BigInt(units), scale: 0 })

/** How much is made over HTTP. */
export interface OwnSize {
  readonly loans: number
  readonly repayments: number
}

/**
 * Makes a lender, and its book over HTTP: loans, and repayments in both styles, some of which arrive twice.
 * @throws Error for a request that was not answered with 200
 */
export async function makeOwnBook(deps: Deps, port: number, { loans, repayments }: OwnSize): Promise<void> {
  const author = operator(ORGANIZATION, 'bench')
  const named = { name: 'Bench', currency: 'TZS', officeId: '1', officeName: 'Here' }
  await createOrganization(deps, author, { id: ORGANIZATION, ...named })
  await createAccount(deps, author, { ...ACCOUNT, roles: ['USER'] })
  await createProduct(deps, author, {
    id: CREATED_PRODUCT,
    name: 'Weekly',
    principalMin: whole(1_000),
    principalMax: whole(10_000_000),
    numberOfRepayments: 12,
    repayEvery: 1,
    repayUnit: 'weeks',
    interestRate: whole(2),
  })
  for (let index = 0; index < CUSTOMERS; index++) await createCustomer(deps, author, customerName(index))

  const connections = Array.from({ length: CONNECTIONS }, () => new HttpConnection(port))
  try {
    const basic = Buffer.from(`${ACCOUNT.email}:${ACCOUNT.password}`).toString('base64')
    const send = async (connection: HttpConnection, ask: Ask, token: string) => {
      const request = toHttp(ask, { token, basic, inbound: '' }, deps.config.zone)
      const { status, body } = await connection.send(request, { keepBody: true })
      if (status !== 200) throw new Error(`${ask.kind} was answered ${status}: ${body.slice(0, 500)}`)
      return body
    }
    const signedIn = await send(connections[0]!, { kind: 'token' }, '')
    const { token } = JSON.parse(signedIn) as { token: string }
    const sendAll = async (asks: Iterator<Ask>, take: (body: string) => void) => {
      await Promise.all(
        connections.map(async (connection) => {
          for (let next = asks.next(); !next.done; next = asks.next()) take(await send(connection, next.value, token))
        }),
      )
    }
    const made: number[] = []
    await sendAll(newLoans(loans), (body) => made.push(Number((JSON.parse(body) as { id: string }).id)))
    await sendAll(newRepayments(made, repayments), () => undefined)
  } finally {
    for (const connection of connections) connection.close()
  }
}

function* newLoans(many: number): Generator<Ask> {
  for (let index = 0; index < many; index++)
    yield {
      kind: 'create',
      customer: customerName(index % CUSTOMERS),
      principal: (20_000 + (index % 180) * 1_000) * 100,
      externalId: `own-${index}`,
    }
}

function* newRepayments(loans: readonly number[], many: number): Generator<Ask> {
  for (let index = 0; index < many; index++) {
    const of = { loan: loans[(index * 7) % loans.length]!, amount: 100 + (index % 4_901) }
    const ask: Ask =
      index % 4 === 0 ? { kind: 'record', ...of, id: index + 1 } : { kind: 'repay', ...of, token: `own-${index}` }
    yield ask
    if (index % TWICE === 0) yield ask
  }
}

/** Waits until the changes of the lender are sealed, and checks its book. */
export async function checkOwnBook(deps: Deps): Promise<Checked> {
  const begun = performance.now()
  const unsealed = async () =>
    (await listHeads(deps)).find(({ organizationId }) => organizationId === ORGANIZATION)?.unsealed
  while ((await unsealed()) !== 0) {
    if (performance.now() - begun > SEALED_WITHIN_MS) return { said: [], wrong: ['the own book is not sealed'] }
    await pause(AGAIN_MS)
  }
  const sealed = performance.now()
  const { loans, entries, found, differences } = await checkBook(deps, { organizationId: ORGANIZATION })
  const seconds = ((performance.now() - sealed) / 1000).toFixed(1)
  return {
    said: [
      `${loans} loans with ${entries} transactions that came over HTTP: book check found ${found} differences, in ${seconds} s`,
    ],
    wrong: differences.slice(0, 20).map(({ of, message }) => `book check: ${of}: ${message}`),
  }
}
