import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { DelinquencyPolicy } from '../../../src/domain/delinquency/policy.ts'
import { delinquencyNow, followsFromDay, positionsOn } from '../../../src/domain/delinquency/position.ts'
import { spansOf } from '../../../src/domain/delinquency/segments.ts'
import { anyLent } from '../terms/anyLent.ts'
import { dateOf } from '../terms/naive/calendar.ts'
import { PlayedLoan } from '../terms/playedLoan.ts'
import { anyPaid } from './anyPaid.ts'
import { anyPolicy } from './anyPolicy.ts'
import { lastMomentOf, type NaiveDay, naiveDays } from './naive/arrears.ts'

/** What is counted of the loans that are compared. */
export const COUNTED = ['loans', 'days', 'lateDays', 'spans', 'cured', 'reopened', 'provisioned'] as const
export type Counts = Record<(typeof COUNTED)[number], number>

export const noCounts = (): Counts => ({
  ...{ loans: 0, days: 0, lateDays: 0, spans: 0 },
  ...{ cured: 0, reopened: 0, provisioned: 0 },
})

/** A loan by a policy at a moment. */
interface Compared {
  readonly played: PlayedLoan
  readonly policy: DelinquencyPolicy
  readonly asOf: number
}

/** Requires that the domain has a loan on every day, in spans and now, as the model has it. */
function compareAt(compared: Compared, counts: Counts): void {
  const { played, policy, asOf } = compared
  const { terms, entries, transactions, naive } = played
  const days = naiveDays(naive, transactions, policy, asOf)
  const all = [naive.disbursedOn - 1, ...days.map(({ day }) => day)]
  const moments = all.map((day) => lastMomentOf(day, asOf))
  const expected = ['not lent', ...days.map(positionIn)]
  requireSame(compared, 'positions', positionsOn({ terms, entries }, policy, moments), expected)
  if (followsFromDay(policy))
    for (const place of [0, 1, Math.floor(all.length / 3), all.length - 1]) {
      const alone = positionsOn({ terms, entries }, policy, [moments[place]!])
      requireSame(compared, `position of ${dateOf(all[place]!)}`, alone, [expected[place]])
    }
  const spans = spansOf(terms, entries, policy, asOf).map(({ began: _, ended: __, bucket, ...span }) => ({
    bucket: bucket.name,
    ...span,
  }))
  const naiveSpans = spansIn(days, policy)
  requireSame(compared, 'spans', spans, naiveSpans)
  requireSame(
    compared,
    'delinquency',
    delinquencyNow({ terms, entries }, policy, asOf),
    nowIn(days, naiveSpans, policy),
  )
  count(days, counts)
  counts.spans += naiveSpans.length
}

const positionIn = ({ state, index, daysPastDue, principal, provision }: NaiveDay) =>
  state === 'open' ? { index, daysPastDue, principal, provision } : state

interface NaiveSpan {
  readonly from: string
  readonly to: string | null
  readonly bucket: string
  readonly daysFrom: number
  readonly daysTo: number
}

/** Returns the days in a row on which the loan was open and in one bucket. */
function spansIn(days: readonly NaiveDay[], { buckets }: DelinquencyPolicy): NaiveSpan[] {
  const spans: NaiveSpan[] = []
  let [first, last]: [NaiveDay | undefined, NaiveDay | undefined] = [undefined, undefined]
  const end = (isOver: boolean) => {
    if (!first || !last) return
    const [from, to] = [dateOf(first.day), isOver ? dateOf(last.day) : null]
    const bucket = buckets[first.index]!.name
    spans.push({ bucket, from, to, daysFrom: first.daysPastDue, daysTo: last.daysPastDue })
  }
  for (const day of days) {
    if (first && (day.state !== 'open' || day.index !== first.index)) {
      end(true)
      first = undefined
    }
    if (day.state !== 'open') continue
    first ??= day
    last = day
  }
  end(false)
  return spans
}

function nowIn(days: readonly NaiveDay[], spans: readonly NaiveSpan[], { buckets }: DelinquencyPolicy) {
  const { state, index, daysPastDue, provision } = days.at(-1)!
  if (state !== 'open') return null
  const bucket = buckets[index]!
  return {
    daysPastDue,
    bucket,
    since: spans.at(-1)!.from,
    provision: bucket.provisionRate === null ? null : provision,
    restructuredOn: null,
  }
}

function count(days: readonly NaiveDay[], counts: Counts): void {
  counts.days += days.length
  for (const [place, { state, index, daysPastDue, provision }] of days.entries()) {
    const before = days[place - 1]
    if (daysPastDue > 0) counts.lateDays++
    if (provision > 0n) counts.provisioned++
    if (before?.state === 'open' && state === 'open' && index < before.index) counts.cured++
    if (before && before.state !== 'open' && state === 'open') counts.reopened++
  }
}

/** @throws Error that tells the loan, the policy and the difference */
function requireSame({ played, policy, asOf }: Compared, name: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return
  const difference =
    Array.isArray(found) && Array.isArray(expected)
      ? expected.findIndex((one, place) => !isDeepStrictEqual(one, found[place]))
      : -1
  const at = (list: unknown) => (difference === -1 ? list : (list as unknown[])[difference])
  const { naive, entries } = played
  const told = { ...naive, entries, policy, asOf: new Date(asOf).toISOString(), difference }
  throw new Error(`${name}\n${textOf(told)}\nis       ${textOf(at(found))}\nexpected ${textOf(at(expected))}`)
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one))

/** Returns the policy with limits of materiality that are exactly, or nearly, the arrears of some day of the loan. */
function withLimitOf(played: PlayedLoan, policy: DelinquencyPolicy, place: number): DelinquencyPolicy {
  const { naive, transactions, now } = played
  const arrears = naiveDays(naive, transactions, policy, now).flatMap(({ overdue }) => (overdue > 0n ? [overdue] : []))
  const amount = arrears[place % arrears.length]
  if (amount === undefined) return policy
  const percentOfPrincipal = place % 3 === 0 ? (amount * 100_000_000n) / naive.principal : null
  return { ...policy, materiality: { amount: place % 3 === 0 ? null : amount, percentOfPrincipal } }
}

/** A loan, what happens to it, a policy, and for half of them the day whose arrears are the limit of the policy. */
const anyArrears = fc.record({
  lent: anyLent,
  steps: anyPaid,
  policy: anyPolicy,
  limitOf: fc.option(fc.nat({ max: 1_000 }), { nil: null, freq: 2 }),
})

/** Compares random loans by random policies. @throws the first difference, with its seed */
export function compareMany(seed: number, numRuns: number): Counts {
  const counts = noCounts()
  fc.assert(
    fc.property(anyArrears, ({ lent, steps, policy: given, limitOf }) => {
      const played = new PlayedLoan(lent)
      for (const step of steps) played.do(step)
      const policy = limitOf === null ? given : withLimitOf(played, given, limitOf)
      counts.loans++
      compareAt({ played, policy, asOf: played.now }, counts)
      compareAt({ played, policy, asOf: played.later().at(-1)! }, counts)
    }),
    { seed, numRuns },
  )
  return counts
}
