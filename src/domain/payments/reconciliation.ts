import type { Instant } from '../dates.ts'

/** The kinds of lines of a comparison, by what the statement and the payments say. */
export const LINE_KINDS = [
  'matched',
  'missing_here',
  'missing_there',
  'amount_differs',
  'reversal',
  'reversal_missing',
  'other',
] as const

export type LineKind = (typeof LINE_KINDS)[number]

/** The kinds of which a statement that is balanced has no line. */
export const DIFFERENCE_KINDS = [
  'missing_here',
  'missing_there',
  'amount_differs',
  'reversal_missing',
] as const satisfies readonly LineKind[]

/** A line of a provider's statement: an amount that moved on the channel, minor units. */
export interface StatementLine {
  readonly receipt: string
  readonly at: Instant
  /** Above zero where money came in. */
  readonly amount: bigint
  readonly reference: string | null
  /** The receipt that the line takes back. */
  readonly reverses: string | null
}

/** A provider's statement: its lines, and the balances that it says, minor units. */
export interface Statement {
  readonly lines: readonly StatementLine[]
  readonly opening: bigint | null
  readonly closing: bigint | null
}

/** A payment of the channel, or what its provider took back of one, as far as it is compared. */
export interface Compared {
  /** The payment; null of a reversal whose payment has not come. */
  readonly id: bigint | null
  readonly receipt: string
  /** Below zero where it was taken back. */
  readonly amount: bigint
  readonly at: Instant
  readonly reference: string | null
  /** The receipt of the payment that is taken back; null of a payment. */
  readonly reverses: string | null
}

/** A line of a comparison. */
export interface ComparedLine extends StatementLine {
  readonly kind: LineKind
  readonly paymentId: bigint | null
}

/** The payments and reversals with which a statement is compared: those whose receipts it has, and those of its days. */
export interface Ground {
  readonly named: readonly Compared[]
  readonly ofDays: readonly Compared[]
}

/** A number of lines, and what they sum to in minor units. */
export interface Figure {
  readonly lines: number
  readonly amount: bigint
}

/** What a comparison comes to. */
export interface Comparison {
  readonly lines: readonly ComparedLine[]
  readonly figures: Readonly<Record<LineKind, Figure>>
  /** Money of payments by the statement, less that by the payments; minor units. */
  readonly difference: bigint
  /** Whether nothing is missing or different, and the balances of the statement, where it says them, are its sum. */
  readonly balanced: boolean
}

/**
 * Compares a statement with the payments of its channel. Money that came in is a payment, money that went out and names a receipt is
 * a reversal, and the rest is the lender's own.
 */
export function compareStatement({ lines, opening, closing }: Statement, { named, ofDays }: Ground): Comparison {
  const known = new Map(named.map((one) => [keyOf(one), one]))
  const seen = new Set<string>()
  /** What the statement has more of those that both have, minor units. */
  let toThere = 0n
  const compared = lines.map((line): ComparedLine => {
    const key = keyOf(line)
    // A receipt that came in twice is the payment once.
    if ((line.amount <= 0n && line.reverses === null) || seen.has(key))
      return { ...line, kind: 'other', paymentId: null }
    seen.add(key)
    const [agrees, isMissing] = KINDS[line.amount > 0n ? 'in' : 'out']
    const same = known.get(key)
    if (!same) return { ...line, kind: isMissing, paymentId: null }
    toThere += line.amount - same.amount
    return { ...line, kind: same.amount === line.amount ? agrees : 'amount_differs', paymentId: same.id }
  })
  const missing = ofDays
    .filter((one) => !seen.has(keyOf(one)))
    .map(({ id, ...one }): ComparedLine => ({ ...one, kind: 'missing_there', paymentId: id }))
  const all = [...compared, ...missing]
  const figures = figuresOf(all)
  const moved = lines.reduce((sum, { amount }) => sum + amount, 0n)
  const isSum = opening === null || closing === null || opening + moved === closing
  const { missing_here, missing_there, reversal_missing } = figures
  const isSame = DIFFERENCE_KINDS.every((kind) => figures[kind].lines === 0)
  return {
    lines: all,
    figures,
    difference: missing_here.amount - missing_there.amount + reversal_missing.amount + toThere,
    balanced: isSame && isSum,
  }
}

/** The kinds of a line of money that came in, and of money that was taken back: known here with its amount, and not known. */
const KINDS = { in: ['matched', 'missing_here'], out: ['reversal', 'reversal_missing'] } as const

/** Returns by what a line and a payment, or a reversal, are the same: a provider may call both by one receipt. */
const keyOf = ({ receipt, amount }: Pick<Compared, 'receipt' | 'amount'>): string =>
  `${amount > 0n ? 'in' : 'out'} ${receipt}`

function figuresOf(lines: readonly ComparedLine[]): Record<LineKind, Figure> {
  const of = (kind: LineKind): Figure => {
    const own = lines.filter((line) => line.kind === kind)
    return { lines: own.length, amount: own.reduce((sum, { amount }) => sum + amount, 0n) }
  }
  return Object.fromEntries(LINE_KINDS.map((kind) => [kind, of(kind)])) as Record<LineKind, Figure>
}
