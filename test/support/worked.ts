import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Worked loans: text tables of what is done to a loan, with figures worked out by hand. They are read here, and played
// twice: against the domain, and over HTTP.
//
//   == the title of a worked loan
//   -- the arithmetic, for people
//   loan of 100000 on product 1, disbursed 2026-01-31
//   on               | do                              | principal interest penalty overpaid | outcome
//   2026-02-10       | repay 10000                     |    100000        0       0        0 | Active
//   2026-02-28 09:30 | reverse #1                      |    100000    10000   10000        0 | Active
//                    | = paid 0; #1 of 10000: reversed
//
// A date alone is noon of that day in Nairobi; every loan is disbursed at 09:30. The figures are what is outstanding,
// and what is overpaid, after the line. The outcome is the status, `refused <code>`, or `again #1` where an earlier
// transaction is answered. #1 is the first transaction that was posted; an adjustment to more than 0 posts one too.
// A line that begins with `=` says more about the loan as the line above left it.

/** What posts a transaction, in the words of the tables. */
export const KINDS = ['repay', 'recover', 'waive', 'refund', 'pay-out', 'charge-off', 'write-off'] as const

export type Kind = (typeof KINDS)[number]

export interface Post {
  readonly do: 'post'
  readonly kind: Kind
  /** Decimal text; null of a charge-off and a write-off. */
  readonly amount: string | null
  readonly dated: string | undefined
  readonly token: string | undefined
}

export interface Adjust {
  readonly do: 'adjust'
  readonly target: number
  readonly amount: string
  readonly dated: string | undefined
}

export type Action =
  | Post
  | Adjust
  | { readonly do: 'reverse'; readonly target: number }
  /** Nothing but the passing of time. */
  | { readonly do: 'look' }

/** One line of a table. */
export interface Step {
  /** RFC 3339, in Nairobi. */
  readonly at: string
  /** The first two cells, as they stand there. */
  readonly said: string
  readonly action: Action
  /** Figures and outcome. */
  readonly expected: string
  readonly checks: readonly string[]
}

/** A worked loan. */
export interface Worked {
  readonly title: string
  readonly file: string
  readonly principal: string
  readonly product: number
  readonly disbursedAt: string
  readonly steps: readonly Step[]
}

const folder = fileURLToPath(new URL('../domain/loan/worked/', import.meta.url))

/** Every worked loan there is. */
export function workedLoans(): Worked[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'))
  return files.flatMap((file) => parseWorked(file.replace('.txt', ''), readFileSync(`${folder}${file}`, 'utf8')))
}

/** Every worked loan, by the file that holds it. */
export function workedByFile(): [file: string, loans: Worked[]][] {
  const byFile = Object.groupBy(workedLoans(), ({ file }) => file)
  return Object.entries(byFile).map(([file, loans]) => [file, loans!])
}

/** The worked loans of one text. */
export function parseWorked(file: string, text: string): Worked[] {
  return text
    .split(/^== /m)
    .slice(1)
    .map((section) => {
      const [title, ...rest] = section.split('\n')
      const lines = rest.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('--'))
      const loan = /^loan of (\S+) on product (\d+), disbursed (\d{4}-\d\d-\d\d)$/.exec(lines[0] ?? '')
      if (!loan) throw new Error(`${file}, "${title}": "${lines[0]}" is no loan`)
      return {
        title: title!.trim(),
        file,
        principal: loan[1]!,
        product: Number(loan[2]),
        disbursedAt: `${loan[3]}T09:30:00+03:00`,
        steps: stepsOf(lines.slice(1).filter((line) => !line.startsWith('on '))),
      }
    })
}

function stepsOf(lines: readonly string[]): Step[] {
  const steps: (Step & { checks: string[] })[] = []
  for (const line of lines) {
    if (line.startsWith('| =')) {
      const checks = line.slice('| ='.length).split(';')
      steps.at(-1)!.checks.push(...checks.map((check) => check.trim().replace(/\s+/g, ' ')))
    } else steps.push(stepOf(line))
  }
  return steps
}

function stepOf(line: string): Step & { checks: string[] } {
  const cells = line.split('|').map((cell) => cell.trim().replace(/\s+/g, ' '))
  const on = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d))?$/.exec(cells[0] ?? '')
  if (cells.length !== 4 || !on) throw new Error(`"${line}" is no line of a worked loan`)
  return {
    at: `${on[1]}T${on[2] ?? '12:00'}:00+03:00`,
    said: `${cells[0]} | ${cells[1]}`,
    action: actionOf(cells[1]!),
    expected: `${cells[2]} | ${cells[3]}`,
    checks: [],
  }
}

function actionOf(text: string): Action {
  if (text === 'look') return { do: 'look' }
  const reversal = /^reverse #(\d+)$/.exec(text)
  if (reversal) return { do: 'reverse', target: Number(reversal[1]) }
  const adjustment = /^adjust #(\d+) to (\S+)(?: dated (\S+))?$/.exec(text)
  if (adjustment) {
    const [, target, amount, dated] = adjustment
    return { do: 'adjust', target: Number(target), amount: amount!, dated }
  }
  const posting = /^(\S+?)(?: (-?[\d.]+))?(?: dated (\S+))?(?: token (\S+))?$/.exec(text)
  const kind = KINDS.find((candidate) => candidate === posting?.[1])
  if (!posting || !kind) throw new Error(`"${text}" is nothing that can be done to a loan`)
  return { do: 'post', kind, amount: posting[2] ?? null, dated: posting[3], token: posting[4] }
}
