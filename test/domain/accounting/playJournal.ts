import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isNothing, SLOTS, type SlotAmounts } from '../../../src/domain/accounting/slots.ts'
import type { EntryType } from '../../../src/domain/loan/entry.ts'
import { adjust, post, reverse } from '../../../src/domain/loan/loan.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import type { LoanTerms } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf, type Decimal, minorToText, parseDecimal, toMinor } from '../../../src/domain/money.ts'
import type { Instalment } from '../../../src/domain/schedule/schedule.ts'
import { type BookedChange, BookedLoan, type ByMethod, dayBefore } from './bookedLoan.ts'

// Worked examples of the journal, as text: a loan, what happens to it, and the posting of each step by each method. A step
// without postings only leads to the next one: other examples have it.

const ZONE = 'Africa/Nairobi'

const TYPES: Readonly<Record<string, EntryType>> = {
  repay: 'Repayment',
  recover: 'Recovery Repayment',
  waive: 'Waive Interest',
  refund: 'Refund',
  'pay-out': 'Credit Balance Refund',
  'charge-off': 'Charge-off',
  'write-off': 'Write-off',
}

/** The words of the files for the methods. */
const METHODS_OF: Readonly<Record<string, readonly (keyof ByMethod)[]>> = {
  all: ['cash', 'accrual_upfront', 'accrual_periodic'],
  accrual: ['accrual_upfront', 'accrual_periodic'],
  cash: ['cash'],
  upfront: ['accrual_upfront'],
  periodic: ['accrual_periodic'],
}

/** A posting in words: `debits | credits`, or `nothing`; by method. */
type Said = Readonly<Record<string, string>>

interface Step {
  readonly on: string
  readonly does: string
  readonly expected: Said
}

/** A worked example. */
export interface Worked {
  readonly title: string
  /** What a reference core banking system posts, and how this one differs. */
  readonly reference: string
  readonly terms: LoanTerms
  readonly steps: readonly Step[]
}

const folder = fileURLToPath(new URL('worked/', import.meta.url))

/** Returns the worked examples by the file that holds them. */
export const workedByFile = (): [file: string, examples: Worked[]][] =>
  readdirSync(folder).map((file) => [file, readFileSync(`${folder}${file}`, 'utf8').split(/^== /m).slice(1).map(parse)])

function parse(text: string): Worked {
  const [title = '', ...rest] = text.split('\n')
  const lines = rest.map((line) => line.trim().replace(/\s+/g, ' ')).filter((line) => line !== '')
  const having = (start: string) => lines.filter((line) => line.startsWith(start))
  const [, code, disbursedOn, penalty] =
    /^loan (\w+) disbursed (\S+)(?: penalty (\S+))?$/.exec(having('loan ')[0] ?? '') ?? []
  if (!code || !disbursedOn) throw new Error(`"${title}" has no loan`)
  const reference = having('reference: ').join(' ').replaceAll('reference: ', '')
  const terms = termsOf(code, disbursedOn, having('due '), penalty)
  return { title, reference, terms, steps: stepsOf(lines) }
}

function stepsOf(lines: readonly string[]): Step[] {
  const steps: { on: string; does: string; expected: Record<string, string> }[] = []
  for (const line of lines) {
    const [, on, does] = /^on (\S+) (.+)$/.exec(line) ?? []
    if (on && does) steps.push({ on, does, expected: {} })
    const [, methods, said] = /^(all|accrual|cash|upfront|periodic) \| (.+)$/.exec(line) ?? []
    if (methods && said)
      for (const method of METHODS_OF[methods]!) {
        if (steps.at(-1)!.expected[method]) throw new Error(`"${line}" is said twice`)
        steps.at(-1)!.expected[method] = said
      }
  }
  return steps
}

