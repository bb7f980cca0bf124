import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADAPTERS, type AdapterName } from '../../src/domain/payments/adapters.ts'
import { DEMO_SANDBOX } from '../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../support/journal.ts'
import { within } from '../support/patience.ts'
import { tokenFrom } from '../support/process.ts'
import { randomFrom } from '../support/random.ts'
import { sandboxOf } from '../support/sandbox.ts'
import { startService, type TestService } from '../support/service.ts'
import { Instances, killOften, Progress } from '../support/wallets/instances.ts'
import { type Moved, planMessages, type Told, type Wallet } from '../support/wallets/plan.ts'
import { MTN_BLOCKS, Providers } from '../support/wallets/provider.ts'
import { type Repaid, repayBeside } from '../support/wallets/repayments.ts'
import { bodyOf, type Known, writeStatements } from '../support/wallets/statements.ts'

// Messages of all nine providers to two instances, which are killed: from the wallet to the loan, the position and the statement.
// `npm run try -- wallets` sends 100,000 payments through 200 kills. The lender is a test organization, whose days are held.

/** With fewer payments the statement of a wallet for a day could be without a line, and the service refuses such a statement. */
const FEWEST_PAYMENTS = 360
const PAYMENTS = Number(process.env.MKOPO_PAYMENTS ?? FEWEST_PAYMENTS)
if (!(PAYMENTS >= FEWEST_PAYMENTS))
  throw new Error(`MKOPO_PAYMENTS is ${process.env.MKOPO_PAYMENTS}: it must be a number, ${FEWEST_PAYMENTS} or more`)
const KILLS = Number(process.env.MKOPO_KILLS ?? 1)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
/** So that the statement of a wallet for a day has less lines than a body may have. */
const DAYS = Math.max(2, Math.ceil(PAYMENTS / 25_000))
const LOANS = Math.max(30, Math.floor(PAYMENTS / 20))
const AT_ONCE = 24
const FAULTS = 50
/** The messages of each of MTN and Daraja that come while no instance runs. */
const WHILE_DOWN = Math.min(10, Math.ceil(PAYMENTS / 200))

let service: TestService
let sandbox: Awaited<ReturnType<typeof sandboxOf>>
let instances: Instances
let providers: Providers | undefined
beforeAll(async () => {
  service = await startService()
  service.clock.set(new Date().toISOString())
  sandbox = await sandboxOf(service)
  const settings = { KEY_ENCRYPTION_SECRET: 'a secret of the tests', FALLBACK_STYLE: 'partner' }
  instances = await Instances.start({ ...settings, DATABASE_URL: service.url }, 2)
}, within(60_000))
afterAll(
  async () => {
    providers?.close()
    await instances.stop()
    await keepJournal(service.deps)
    await service.close()
  },
  within(60_000 + PAYMENTS * 20),
)

const below = randomFrom(SEED)
const cents = (amount: number): bigint => BigInt(Math.round(amount * 100))
const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

/** The first of the days, ahead of the clock of this machine: a test clock goes forward only. */
const FIRST = Date.now() + 30 * 86_400_000
const dateOf = (day: number): string => new Date(FIRST + day * 86_400_000).toISOString().slice(0, 10)
const noonOf = (day: number): number => Date.parse(`${dateOf(day)}T12:00:00+03:00`)
const advanceTo = async (day: number) => {
  const { status, text } = await sandbox.advance({ to: new Date(noonOf(day)).toISOString() })
  expect(status, text).toBe(200)
}

/** Makes a wallet of each provider, and loans. */
async function lay(): Promise<{ wallets: Wallet[]; loans: string[] }> {
  await advanceTo(-1)
  const wallets: Wallet[] = []
  for (const adapter of Object.keys(ADAPTERS) as AdapterName[]) {
    const body = { name: adapter, adapter }
    const made = await sandbox.post<{ id: string; inboundUrl: string }>('/v1/payment-channels', body)
    expect(made.status, made.text).toBe(200)
    wallets.push({ adapter, channelId: made.body.id, path: new URL(made.body.inboundUrl).pathname })
  }
  const names = Array.from({ length: LOANS }, (_, index) => `LO-${index}`)
  // Of the largest size, so that none is paid off.
  for (let from = 0; from < LOANS; from += AT_ONCE)
    await Promise.all(names.slice(from, from + AT_ONCE).map((name) => sandbox.lend(name, 1, 5_000_000)))
  return { wallets, loans: names.map((name) => `loan-${name}`) }
}

