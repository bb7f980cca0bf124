import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { within } from '../support/patience.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'
import { anyCommands, type LoanCommand, readEverything } from './commands.ts'
import { type DemoProduct, debtOf, PRODUCTS } from './debt.ts'
import { KINDS } from './history.ts'
import { anyOpening } from './openings.ts'
import { agreeOnLoan, type Model, reached, type System } from './system.ts'

// Any sequence of operations, on any product and in any order of value dates, has the results of a slow and simple
// model of the contract, over HTTP and on a real database. MODEL_RUNS=2000 runs that many sequences, MODEL_SEED repeats
// those of an earlier run, and MODEL_REACHED=1 prints how often each operation was done and refused.

const RUNS = Number(process.env.MODEL_RUNS ?? 20)
const SEED = process.env.MODEL_SEED
const LONGEST = 40

let service: TestService
const instances: TestService[] = []
beforeAll(async () => {
  service = await startService()
  instances.push(service, await service.another())
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const anyLoan = fc.record({
  product: fc.constantFrom(...PRODUCTS),
  principal: fc.oneof(fc.bigInt(1_000_00n, 60_000_00n), fc.bigInt(1_000_00n, 10_000_000_00n)),
  /** After the first day. */
  disbursedAfter: fc.nat(60 * 86_400_000),
})

let loans = 0

interface Lent {
  readonly product: DemoProduct
  readonly principal: bigint
  readonly disbursedAfter: number
}

async function lend({ product, principal, disbursedAfter }: Lent): Promise<{ model: Model; real: System }> {
  loans += 1
  const now = Date.parse(FIRST_DAY) + disbursedAfter
  service.clock.stand(new Date(now).toISOString())
  const externalId = `model-${loans}`
  const { status, body, text } = await service.post('/v1/loans', {
    body: { customerId: 'asha', productId: product.id, principal: Number(principal) / 100, externalId },
  })
  expect(status, text).toBe(200)
  const model: Model = { loan: { debt: debtOf(product, principal, now), history: [] }, now }
  const real: System = { instances, turn: 0, loanId: body.id, externalId }
  await agreeOnLoan(model, real)
  return { model, real }
}

/** The runs of `commands` are counted by its own iterator, so they are not put into an array. */
function* inTurn(opening: Iterable<LoanCommand>, commands: Iterable<LoanCommand>): Generator<LoanCommand> {
  yield* opening
  yield* commands
  yield readEverything
}

it(
  `${RUNS} sequences of operations agree with the model`,
  async () => {
    const anyRun = fc.asyncProperty(anyLoan, anyOpening, anyCommands(LONGEST), async (loan, opening, commands) => {
      await fc.asyncModelRun(() => lend(loan), inTurn(opening.commands, commands))
    })
    await fc.assert(anyRun, { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) })
    if (process.env.MODEL_REACHED) console.log([...reached].sort())
    // The runs of the suite reach every kind of transaction, and so do many of any seed; few of another seed need not.
    const isOfSuite = process.env.MODEL_RUNS === undefined && SEED === undefined
    if (isOfSuite || RUNS >= 60)
      expect([...reached.keys()]).toEqual(expect.arrayContaining(KINDS.map((kind) => `${kind}: done`)))
  },
  within(Math.max(90_000, RUNS * 500)),
)

it('the feed of events, followed from its beginning, gives each loan as the API answers it', async () => {
  service.clock.set(LATER)
  await drain(sweepJob(service.deps))
  await drain(sequencerJob(service.deps))
  const token = await service.deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
  const { loansTold, changes } = await followFeed(service, token)
  expect(loansTold.size).toBe(loans)
  expect(changes).toBeGreaterThanOrEqual(loans)
  for (const [id, told] of loansTold) {
    const {
      repaymentSchedule: _,
      repaymentHistory: __,
      daysOverdue: ___,
      delinquency: _____,
      ...loan
    } = (await service.get(`/v1/loans/${id}`, { token })).body
    const { daysOverdue: ____, ...figures } = told
    expect(figures).toEqual(loan)
  }
})

/** After the last day of every loan: time changes nothing more. */
const LATER = '2030-01-01'

interface Feed {
  readonly items: readonly { readonly data: { sequence: string; loanVersion: number; loan?: ToldLoan } }[]
  readonly next: string
  readonly hasMore: boolean
}

type ToldLoan = Record<string, unknown> & { readonly id: string }

/** Follows the feed; each change of a loan is told in the order of its versions. */
async function followFeed(of: TestService, token: string) {
  const loansTold = new Map<string, ToldLoan>()
  const versions = new Map<string, number>()
  let [changes, sequence, next] = [0, 0, '']
  for (let hasMore = true; hasMore; ) {
    const { status, body } = await of.get<Feed>(`/v1/events?rows=1000${next && `&after=${next}`}`, { token })
    expect(status, JSON.stringify(body)).toBe(200)
    for (const { data } of body.items) {
      sequence += 1
      expect(data.sequence).toBe(String(sequence))
      if (!data.loan) continue
      const { id } = data.loan
      const before = versions.get(id) ?? 0
      expect([before, before + 1]).toContain(data.loanVersion)
      changes += data.loanVersion - before
      versions.set(id, data.loanVersion)
      loansTold.set(id, data.loan)
    }
    next = body.next
    hasMore = body.hasMore
  }
  return { loansTold, changes }
}
