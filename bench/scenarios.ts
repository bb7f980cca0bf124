import { dateIn } from '../src/domain/dates.ts'
import { writeMessage } from '../src/domain/payments/adapters/write.ts'
import { ADAPTERS } from '../src/domain/payments/adapters.ts'

/**
 * What is measured. `instalments`: repayments of a whole instalment each; `hot`: every repayment on one loan; `long`: on
 * loans that have 2,000 transactions already. `messages`: payments of which a provider tells, each a repayment once it is decided on.
 */
export const SCENARIOS = [
  'repayments',
  'instalments',
  'hot',
  'long',
  'creation',
  'read',
  'list',
  'scorecard',
  'record',
  'messages',
  'token',
] as const

export type Scenario = (typeof SCENARIOS)[number]

/**
 * Who is measured: the service; the floor a good engineer would write by hand; the same statements without HTTP; the
 * service of another checkout. Each has a quarter of the loans to itself, by number, so that all work on the same
 * tables and each one's books can be checked apart.
 */
export const TARGETS = ['ours', 'floor', 'driver', 'versus'] as const

export type Target = (typeof TARGETS)[number]

export const laneOf = (target: Target): number => TARGETS.indexOf(target)
export const LANES = TARGETS.length

/** The generated book, as far as requests need to know it. Loans are numbered from `firstLoan` without a gap. */
export interface Book {
  readonly organizationId: number
  readonly zone: string
  readonly firstLoan: number
  /** Of the loans, the first `long` have 2,000 transactions, the next `hot` are for one loan under all the load. */
  readonly long: number
  readonly hot: number
  readonly loans: number
  readonly customers: number
  /** An instalment of each kind of loan, minor units; the loans of a target are of these kinds by turns. */
  readonly instalments: readonly number[]
}

/** One request in the words of the book; each target puts it into its own. Amounts in minor units. */
export type Ask =
  | { readonly kind: 'repay'; readonly loan: number; readonly amount: number; readonly token: string }
  | { readonly kind: 'record'; readonly loan: number; readonly amount: number; readonly id: number }
  | {
      readonly kind: 'message'
      readonly loan: number
      readonly amount: number
      readonly receipt: string
      readonly reference: string
    }
  | { readonly kind: 'create'; readonly customer: string; readonly principal: number; readonly externalId: string }
  | { readonly kind: 'read'; readonly loan: number }
  | { readonly kind: 'list'; readonly page: number }
  | { readonly kind: 'scorecard'; readonly customer: string }
  | { readonly kind: 'token' }

/** Twelve weekly instalments (`Weekly flat 2% × 12` of the demonstration data). */
export const CREATED_PRODUCT = 4
export const LIST_ROWS = 100
const LIST_PAGES = 20

/** The customer's externalId. */
export const customerName = (index: number): string => `bench-customer-${index}`

/** The loan's externalId. */
export const loanName = (index: number): string => `book-${index}`

/**
 * A token request hashes a password, which takes a quarter of a second on purpose: more than this many at once only wait
 * for each other, and a shorter slot would see none answered.
 */
const MOST_TOKEN_CONNECTIONS = 4
const LEAST_TOKEN_SECONDS = 3

/** The connections that a scenario is measured with. */
export const connectionsFor = (scenario: Scenario, asked: readonly number[]): number[] =>
  scenario === 'token' ? [...new Set(asked.map((one) => Math.min(one, MOST_TOKEN_CONNECTIONS)))] : [...asked]

/** Measured seconds of a scenario's slots. */
export const secondsFor = (scenario: Scenario, asked: number): number =>
  scenario === 'token' ? Math.max(asked, LEAST_TOKEN_SECONDS) : asked

/**
 * The requests of one slot.
 * @param slot its number in the run, so that tokens and ids never repeat
 * @param turn its number among those of its scenario and target: each has a `hot` loan of its own
 */
