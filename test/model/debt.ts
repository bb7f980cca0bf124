import { type Day, dayAt, plusDays, plusMonths, sameTime } from './calendar.ts'

// What a loan of the demonstration products owes, in cents (contract 4.3.1, 4.3.2, 7). Written from the contract, on
// purpose without the code of the service.

export interface DemoProduct {
  readonly id: number
  readonly instalments: number
  readonly everyWeek: boolean
  /** Interest of each period, in percent of the principal. */
  readonly percent: bigint
  readonly multiple: bigint | null
  readonly penaltyPercent: bigint
}

export const PRODUCTS: readonly DemoProduct[] = [
  { id: 1, instalments: 1, everyWeek: false, percent: 10n, multiple: null, penaltyPercent: 0n },
  { id: 2, instalments: 1, everyWeek: false, percent: 10n, multiple: null, penaltyPercent: 10n },
  { id: 3, instalments: 6, everyWeek: false, percent: 5n, multiple: null, penaltyPercent: 0n },
  { id: 4, instalments: 12, everyWeek: true, percent: 2n, multiple: 10_00n, penaltyPercent: 0n },
]

/** The parts of an instalment, in the order in which money pays them. */
const PARTS = ['penalty', 'interest', 'principal'] as const

export type Part = (typeof PARTS)[number]

/** One part of one instalment, and what has become of it. */
export interface Row {
  readonly instalment: number
  readonly part: Part
  due: bigint
  paid: bigint
  waived: bigint
  writtenOff: bigint
  recovered: bigint
}

export interface Debt {
  readonly product: DemoProduct
  readonly principal: bigint
  readonly disbursedAt: number
  readonly disbursedOn: Day
  readonly dueDays: readonly Day[]
  readonly dueAt: number
  readonly penalty: bigint
  readonly parts: readonly { readonly interest: bigint; readonly principal: bigint }[]
}

/** Divides and rounds half to even. */
function divided(amount: bigint, by: bigint): bigint {
  const whole = amount / by
  const twice = (amount % by) * 2n
  return twice > by || (twice === by && whole % 2n === 1n) ? whole + 1n : whole
}

export function debtOf(product: DemoProduct, principal: bigint, disbursedAt: number): Debt {
  const disbursedOn = dayAt(disbursedAt)
  const count = BigInt(product.instalments)
  const interest = divided(principal * product.percent * count, 100n)
  const interestEach = divided(interest, count)
  let principalEach = divided(principal, count)
  if (product.multiple !== null)
    principalEach = divided(principalEach + interestEach, product.multiple) * product.multiple - interestEach

  const parts = []
  const dueDays: Day[] = []
  for (let index = 1; index <= product.instalments; index++) {
    dueDays.push(product.everyWeek ? plusDays(disbursedOn, 7 * index) : plusMonths(disbursedOn, index))
    if (index < product.instalments) parts.push({ interest: interestEach, principal: principalEach })
  }
  parts.push({ interest: interest - interestEach * (count - 1n), principal: principal - principalEach * (count - 1n) })
  const penalty = divided(principal * product.penaltyPercent, 100n)
  const dueAt = sameTime(dueDays.at(-1)!, disbursedAt)
  return { product, principal, disbursedAt, disbursedOn, dueDays, dueAt, penalty, parts }
}

export const rowsOf = (debt: Debt): Row[] =>
  debt.parts.flatMap(({ interest, principal }, instalment) => rowsOfInstalment(instalment, { interest, principal }))

export const rowsOfInstalment = (instalment: number, due: { interest: bigint; principal: bigint }): Row[] =>
  PARTS.map((part) => ({
    instalment,
    part,
    due: part === 'penalty' ? 0n : due[part],
    paid: 0n,
    waived: 0n,
    writtenOff: 0n,
    recovered: 0n,
  }))

export const owedOf = (row: Row): bigint => row.due - row.paid - row.waived - row.writtenOff
