import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { EntryType } from '../../../src/domain/loan/entry.ts'
import { type LineOfTerms, readTerms } from './termsLine.ts'

// Worked histories: text tables of what is done to a loan of a product with terms, with figures worked out by hand.
//
//   == the title of a history
//   -- the arithmetic, for people
//   1000 in 1 every 1 months; flat 10% per period; penalty fixed 10 every day per loan
//   on               | do          | penalty fees interest principal overpaid | outcome
//   2026-02-28 09:30 | look        |      10    0      100      1000        0 | Active
//                    | = penalties 1; instalment 1 owes penalty 10 interest 100 principal 1000
//
// A date alone is noon of that day in Nairobi; every loan is disbursed at 09:30. The figures are what is outstanding,
// and what is overpaid, after the line. #1 is the first transaction that was posted: an adjustment posts one, and so does
// an early settlement, after the transaction that settles the loan. A line that begins with `=` says more.

/** The words of the tables for what posts a transaction. */
export const KINDS = {
  repay: 'Repayment',
  recover: 'Recovery Repayment',
  waive: 'Waive Interest',
  refund: 'Refund',
  'pay-out': 'Credit Balance Refund',
  'charge-off': 'Charge-off',
  'write-off': 'Write-off',
  fee: 'Fee',
  penalty: 'Penalty',
} as const satisfies Readonly<Record<string, EntryType>>

export interface Posts {
  readonly does: 'post'
  readonly type: EntryType
  /** Decimal text; undefined of a charge-off and a write-off. */
  readonly amount: string | undefined
  readonly due: string | undefined
  readonly dated: string | undefined
}

export type Action =
  | Posts
  | { readonly does: 'adjust'; readonly target: number; readonly amount: string; readonly dated: string | undefined }
  | { readonly does: 'reverse'; readonly target: number }
  /** Nothing but the passing of time. */
  | { readonly does: 'look' }

/** One line of a table. */
export interface Line {
  /** RFC 3339, in Nairobi. */
  readonly at: string
  /** The first two cells. */
  readonly said: string
  readonly action: Action
  /** Figures and outcome. */
  readonly expected: string
  readonly checks: readonly string[]
}

/** A worked history. */
export interface WorkedHistory {
  readonly title: string
  readonly lent: LineOfTerms
  readonly lines: readonly Line[]
}

const folder = fileURLToPath(new URL('./histories/', import.meta.url))

/** Every worked history, by the file that holds it. */
export const workedHistories = (): [file: string, histories: WorkedHistory[]][] =>
  readdirSync(folder)
    .toSorted()
    .map((file) => {
      const sections = readFileSync(`${folder}${file}`, 'utf8').split(/^== /m)
      return [file, sections.slice(1).map(readSection)]
    })

function readSection(section: string): WorkedHistory {
  const [title = '', ...rest] = section.split('\n')
  const [terms = '', ...lines] = rest.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('--'))
  return { title, lent: readTerms(terms, title.slice(0, 100)), lines: linesOf(lines) }
}

function linesOf(texts: readonly string[]): Line[] {
  const lines: (Line & { checks: string[] })[] = []
  for (const text of texts) {
    if (text.startsWith('on ')) continue
    if (text.startsWith('| =')) lines.at(-1)!.checks.push(...text.slice('| ='.length).split(';').map(tidied))
    else lines.push(lineOf(text))
  }
  return lines
}

const tidied = (text: string): string => text.trim().replace(/\s+/g, ' ')

function lineOf(text: string): Line & { checks: string[] } {
  const cells = text.split('|').map(tidied)
  const on = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))?$/.exec(cells[0] ?? '')
  if (cells.length !== 4 || !on) throw new Error(`"${text}" is no line of a history`)
  const said = `${cells[0]} | ${cells[1]}`
  const at = `${on[1]}T${on[2] ?? '12:00'}:00+03:00`
  return { at, said, action: actionOf(cells[1]!), expected: `${cells[2]} | ${cells[3]}`, checks: [] }
}

function actionOf(text: string): Action {
  if (text === 'look') return { does: 'look' }
  const reversal = /^reverse #(\d+)$/.exec(text)
  if (reversal) return { does: 'reverse', target: Number(reversal[1]) }
  const adjustment = /^adjust #(\d+) to (\S+)(?: dated (\S+))?$/.exec(text)
  if (adjustment) {
    const [, target, amount, dated] = adjustment
    return { does: 'adjust', target: Number(target), amount: amount!, dated }
  }
  const posting = /^([a-z-]+)(?: ([\d.]+))?(?: due (\S+))?(?: dated (\S+))?$/.exec(text)
  const type = Object.entries(KINDS).find(([word]) => word === posting?.[1])?.[1]
  if (!posting || !type) throw new Error(`"${text}" is nothing that can be done to a loan`)
  return { does: 'post', type, amount: posting[2], due: posting[3], dated: posting[4] }
}
