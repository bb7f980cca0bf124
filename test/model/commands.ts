import fc from 'fast-check'
import { expect } from 'vitest'
import { transactionAnswer } from './answers.ts'
import { type Happened, KINDS, type Kind, outcomeOf } from './history.ts'
import { type Amount, amountIn, anyAmount, anyDay, bodyOf, dayIn, type When } from './requests.ts'
import { adjust, post, reverse, statusOf, takes } from './rules.ts'
import { addressOf, agree, agreeOnLoan, instanceOf, type Model, ROUTES, reach, type System } from './system.ts'

export type LoanCommand = fc.AsyncCommand<Model, System>

const asText = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one)).replaceAll('"', '')

/** Returns a command that may run when `check` is true; refusals are part of the model. */
const command = (
  name: string,
  details: unknown,
  run: (model: Model, system: System) => Promise<void>,
  check: (model: Model) => boolean = () => true,
): LoanCommand => ({
  check: (model) => check(model),
  run,
  toString: () => `${name} ${asText(details)}`,
})

const TOKENS = ['a', 'b', 'c']

/** True for one command in eight, which is sent even if the loan's state does not take it. */
const insist = fc.integer({ min: 0, max: 7 }).map((one) => one === 0)

const outcomeNow = ({ loan, now }: Model) => outcomeOf(loan.debt, loan.history, now)

/** Returns an unreversed transaction, or any where the command insists. */
function chosen({ loan }: Model, index: number, insists: boolean): Happened | undefined {
  const candidates = insists ? loan.history : loan.history.filter(({ reversed }) => !reversed)
  return candidates[index % candidates.length]
}

const hasAmount = (kind: Kind): boolean => kind !== 'Charge-off' && kind !== 'Write-off'

interface Posting {
  readonly amount: Amount
  readonly when: When
  readonly token?: string | undefined
  readonly note?: string | undefined
  readonly byExternalId: boolean
  readonly insist: boolean
}

export function postingOf(kind: Kind, given: Posting): LoanCommand {
  const token = kind === 'Repayment' || kind === 'Recovery Repayment' ? given.token : undefined
  const note = kind === 'Repayment' ? undefined : given.note
  const run = async (model: Model, system: System) => {
    const amount = hasAmount(kind) ? amountIn(model, kind, given.amount) : null
    const day = dayIn(model, given.when)
    const raw = bodyOf(amount, { transactionDate: day, idempotencyKey: token, note })
    const instance = instanceOf(system)
    const operator = kind === 'Write-off' ? { token: instance.tokens.operator } : {}
    const before = model.loan.history.length
    const answer = await instance.post(`${addressOf(system, given.byExternalId)}${ROUTES[kind]}`, { raw, ...operator })
    const verdict = post(model.loan, { kind, amount, day, token, note }, model.now)
    const again = 'answered' in verdict && model.loan.history.length === before
    await agree(again ? `${kind} again` : kind, model, system, verdict, answer)
  }
  const isWorthIt = (model: Model) => takes(outcomeNow(model), kind) && amountIn(model, kind, given.amount) !== 0n
  return command(kind, given, run, (model) => given.insist || isWorthIt(model))
}

const posting = (kind: Kind) =>
  fc
    .record({
      amount: anyAmount,
      when: anyDay,
      token: fc.option(fc.constantFrom(...TOKENS), { nil: undefined, freq: 3 }),
      note: fc.option(fc.constant('why'), { nil: undefined }),
      byExternalId: fc.boolean(),
      insist,
    })
    .map((given) => postingOf(kind, given))

const adjusting = fc
  .record({
    nth: fc.nat(20),
    amount: anyAmount,
    when: anyDay,
    note: fc.option(fc.constant('corrected'), { nil: undefined }),
    insist,
  })
  .map((given) =>
    command('Adjust', given, async (model, system) => {
      const original = chosen(model, given.nth, given.insist)
      if (!original || (!hasAmount(original.kind) && !given.insist)) return
      const { note } = given
      const [amount, day] = [amountIn(model, original.kind, given.amount, original.amount), dayIn(model, given.when)]
      const path = `${addressOf(system, false)}/repayments/${original.id}/adjust`
      const raw = bodyOf(amount, { transactionDate: day, note })
      const instance = instanceOf(system)
      const answer = await instance.post(path, { raw, token: instance.tokens.operator })
      const verdict = adjust(model.loan, original, { amount, day, note }, model.now)
      await agree(`Adjust ${original.kind}`, model, system, verdict, answer)
    }),
  )

const sameAgain = fc.nat(20).map((index) =>
  command('Adjust to the same amount', index, async (model, system) => {
    const original = chosen(model, index, false)
    if (!original || !hasAmount(original.kind)) return
    const same = { amount: original.amount, day: undefined, note: undefined }
    const path = `${addressOf(system, true)}/repayments/${original.id}/adjust`
    const instance = instanceOf(system)
    const answer = await instance.post(path, { raw: bodyOf(original.amount, {}), token: instance.tokens.operator })
    await agree('Adjust to the same', model, system, adjust(model.loan, original, same, model.now), answer)
  }),
)