/** What became of the messages. */
interface Results {
  /** What was acknowledged by 200 at least once. */
  readonly acknowledged: Set<Moved>
  readonly told: Set<Moved>
}

/** Sends the messages of a day, many at once, while instances are killed. */
async function sendDay(
  messages: readonly Told[],
  providers: Providers,
  { kills, results }: { kills: number; results: Results },
) {
  const replaced = new Progress()
  const spacing = Math.max(1, Math.floor(messages.length / (kills + 1)))
  const begun = new Progress()
  const killing = killOften({ instances, kills, spacing, begun, replaced, below })
  let next = 0
  const worker = async () => {
    while (next < messages.length) {
      const index = next++
      // Kills that take longer than the messages between them are waited for.
      await replaced.reached(Math.min(kills, Math.floor(index / spacing) - 1))
      const told = messages[index]!
      note(results, told, (await providers.deliver(told, () => begun.advance())).isAcknowledged)
    }
  }
  await Promise.all([killing, ...Array.from({ length: AT_ONCE }, worker)])
}

function note({ acknowledged, told }: Results, { moved }: Told, isAcknowledged: boolean): void {
  told.add(moved)
  if (isAcknowledged) acknowledged.add(moved)
}

/** Sends messages of MTN and Daraja while no instance runs: MTN is acknowledged once one does, and Daraja never. */
async function sendWhileDown(messages: readonly Told[], providers: Providers, results: Results): Promise<void> {
  const tries = new Map<Told, number>()
  const sending: Promise<void>[] = []
  const isOf = (adapter: AdapterName, told: Told) => told.moved.wallet.adapter === adapter
  await instances.outage(async () => {
    for (const told of messages)
      sending.push(
        providers
          .deliver(told, (count) => tries.set(told, count))
          .then(({ isAcknowledged }) => {
            note(results, told, isAcknowledged)
            expect(isAcknowledged).toBe(isOf('mtn_collection', told))
          }),
      )
    const least = () => Math.min(...messages.flatMap((one) => (isOf('daraja_c2b', one) ? [] : [tries.get(one) ?? 0])))
    await expect.poll(least, { timeout: within(30_000) }).toBeGreaterThan(MTN_BLOCKS.short)
  })
  await Promise.all(sending)
}

/** A payment as the list tells it. */
interface Found {
  readonly channelId: string
  readonly receipt: string
  readonly status: string
  readonly amount: number
  readonly allocated: number
  readonly suspense: number
  readonly reversed: number
  readonly valueDate: string
  readonly allocations: readonly {
    readonly loanExternalId: string
    readonly amount: number
    readonly date: string
    readonly status: string
  }[]
}

/** Reads all items of a list, by its cursor. */
async function readAll<Item>(path: string): Promise<Item[]> {
  const all: Item[] = []
  for (let after = ''; ; ) {
    const { status, text, body } = await sandbox.get<{ items: Item[]; next?: string }>(`${path}${after}`)
    expect(status, text).toBe(200)
    all.push(...body.items)
    if (body.next === undefined) return all
    after = `&after=${body.next}`
  }
}

const totalOf = async (path: string): Promise<number> => (await sandbox.get<{ total: number }>(path)).body.total

const keyOf = ({ channelId, receipt }: { readonly channelId: string; readonly receipt: string }) =>
  `${channelId} ${receipt}`
const keyOfMoved = ({ wallet: { channelId }, receipt }: Moved) => keyOf({ channelId, receipt })

/** Waits until the background has decided on all that was kept. */
async function caughtUp(wallets: readonly Wallet[], reversed: number): Promise<void> {
  const states = wallets.map(({ channelId }) => `/v1/payment-channels/${channelId}/messages?state=pending&rows=1`)
  /** Counts what is left of the first wallet that has some: to count all of it takes from the time of those who decide. */
  const left = async () => {
    for (const path of [...states, '/v1/payments?status=received&rows=1']) {
      const count = await totalOf(path)
      if (count > 0) return count
    }
    return 0
  }
  const patience = { timeout: within(60_000 + PAYMENTS * 5), interval: 200 }
  await expect.poll(left, patience).toBe(0)
  await expect.poll(() => totalOf('/v1/payments?status=reversed&rows=1'), patience).toBeGreaterThanOrEqual(reversed)
}

