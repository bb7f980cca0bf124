import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { toRfc3339 } from '../../../src/domain/dates.ts'
import { anyHistory, type Step } from './anyHistory.ts'
import { anyLent, type Lent } from './anyLent.ts'
import { seenIn } from './naive/seen.ts'
import { PlayedLoan } from './playedLoan.ts'

/** What is counted of the loans that are compared. */
export const COUNTED = ['loans', 'compared', 'accepted', 'refused', 'penalties', 'settled'] as const
export type Counts = Record<(typeof COUNTED)[number], number>

export const noCounts = (): Counts => ({ loans: 0, compared: 0, accepted: 0, refused: 0, penalties: 0, settled: 0 })

/** Plays the history of a loan, and requires after each step, and later, that the domain has what the model has. */
export function compareLoan(lent: Lent, steps: readonly Step[], counts: Counts) {
  const played = new PlayedLoan(lent)
  counts.loans++
  for (const step of steps) {
    played.do(step)
    requireDecided(played)
    compareAt(played, played.now, counts)
  }
  for (const moment of played.later()) compareAt(played, moment, counts)
  counts.accepted += played.accepted
  counts.refused += played.refused
  counts.settled += played.settled
}

/** Requires that the last decision left the loan as a replay of everything does. */
function requireDecided(played: PlayedLoan): void {
  const { decided, now } = played
  if (!decided) return
  const replayed = played.state()
  const fresh = new Map<string, unknown>(Object.entries(replayed))
  for (const [name, value] of Object.entries(decided))
    if (name !== 'outcomes' && !isDeepStrictEqual(value, fresh.get(name)))
      throw new Error(`${name} of the decision is not that of a replay\n${storyOf(played, now, decided, replayed)}`)
}

function compareAt(played: PlayedLoan, asOf: number, counts: Counts): void {
  const modelled = seenIn(played.life(asOf))
  const seen = played.seen(asOf)
  counts.compared++
  counts.penalties += modelled.penaltiesRaised
  if (!isDeepStrictEqual(seen, modelled)) throw new Error(storyOf(played, asOf, seen, modelled))
}

/** Returns what happened to a loan, and two views of it: of the domain, or a decision, and of the model, or a replay. */
function storyOf({ naive, entries }: PlayedLoan, asOf: number, seen: unknown, modelled: unknown): string {
  const { product, principal, disbursedAt, schedule } = naive
  const lines = entries.map(({ ordinal, type, amount, valueDate, postedAt, place, dueOn, reversedAt }) => {
    const marks = `${dueOn ? ` due ${dueOn}` : ''}${reversedAt === null ? '' : ` reversed ${momentOf(reversedAt)}`}`
    return `#${ordinal} ${type} ${amount} dated ${valueDate} place ${place} posted ${momentOf(postedAt)}${marks}`
  })
  return [
    `${principal} of ${textOf(product)}`,
    `lent ${momentOf(disbursedAt)}, schedule ${textOf(schedule)}`,
    ...lines,
    `as of ${momentOf(asOf)}`,
    `seen     ${textOf(seen)}`,
    `expected ${textOf(modelled)}`,
  ].join('\n')
}

const momentOf = (instant: number): string => toRfc3339(instant, 'Africa/Nairobi')

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one))

/** Compares random loans. @throws the first difference, with its seed */
export function compareMany(seed: number, numRuns: number): Counts {
  const counts = noCounts()
  fc.assert(
    fc.property(anyLent, anyHistory, (lent, steps) => compareLoan(lent, steps, counts)),
    { seed, numRuns },
  )
  return counts
}
