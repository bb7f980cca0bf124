import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { RESTRUCTURE_FAULTS } from '../support/restructureFaults.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'
import { copyBook, type WholeBook } from '../support/wholeBook.ts'

// What `book check` says of restructured loans and of top-ups in which something was changed: first on a book that is not sealed, by
// arithmetic alone, and then on the same book with its seal.

const TABLES = ['loan_product', 'customer', 'loan', 'loan_period', 'loan_entry', 'audit_entry', 'idempotency_key']

let service: TestService
let book: WholeBook
/** Products, loans and entries by the names of the faults. */
const ids: Record<string, string> = {}

interface Answer {
  readonly id: string
  readonly restructures: readonly { readonly id: string }[]
  readonly items: readonly { readonly id: string; readonly type: string }[]
}

const token = () => service.tokens.operator
const post = async (path: string, body: object) => {
  const answer = await service.post<Answer>(path, { body, token: token() })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const lend = async (externalId: string, more: object = {}) => {
  const loan = { customerId: 'asha', productId: Number(ids.product), principal: 90_000, externalId, ...more }
  return (await post('/v1/loans', loan)).id
}
const restructure = async (loan: string, body: object) => {
  const { restructures } = await post(`/v1/loans/external/${loan}/restructures`, body)
  return restructures.at(-1)!.id
}
/** Returns the id of the last entry of a type on a loan. */
const entryOf = async (loan: string, type: string) => {
  const { body } = await service.get<Answer>(`/v1/loans/external/${loan}/transactions`)
  return body.items.findLast((one) => one.type === type)!.id
}

beforeAll(async () => {
  service = await startService()
  service.clock.set(FIRST_DAY)
  const product = {
    ...{ name: 'Any', minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3, interestRate: 3 },
    restructuring: { maxTimes: 2 },
  }
  ids.product = String((await post('/v1/loan-products', product)).id)
  await post('/v1/customers', { externalId: 'asha' })
  for (const name of ['moved', 'twice', 'back', 'plain', 'old']) ids[name] = await lend(name)
  ids.paid = (await post('/v1/loans/external/moved/repayments', { transactionAmount: 5_000 })).id
  service.clock.set('2026-03-10')
  ids.holiday = await restructure('moved', {
    ...{ change: { postponeBy: { periods: 1 } }, reason: 'hardship', waive: { interest: 700 } },
    fee: { name: 'Extension', amount: 500, treatment: 'due_now' },
  })
  ids.waiver = await entryOf('moved', 'Waive Interest')
  ids.fee = await entryOf('moved', 'Fee')
  ids.early = await restructure('twice', {
    ...{ change: { newFirstDueDate: '2026-04-15' }, interest: 'none', reason: 'other' },
  })
  ids.later = await restructure('twice', { change: { numberOfRepayments: 6 }, reason: 'disaster' })
  ids.undone = await restructure('back', { change: { postponeBy: { periods: 2 } }, reason: 'other' })
  await post(`/v1/loans/external/back/restructures/${ids.undone}/reverse`, {})
  ids.new = await lend('new', { principal: 200_000, settles: ['old'] })
  ids.payOff = await entryOf('old', 'Repayment')
})
afterAll(async () => {
  book.client.release(true)
  await service.close()
})

const named = (text: string) => text.replace(/(?<![:\w]):([a-zA-Z]+)/g, (all, name) => ids[name] ?? all)

/** Plants a fault, and returns what the check finds of it. */
async function foundOf(spoil: string): Promise<string> {
  await book.client.query(named(spoil))
  const { code, found } = await book.check()
  await book.mend(spoil)
  expect(code === 0).toBe(found.length === 0)
  return found.join('\n')
}

it('plants more than twenty faults', () => {
  expect(RESTRUCTURE_FAULTS.length).toBeGreaterThan(20)
  expect(RESTRUCTURE_FAULTS.filter(({ computed }) => computed === null).map(({ name }) => name)).toEqual([
    'wider bounds of the product for restructures',
  ])
})

describe.each(['computed', 'sealed'] as const)('of a book that is %s', (by) => {
  beforeAll(async () => {
    if (by === 'sealed') {
      book.client.release(true)
      await drain(sequencerJob(service.deps))
    }
    book = await copyBook(service, TABLES)
  })

  it('nothing is found where nobody has touched it', async () => {
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })

  it.each(RESTRUCTURE_FAULTS)('the check names $name', async ({ spoil, computed, sealed }) => {
    const found = await foundOf(spoil)
    // The seal hides nothing of what arithmetic finds.
    for (const said of by === 'computed' ? [computed] : [computed, sealed])
      if (said) expect(found).toMatch(new RegExp(named(said.source), 'm'))
    if (by === 'computed' && computed === null) expect(found).toBe('')
  })

  it('and nothing is left of it', async () => {
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })
})