export function asker(scenario: Scenario, book: Book, target: Target, slot: number, turn: number): () => Ask {
  const lane = laneOf(target)
  const below = (most: number) => Math.floor(Math.random() * most)
  /** One of this target's loans among `many`, the first of which is number `from`. */
  const loanAmong = (from: number, many: number) => book.firstLoan + from + LANES * below(many / LANES) + lane
  const ordinary = book.long + book.hot
  const randomLoan = () => loanAmong(ordinary, book.loans - ordinary)
  const smallAmount = () => 100 + below(4_901)
  const hotLoan = book.firstLoan + book.long + LANES * (turn % (book.hot / LANES)) + lane
  let sent = 0
  const unique = () => `${lane}-${slot}-${++sent}`
  const repay = (loan: number, amount = smallAmount()): Ask => ({ kind: 'repay', loan, amount, token: unique() })
  const instalmentOf = (loan: number) =>
    book.instalments[Math.floor((loan - book.firstLoan) / LANES) % book.instalments.length]!
  const asks: Record<Scenario, () => Ask> = {
    repayments: () => repay(randomLoan()),
    instalments: () => {
      const loan = randomLoan()
      return repay(loan, instalmentOf(loan))
    },
    hot: () => repay(hotLoan),
    long: () => repay(loanAmong(0, book.long)),
    record: () => ({
      kind: 'record',
      loan: randomLoan(),
      amount: smallAmount(),
      id: (lane + 1) * 1e14 + slot * 1e8 + ++sent,
    }),
    messages: () => {
      const loan = randomLoan()
      const reference = loanName(loan - book.firstLoan)
      return { kind: 'message', loan, amount: smallAmount(), receipt: unique(), reference }
    },
    creation: () => ({
      kind: 'create',
      customer: customerName(below(book.customers)),
      principal: (20_000 + below(180_000)) * 100,
      externalId: unique(),
    }),
    read: () => ({ kind: 'read', loan: randomLoan() }),
    list: () => ({ kind: 'list', page: Math.ceil(ordinary / LIST_ROWS) + 1 + below(LIST_PAGES) }),
    scorecard: () => ({ kind: 'scorecard', customer: customerName(below(book.customers)) }),
    token: () => ({ kind: 'token' }),
  }
  return asks[scenario]
}

/** The adapter of the payment channel that takes messages. */
export const PROVIDER = 'daraja_c2b'

/** Who asks: the token of the account, its Basic credentials for a new one, and the path to which a provider sends messages. */
export interface Credentials {
  readonly token: string
  readonly basic: string
  readonly inbound: string
}

/** A request as it goes over the wire; the floor answers the same ones. */
export function toHttp(ask: Ask, credentials: Credentials, zone: string): string {
  const bearer = `Bearer ${credentials.token}`
  switch (ask.kind) {
    case 'repay':
      return request('POST', 'api', `/v1/loans/${ask.loan}/repayments`, bearer, {
        transactionAmount: ask.amount / 100,
        idempotencyKey: ask.token,
      })
    case 'record':
      return request('POST', 'records', '/v1/repayments', bearer, {
        repayment_id: ask.id,
        loan_id: ask.loan,
        amount: ask.amount / 100,
        collection_date: dateIn(zone, Date.now()),
      })
    case 'message': {
      const { receipt, reference } = ask
      const told = { receipt, reference, amount: String(ask.amount / 100), currency: 'TZS', paidAt: Date.now() }
      const text = writeMessage(ADAPTERS[PROVIDER], { ...told, phone: undefined }, zone)!
      return request('POST', 'api', credentials.inbound, undefined, text)
    }
    case 'create':
      return request('POST', 'api', '/v1/loans', bearer, {
        customerId: ask.customer,
        productId: CREATED_PRODUCT,
        principal: ask.principal / 100,
        externalId: ask.externalId,
      })
    case 'read':
      return request('GET', 'api', `/v1/loans/${ask.loan}`, bearer)
    case 'list':
      return request('GET', 'api', `/v1/loans?rows=${LIST_ROWS}&page=${ask.page}`, bearer)
    case 'scorecard':
      return request('GET', 'api', `/v1/credit-scorecard/${ask.customer}`, bearer)
    case 'token':
      return request('GET', 'auth', '/v1/auth/token', `Basic ${credentials.basic}`)
  }
}

function request(
  method: string,
  style: string,
  path: string,
  authorization: string | undefined,
  body?: object | string,
): string {
  const caller = authorization === undefined ? '' : `authorization: ${authorization}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nhost: ${style}.localhost\r\n${caller}`
  if (body === undefined) return `${head}\r\n`
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