function termsOf(code: string, disbursedOn: string, due: readonly string[], penalty?: string): LoanTerms {
  const currency = currencyOf(code)
  const disbursedAt = Date.parse(`${disbursedOn}T09:30:00+03:00`)
  const minor = (text = '0') => toMinor(decimal(text), currency, 'amount', { zeroAllowed: true })
  let fromDate = disbursedOn
  const schedule = due.map((line, index): Instalment => {
    const [, dueDate, parts] = /^due (\S+) (.+)$/.exec(line) ?? []
    const of = (part: string) => minor(new RegExp(`${part} (\\S+)`).exec(parts ?? '')?.[1])
    const instalment = { principal: of('principal'), interest: of('interest'), fees: of('fees') }
    const from = fromDate
    fromDate = dueDate!
    return { period: index + 1, fromDate: from, dueDate: dueDate!, ...instalment }
  })
  const dueOn = schedule.at(-1)!.dueDate
  return {
    ...{ currency, zone: ZONE, principal: schedule.reduce((sum, { principal }) => sum + principal, 0n) },
    ...{ numberOfRepayments: schedule.length, ratePerPeriod: 0n, schedule, disbursedAt, disbursedOn, dueOn },
    rules: null,
    ...{ penaltyAmount: penalty === undefined ? null : minor(penalty) },
    dueAt: Date.parse(`${dueOn}T09:30:00+03:00`),
  }
}

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text)
  if (!parsed) throw new Error(`${text} is no amount`)
  return parsed
}

/** Plays an example. @returns of each step what was posted, in the words of the files */
export function play({ terms, steps }: Worked): Step[] {
  const loan = new BookedLoan(terms)
  return steps.map(({ on, does }) => {
    const { postings } = take(loan, Date.parse(`${on}T12:00:00+03:00`), does)
    const said = Object.entries(postings).map(([method, amounts]) => [method, saidOf(amounts, loan.terms)])
    return { on, does, expected: Object.fromEntries(said) }
  })
}

function take(loan: BookedLoan, now: number, does: string): BookedChange {
  const [act = '', ...words] = does.split(' ')
  if (act === 'disburse') return loan.disbursed(now)
  if (act === 'time') return loan.timePassed(now, dayBefore(ZONE, now))
  if (act === 'open') {
    loan.isImporting = true
    const change = words.length > 0 ? take(loan, now, words.join(' ')) : loan.disbursed(now)
    loan.isImporting = false
    return change
  }
  // What time has changed is a posting of its own, before that of a command; an import opens all that it finds.
  const time = loan.timePassed(now, dayBefore(ZONE, now))
  if (!Object.values(time.postings).every(isNothing)) throw new Error(`time has passed before "${does}"`)
  return loan.decided(decide(loan, now, act, words.join(' ')), now)
}

function decide(loan: BookedLoan, now: number, act: string, words: string) {
  const dated = /dated (\S+)/.exec(words)?.[1]
  const target = BigInt(/#(\d+)/.exec(words)?.[1] ?? 0)
  if (act === 'reverse') return reverse(loan.whole(), target, now, null)
  if (act === 'adjust') {
    const amount = decimal(/to (\S+)/.exec(words)?.[1] ?? '')
    return adjust(loan.whole(), target, { amount, valueDate: dated, note: null }, now)
  }
  if (act === 'restate') return restate(loan, now, words)
  const type = TYPES[act]
  if (!type) throw new Error(`"${act}" is nothing that can happen to a loan`)
  const amount = /^[\d.]+/.test(words) ? decimal(words.split(' ')[0]!) : null
  return post(loan.whole(), { type, amount, valueDate: dated, token: null, note: null }, now)
}

/** Decides on other terms: `restate due … ; due …`. */
function restate(loan: BookedLoan, now: number, words: string) {
  const { currency, disbursedOn } = loan.terms
  const terms = termsOf(currency.code, disbursedOn, words.split(' ; '))
  const none = { reason: null, posted: null, outcome: undefined, reversed: null }
  const modifiedTerms = { terms, customerId: 1n, lends: false }
  return { ...none, before: loan.stateAt(now), state: replay(terms, loan.entries, now), modifiedTerms }
}

function saidOf(amounts: SlotAmounts, { currency }: LoanTerms): string {
  if (isNothing(amounts)) return 'nothing'
  const side = (sign: bigint) =>
    SLOTS.filter((slot) => amounts[slot] * sign > 0n)
      .map((slot) => `${slot} ${minorToText(amounts[slot] * sign, currency).replace(/\.00$/, '')}`)
      .join(', ')
  return `${side(1n)} | ${side(-1n)}`
}
