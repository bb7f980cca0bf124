import { type Day, dateOf } from './calendar.ts'
import { COLUMNS, type Debt, type Effect, owed, owedOf, PARTS, type Row, total } from './debt.ts'
import type { Life } from './life.ts'
import type { NaiveQuote } from './settlement.ts'

// A loan as the model and the domain both show it.

/** The columns of an instalment, by part: such as `due interest`. Zeros are left out. */
export interface SeenInstalment {
  readonly dueDate: string
  readonly completedOn: string | null
  readonly amounts: Readonly<Record<string, bigint>>
}

export interface SeenLoan {
  readonly status: string
  readonly overpaid: bigint
  readonly penaltiesRaised: number
  readonly interestAfterDue: bigint
  readonly chargedOffOn: string | null
  readonly closedOn: string | null
  /** The day for which a settlement waiver is missing. */
  readonly settlementDay: string | null
  /** What settles the loan on that day. */
  readonly quote: NaiveQuote
  readonly instalments: readonly SeenInstalment[]
  /** What each transaction did, by ordinal: its parts, and `overpayment`. Zeros are left out. */
  readonly effects: Readonly<Record<number, Readonly<Record<string, bigint>>>>
}

type Columns = Readonly<Record<(typeof COLUMNS)[number], Readonly<Record<(typeof PARTS)[number], bigint>>>>

/** Returns the amounts of an instalment that are not 0. */
export function amountsOf(columns: Columns): Record<string, bigint> {
  const amounts: Record<string, bigint> = {}
  for (const column of COLUMNS)
    for (const part of PARTS) if (columns[column][part] !== 0n) amounts[`${column} ${part}`] = columns[column][part]
  return amounts
}

function columnsOf({ cells }: Row): Columns {
  const column = (name: (typeof COLUMNS)[number]) => ({
    ...{ penalty: cells.penalty[name], fees: cells.fees[name] },
    ...{ interest: cells.interest[name], principal: cells.principal[name] },
  })
  return {
    ...{ due: column('due'), paid: column('paid'), waived: column('waived') },
    ...{ writtenOff: column('writtenOff'), recovered: column('recovered') },
  }
}

export function statusOf(debt: Debt): string {
  if (debt.overpaid > 0n) return 'Overpaid'
  if (owed(debt) > 0n) return 'Active'
  return debt.writtenOffOn === null ? 'Closed (obligations met)' : 'Closed (written off)'
}

const dated = (day: Day | null): string | null => (day === null ? null : dateOf(day))

/** Returns the day that completed an instalment; one in which nothing was ever due is completed on no day. */
function completedOn({ cells, clearSince }: Row): string | null {
  return PARTS.some((part) => cells[part].due > 0n) ? dated(clearSince) : null
}

function closedOn(debt: Debt): string | null {
  const status = statusOf(debt)
  if (status === 'Closed (written off)') return dated(debt.writtenOffOn)
  return status === 'Closed (obligations met)' ? dated(debt.clearSince) : null
}

/** Returns the loan of the model. */
export const seenIn = ({ debt, effects, unwaivedDay, quote }: Life): SeenLoan => ({
  status: statusOf(debt),
  overpaid: debt.overpaid,
  penaltiesRaised: debt.raised,
  interestAfterDue: debt.afterDue,
  chargedOffOn: dated(debt.chargedOffOn),
  closedOn: closedOn(debt),
  settlementDay: dated(unwaivedDay),
  quote,
  instalments: debt.rows.map((row) => ({
    dueDate: dateOf(row.dueDay),
    completedOn: completedOn(row),
    amounts: amountsOf(columnsOf(row)),
  })),
  effects: Object.fromEntries([...effects].map(([ordinal, effect]) => [ordinal, effectOf(effect)])),
})

/** Returns what a transaction did, without zeros. */
export const effectOf = ({ parts, overpayment }: Effect): Record<string, bigint> =>
  Object.fromEntries(Object.entries({ ...parts, overpayment }).filter(([, amount]) => amount !== 0n))

/** What a transaction may be about. */
export interface About {
  readonly owed: bigint
  readonly interestOwed: bigint
  readonly paid: bigint
  readonly overpaid: bigint
  readonly writtenOff: bigint
}

export const aboutOf = (debt: Debt): About => {
  const all = (column: (typeof COLUMNS)[number]) => PARTS.reduce((sum, part) => sum + total(debt, part, column), 0n)
  const interest = (column: (typeof COLUMNS)[number]) => total(debt, 'interest', column)
  return {
    owed: debt.rows.reduce((sum, row) => sum + owedOf(row), 0n),
    interestOwed: interest('due') - interest('paid') - interest('waived') - interest('writtenOff'),
    paid: all('paid'),
    overpaid: debt.overpaid,
    writtenOff: all('writtenOff') - all('recovered'),
  }
}