/** Returns how a payment has to be, as it is shown in `shownAs`. */
function expectedOf({ amount, loan, day }: Moved, isReversed: boolean) {
  const status = isReversed ? 'reversed' : loan === undefined ? 'unmatched' : 'allocated'
  const standing = status === 'allocated' ? [[loan, amount, dateOf(day)]] : []
  const parts = [status === 'allocated' ? amount : 0n, status === 'unmatched' ? amount : 0n, isReversed ? amount : 0n]
  return { status, amount, valueDate: dateOf(day), parts, standing, others: [] }
}

/** Returns what a payment shows. @param loan the only one that a repayment of it, which was reversed, may have been on */
function shownAs(found: Found, loan: string | undefined) {
  const [standing, others] = ['posted', 'reversed'].map((status) =>
    found.allocations.filter((one) => one.status === status),
  )
  return {
    ...{ status: found.status, amount: cents(found.amount), valueDate: found.valueDate },
    parts: [found.allocated, found.suspense, found.reversed].map(cents),
    standing: standing!.map((one) => [one.loanExternalId, cents(one.amount), one.date]),
    others: others!.filter((one) => found.status !== 'reversed' || one.loanExternalId !== loan),
  }
}

describe('messages of all providers to instances that are killed', () => {
  const results: Results = { acknowledged: new Set(), told: new Set() }
  const repaid: Repaid[] = []
  let wallets: Wallet[]
  /** The payments by the channel and the receipt, and what moved, each with whether the service knows it. */
  let found: Map<string, Found>
  let known: Known[]

  it(`leave each of ${PAYMENTS} payments once, where it must be, through ${KILLS} kills`, {
    timeout: within(120_000 + PAYMENTS * 20 + KILLS * 8_000),
  }, async () => {
    const laid = await lay()
    wallets = laid.wallets
    const sending = new Providers(() => instances.origins)
    providers = sending
    const messages = planMessages({ payments: PAYMENTS, days: DAYS, below, noonOf, ...laid })
    for (const [day, all] of messages.entries()) {
      await advanceTo(day)
      const token = await tokenFrom(instances.origins[0]!, DEMO_SANDBOX)
      const beside = repayBeside({ origins: () => instances.origins, token, name: `direct-${day}`, below, ...laid })
      const isKept = heldBack(day === 0 ? all : [])
      const kills = Math.floor((KILLS * (day + 1)) / DAYS) - Math.floor((KILLS * day) / DAYS)
      const sent = all.filter((told) => !isKept.has(told))
      try {
        await sendDay(sent, sending, { kills, results })
        if (isKept.size > 0) await sendWhileDown([...isKept], sending, results)
      } finally {
        repaid.push(...(await beside.stop()))
      }
    }
    const { acknowledged } = results
    const back = [...acknowledged].filter(({ reverses }) => reverses !== undefined && acknowledged.has(reverses))
    await caughtUp(wallets, back.length)
    const listed = await readAll<Found>('/v1/payments?rows=100')
    found = new Map(listed.map((one) => [keyOf(one), one]))
    expect(found.size).toBe(listed.length)
    const isThere = (moved: Moved) =>
      acknowledged.has(moved) ||
      (sending.unsure.has(moved.receipt) &&
        (moved.reverses ? found.get(keyOfMoved(moved.reverses))?.status === 'reversed' : found.has(keyOfMoved(moved))))
    known = [...results.told].map((moved) => ({ moved, isKnown: isThere(moved) }))
    const there = known.flatMap(({ moved, isKnown }) => (isKnown && !moved.reverses ? [moved] : []))
    expect(new Set(there.map(keyOfMoved))).toEqual(new Set(found.keys()))
    const reversed = new Set(known.flatMap(({ moved, isKnown }) => (isKnown && moved.reverses ? [moved.reverses] : [])))
    const wrong = there.flatMap((moved) => {
      const [is, should] = [shownAs(found.get(keyOfMoved(moved))!, moved.loan), expectedOf(moved, reversed.has(moved))]
      return JSON.stringify(is, asText) === JSON.stringify(should, asText)
        ? []
        : [{ receipt: moved.receipt, is, should }]
    })
    expect(wrong).toEqual([])
  })

  it('are in the position of each wallet on each day, to the cent', { timeout: within(60_000) }, async () => {
    for (const wallet of wallets)
      for (let day = 0; day < DAYS; day++) {
        const own = known.filter(({ moved, isKnown }) => isKnown && moved.wallet === wallet)
        const back = new Set(own.map(({ moved }) => moved.reverses))
        const paid = own.flatMap(({ moved }) => (!moved.reverses && moved.day <= day ? [moved] : []))
        const sum = (of: (moved: Moved) => boolean) => sumOf(paid.filter(of).map(({ amount }) => amount))
        const path = `/v1/payment-channels/${wallet.channelId}/position?asOf=${dateOf(day)}`
        const { body } = await sandbox.get<Record<string, number>>(path)
        const is = ['received', 'allocated', 'suspense', 'returned', 'reversed'].map((name) => cents(body[name]!))
        const allocated = sum((moved) => !back.has(moved) && moved.loan !== undefined)
        const suspense = sum((moved) => !back.has(moved) && moved.loan === undefined)
        expect(is, path).toEqual([sum(() => true), allocated, suspense, 0n, sum((moved) => back.has(moved))])
      }
  })

  it('and the repayments beside them are what each loan was paid', {
    timeout: within(60_000 + LOANS * 20),
  }, async () => {
    const paid = new Map<string, bigint>()
    const add = (loan: string, amount: bigint) => paid.set(loan, (paid.get(loan) ?? 0n) + amount)
    for (const { loan, amount } of repaid) add(loan, amount)
    for (const { allocations } of found.values())
      for (const { loanExternalId, amount, status } of allocations)
        if (status === 'posted') add(loanExternalId, cents(amount))
    const loans = await readAll<{ externalId: string; totalPaid: number }>('/v1/loans?rows=100&schedule=false')
    expect(loans).toHaveLength(LOANS)
    const wrong = loans.filter(({ externalId, totalPaid }) => cents(totalPaid) !== (paid.get(externalId) ?? 0n))
    expect(wrong).toEqual([])
  })

  it('differ from the statements of the providers by what these miss or have more, and by nothing else', {
    timeout: within(60_000 + PAYMENTS * 5),
  }, async () => {
    const statements = writeStatements(known, { faults: FAULTS, below })
    for (const statement of statements) {
      const { wallet, day, differences, matched, difference } = statement
      const body = { channelId: wallet.channelId, from: dateOf(day), to: dateOf(day), ...bodyOf(statement) }
      const run = await sandbox.post<{ id: string; matched: { lines: number }; difference: number; balanced: boolean }>(
        '/v1/reconciliations',
        body,
      )
      expect(run.status, run.text).toBe(200)
      const kinds = 'missing_here,missing_there,amount_differs,reversal_missing,other'
      const lines = await readAll<{ kind: string; receipt: string }>(
        `/v1/reconciliations/${run.body.id}/lines?rows=100&kind=${kinds}`,
      )
      const text = ([kind, receipt]: readonly [string, string]) => `${kind} ${receipt}`
      expect(lines.map(({ kind, receipt }) => text([kind, receipt])).sort()).toEqual(differences.map(text).sort())
      expect(run.body).toMatchObject({ matched: { lines: matched }, balanced: differences.length === 0 })
      expect(cents(run.body.difference)).toBe(difference)
    }
    const lost = known.filter(({ isKnown }) => !isKnown).length
    const named = statements.reduce((sum, { differences }) => sum + differences.length, 0)
    expect(named).toBe(FAULTS + lost)
    const { tries } = providers!
    console.log(
      `${PAYMENTS} payments, ${results.acknowledged.size} of ${results.told.size} messages acknowledged after ${tries.all} tries ` +
        `(${tries.cut} cut, ${tries.late} late, ${tries.refused} refused), ${instances.killed} kills, ${repaid.length} repayments beside, ` +
        `${statements.length} statements with ${named} differences`,
    )
  })
})

/** Chooses messages of payments of MTN and Daraja that are told once. */
function heldBack(messages: readonly Told[]): ReadonlySet<Told> {
  const times = Map.groupBy(messages, ({ moved }) => moved)
  const once = messages.filter(({ moved }) => moved.reverses === undefined && times.get(moved)!.length === 1)
  const of = (adapter: AdapterName) => once.filter(({ moved }) => moved.wallet.adapter === adapter).slice(0, WHILE_DOWN)
  return new Set([...of('mtn_collection'), ...of('daraja_c2b')])
}

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
