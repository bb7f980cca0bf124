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

/** A payment of the channel, as far as it is compared. */
export interface ComparedPayment {
  readonly id: bigint
  readonly receipt: string
  readonly amount: bigint
  readonly paidAt: Instant
  readonly reference: string | null
}

/** A line of a comparison. */
export interface ComparedLine extends StatementLine {
  readonly kind: LineKind
  readonly paymentId: bigint | null
}

/** The payments and reversals with which a statement is compared. */
export interface Ground {
  /** The payments whose receipts the statement has. */
  readonly named: readonly ComparedPayment[]
  /** The payments that were paid in the days of the statement. */
  readonly ofDays: readonly ComparedPayment[]
  /** The receipts of the reversals that are known, each with its payment; null where that has not come. */
  readonly reversals: ReadonlyMap<string, bigint | null>
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
export function compareStatement({ lines, opening, closing }: Statement, ground: Ground): Comparison {
  const payments = new Map(ground.named.map((payment) => [payment.receipt, payment]))
  const seen = new Set<string>()
  const compared = lines.map((line): ComparedLine => {
    if (line.amount <= 0n) {
      if (line.reverses === null) return { ...line, kind: 'other', paymentId: null }
      const known = ground.reversals.get(line.receipt)
      return { ...line, kind: known === undefined ? 'reversal_missing' : 'reversal', paymentId: known ?? null }
    }
    const isFirst = !seen.has(line.receipt)
    seen.add(line.receipt)
    const payment = payments.get(line.receipt)
    // A receipt that came in twice is the payment once.
    if (!isFirst) return { ...line, kind: 'other', paymentId: null }
    if (!payment) return { ...line, kind: 'missing_here', paymentId: null }
    const kind = payment.amount === line.amount ? 'matched' : 'amount_differs'
    return { ...line, kind, paymentId: payment.id }
  })
  const missing = ground.ofDays
    .filter(({ receipt }) => !seen.has(receipt))
    .map(({ id, receipt, amount, paidAt, reference }): ComparedLine => {
      return { receipt, at: paidAt, amount, reference, reverses: null, kind: 'missing_there', paymentId: id }
    })
  const all = [...compared, ...missing]
  const figures = figuresOf(all)
  const differing = compared.filter(({ kind }) => kind === 'amount_differs')
  const toThere = differing.reduce((sum, { receipt, amount }) => sum + amount - payments.get(receipt)!.amount, 0n)
  const { missing_here, missing_there, reversal_missing } = figures
  const moved = lines.reduce((sum, { amount }) => sum + amount, 0n)
  const isSum = opening === null || closing === null || opening + moved === closing
  const isSame = DIFFERENCE_KINDS.every((kind) => figures[kind].lines === 0)
  return {
    lines: all,
    figures,
    difference: missing_here.amount - missing_there.amount + reversal_missing.amount + toThere,
    balanced: isSame && isSum,
  }
}

function figuresOf(lines: readonly ComparedLine[]): Record<LineKind, Figure> {
  const of = (kind: LineKind): Figure => {
    const own = lines.filter((line) => line.kind === kind)
    return { lines: own.length, amount: own.reduce((sum, { amount }) => sum + amount, 0n) }
  }
  return Object.fromEntries(LINE_KINDS.map((kind) => [kind, of(kind)])) as Record<LineKind, Figure>
}
