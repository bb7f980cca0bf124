import { type Currency, minorToNumber } from '../../domain/money.ts'

// What the row of the trail says of a change, for the events of both styles.

/** What the trail keeps of a thing, by name, whatever it is. */
export type Kept = Readonly<Record<string, unknown>>

/** A row of the trail, before and after the change. */
interface Change {
  readonly before: unknown
  readonly after: unknown
}

/** Returns an object of the trail; an empty one where there is none. */
export const keptOf = (json: unknown): Kept => (typeof json === 'object' && json !== null ? (json as Kept) : {})

/** Returns what a change changed, as it was before. */
export function changedBefore(change: Change): Kept {
  const after = keptOf(change.after)
  return Object.fromEntries(
    Object.entries(keptOf(change.before)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name]),
    ),
  )
}

/** Returns the transaction that an adjustment has replaced; undefined for any other change. */
export function replacedBy({ after }: Change): Kept | undefined {
  const { posted, reversed } = keptOf(after)
  return posted === undefined || reversed === undefined ? undefined : keptOf(reversed)
}

/** Returns the members of `kept` that `names` has, by their new names. */
export const renamed = (
  kept: Kept,
  names: Readonly<Record<string, string>>,
  toValue = (value: unknown): unknown => value,
): Kept =>
  Object.fromEntries(
    Object.entries(names).flatMap(([name, wire]) => (kept[name] === undefined ? [] : [[wire, toValue(kept[name])]])),
  )

/** Returns the digits of a number of the trail, exact to the last one. */
export const digitsOf = (number: unknown): string => JSON.stringify(number)

/** Returns a function that writes minor units of the trail as an amount. */
export const toMoney = (currency: Currency) => (minor: unknown) => minorToNumber(BigInt(digitsOf(minor)), currency)

/** How late a loan is, as the trail keeps it. */
interface ToldBucket {
  readonly bucket: string
  readonly class?: string
  readonly stage?: number
  readonly daysPastDue: number
  readonly since: string
  readonly policyVersion: string
  readonly previousBucket: string
}

/** Returns the bucket that a change of the trail tells; undefined where its row is damaged. */
export function bucketOf({ before, after }: Change): ToldBucket | undefined {
  const [previous, told] = [keptOf(before).bucket, keptOf(after)]
  const { bucket, class: name, stage, daysPastDue, since, policyVersion } = told
  if (typeof bucket !== 'string' || typeof previous !== 'string' || typeof since !== 'string') return undefined
  return {
    bucket,
    ...(typeof name === 'string' && { class: name }),
    ...(typeof stage === 'number' && { stage }),
    daysPastDue: Number(daysPastDue),
    since,
    policyVersion: String(policyVersion),
    previousBucket: previous,
  }
}
