import type { CreditHistory } from '../../../src/domain/credit/history.ts'
import { defaultPolicy } from '../../../src/domain/credit/policy.ts'
import { currencyOf } from '../../../src/domain/money.ts'

/** The default, in the currency of the demonstration organization. */
export const DEFAULT_POLICY = defaultPolicy(currencyOf('TZS'))

/** A customer who has done nothing yet. */
export const NOBODY: CreditHistory = {
  asOf: '2026-07-01',
  loansTaken: 0,
  loansOpen: 0,
  loansClosed: 0,
  instalmentsDue: 0,
  instalmentsOnTime: 0,
  daysOverdueNow: 0,
  worstDaysOverdue: 0,
  loansChargedOff: 0,
  chargedOff: 0n,
  loansWrittenOff: 0,
  writtenOff: 0n,
  loansRecovered: 0,
  monthsOfHistory: 0,
  borrowed: 0n,
  repaid: 0n,
  largestRepaid: 0n,
  outstanding: 0n,
}

/** A worked customer: history in, score, grade, limit and reasons out. */
export interface WorkedCustomer {
  readonly name: string
  readonly history: CreditHistory
  readonly answer: string
  readonly reasons: readonly string[]
}

/** Cells of the table's head, and the fact that each fills in. Amounts in shillings. */
const FACTS: Readonly<Record<string, keyof CreditHistory>> = {
  closed: 'loansClosed',
  open: 'loansOpen',
  due: 'instalmentsDue',
  'on time': 'instalmentsOnTime',
  worst: 'worstDaysOverdue',
  now: 'daysOverdueNow',
  months: 'monthsOfHistory',
  largest: 'largestRepaid',
  'charged off': 'chargedOff',
  'written off': 'writtenOff',
  recovered: 'loansRecovered',
}

/** Reads a table of customers: a line each, its reasons on the lines below, one a line, indented. */
export function workedCustomers(table: string): WorkedCustomer[] {
  const [head = '', ...lines] = table.split('\n').filter((line) => line.trim() !== '' && !/^[\s|-]+$/.test(line))
  const titles = cellsOf(head)
  const customers: { name: string; history: CreditHistory; answer: string; reasons: string[] }[] = []
  for (const line of lines) {
    if (!line.includes('|')) {
      customers.at(-1)?.reasons.push(line.trim())
      continue
    }
    const cells = cellsOf(line)
    const facts = titles.slice(1, -1).map((title, index) => {
      const fact = FACTS[title]!
      const text = (cells[index + 1] ?? '').replaceAll(',', '')
      return [fact, typeof NOBODY[fact] === 'bigint' ? BigInt(text || 0) * 100n : Number(text || 0)]
    })
    const history: CreditHistory = { ...NOBODY, ...Object.fromEntries(facts) }
    const loansChargedOff = history.chargedOff > 0n ? 1 : 0
    const loansWrittenOff = history.writtenOff > 0n ? 1 : 0
    customers.push({
      name: cells[0]!,
      history: { ...history, loansChargedOff, loansWrittenOff },
      answer: cells.at(-1)!,
      reasons: [],
    })
  }
  return customers
}

const cellsOf = (line: string): string[] => line.split('|').map((cell) => cell.trim())