export const reversalOf = (given: { readonly nth: number; readonly insist: boolean }): LoanCommand =>
  command('Reverse', given, async (model, system) => {
    const original = chosen(model, given.nth, given.insist)
    if (!original) return
    const path = `${addressOf(system, false)}/repayments/${original.id}/reverse`
    const instance = instanceOf(system)
    const answer = await instance.post(path, { body: {}, token: instance.tokens.operator })
    await agree(`Reverse ${original.kind}`, model, system, reverse(original, model.now), answer)
  })

const reversing = fc.record({ nth: fc.nat(20), insist }).map(reversalOf)

/** Reversals and write-offs by a USER, who may do neither in any state of the loan. */
const forbidden = fc.constantFrom('reverse', 'write-off').map((what) =>
  command('As USER', what, async (model, system) => {
    if (model.loan.history.length === 0) return
    const rest = what === 'write-off' ? '/write-off' : `/repayments/${model.loan.history[0]!.id}/reverse`
    const { status, body } = await instanceOf(system).post(`${addressOf(system, false)}${rest}`, { body: {} })
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'permission_denied' })
    await agreeOnLoan(model, system)
  }),
)

/** Requests with an unknown field, an invalid date, or without a required amount. */
const malformed = fc
  .tuple(
    fc.constantFrom(...KINDS),
    fc.constantFrom('{"transactionDate":"2026-02-30"}', '{"transactionamount":5}', '{}'),
  )
  .filter(([kind, raw]) => raw !== '{}' || hasAmount(kind))
  .map(([kind, raw]) =>
    command('Malformed', [kind, raw], async (model, system) => {
      const instance = instanceOf(system)
      const path = `${addressOf(system, false)}${ROUTES[kind]}`
      const { status, body } = await instance.post(path, { raw, token: instance.tokens.operator })
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_argument' })
      await agreeOnLoan(model, system)
    }),
  )

export const DAY_MS = 86_400_000
/** The longest wait, because tokens are valid for a year. */
const LONGEST_WAIT = 250 * DAY_MS

/** Returns a command that moves the clock. @param given milliseconds, or `due` for the due time */
export const waitOf = (given: number | 'due'): LoanCommand => {
  const run = async (model: Model, system: System) => {
    const { dueAt } = model.loan.debt
    // A millisecond before the due time, and then at it.
    if (given !== 'due') model.now += given
    else if (model.now < dueAt) model.now = model.now === dueAt - 1 ? dueAt : dueAt - 1
    // The model says what is true at this instant.
    system.instances[0]!.clock.stand(new Date(model.now).toISOString())
    await agreeOnLoan(model, system)
  }
  return command('Wait', given, run, ({ loan, now }) => now < loan.debt.disbursedAt + LONGEST_WAIT)
}

const waiting = fc.oneof(fc.nat(3 * DAY_MS), fc.nat(35 * DAY_MS), fc.constant('due' as const)).map(waitOf)

/** Reads the loan in both address forms, the list of its repayments, and every transaction by its id. */
export const readEverything = command('Read', 'everything', async (model, system) => {
  const { loan } = model
  const outcome = outcomeNow(model)
  reach(statusOf(outcome))
  const instance = instanceOf(system)
  const [byId, byExternalId] = [addressOf(system, false), addressOf(system, true)]
  const whole = await instance.get(byId)
  expect((await instance.get(byExternalId)).text).toBe(whole.text)
  const { repaymentHistory } = whole.body
  const page = { items: repaymentHistory, total: repaymentHistory.length, page: 1, rowsPerPage: 100 }
  const { next: _, ...listed } = (await instance.get(`${byExternalId}/repayments?rows=100`)).body
  expect(listed).toEqual(page)
  for (const one of loan.history) {
    const { body } = await instance.get(`${byId}/repayments/${one.id}`)
    expect(body).toEqual(transactionAnswer(system.loanId, one, outcome))
  }
})

/** The most instances that all runs may start, because an instance takes time to start. */
let mayStart = 3

const elsewhere = fc.boolean().map((isNew) =>
  command('Ask', isNew ? 'an instance that has just started' : 'another instance', async (model, system) => {
    if (isNew && mayStart > 0) {
      mayStart -= 1
      system.turn = system.instances.push(await system.instances[0]!.another()) - 1
    } else system.turn += 1
    await agreeOnLoan(model, system)
  }),
)

/** Sequences of commands on one loan; commands that move money are more frequent. */
export const anyCommands = (most: number) =>
  fc.commands(
    [
      ...[posting('Repayment'), posting('Repayment'), posting('Repayment')],
      posting('Recovery Repayment'),
      posting('Waive Interest'),
      ...[posting('Refund'), posting('Refund')],
      ...[posting('Credit Balance Refund'), posting('Credit Balance Refund')],
      posting('Charge-off'),
      posting('Write-off'),
      ...[adjusting, adjusting, sameAgain],
      ...[reversing, reversing, reversing],
      ...[waiting, waiting, waiting],
      ...[forbidden, malformed, fc.constant(readEverything), elsewhere],
    ],
    { maxCommands: most, size: 'max' },
  )
