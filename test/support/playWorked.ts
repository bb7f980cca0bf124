import type { Step, Worked } from './worked.ts'

/** A transaction as one of the two sides shows it; amounts in the currency's main unit. */
export interface SeenTransaction {
  readonly amount: number
  readonly reversed: boolean
  readonly penalty: number
  readonly interest: number
  readonly principal: number
  readonly overpayment: number
}

/** A loan as one of the two sides shows it. */
export interface SeenLoan {
  readonly principal: number
  readonly interest: number
  readonly penalty: number
  readonly outstanding: number
  readonly overpaid: number
  readonly status: string
  readonly paid: number
  readonly waived: number
  readonly writtenOff: number
  readonly recovered: number
  readonly closedOn: string | null
  readonly chargedOffOn: string | null
  readonly nextDueOn: string | null
  readonly nextDueAmount: number | null
  readonly overdueSince: string | null
  readonly daysOverdue: number
  readonly overdue: number
  /** What is outstanding of each instalment. */
  readonly instalments: readonly number[]
}

/** What came of a step: a refusal, or the transaction that was answered. */
export type Done = { readonly refused: string } | { readonly answered: string }

/** A loan that tables can be played on. Transactions are addressed by ids of its own choice. */
export interface Played {
  /** Sets the clock. */
  at(moment: string): void
  /** @param ids those of the transactions so far: #1 is the first */
  act(step: Step, ids: readonly string[]): Done | Promise<Done>
  loan(): SeenLoan | Promise<SeenLoan>
  transaction(id: string): SeenTransaction | Promise<SeenTransaction>
}

/** The table as it should come out. */
export const expectedRows = (worked: Worked): string[] =>
  worked.steps.flatMap(({ said, expected, checks }) => [
    `${said} | ${expected}`,
    ...checks.map((check) => `= ${check}`),
  ])

/** The table as it does come out: the same lines, with the figures that were seen. */
export async function play(worked: Worked, loan: Played): Promise<string[]> {
  const ids: string[] = []
  const rows: string[] = []
  for (const step of worked.steps) {
    loan.at(step.at)
    const done = step.action.do === 'look' ? undefined : await loan.act(step, ids)
    const seen = await loan.loan()
    const outcome = done === undefined ? seen.status : outcomeOf(done, step, seen, ids)
    rows.push(`${step.said} | ${figuresOf(seen)} | ${outcome}`)
    for (const check of step.checks) rows.push(`= ${await answerTo(check, loan, seen, ids)}`)
  }
  return rows
}

/** Numbers the transaction when it is a new one. */
function outcomeOf(done: Done, { action }: Step, seen: SeenLoan, ids: string[]): string {
  if ('refused' in done) return `refused ${done.refused}`
  const known = ids.indexOf(done.answered)
  if (action.do === 'post' && known >= 0) return `again #${known + 1}`
  if (known < 0) ids.push(done.answered)
  return seen.status
}

function figuresOf({ principal, interest, penalty, overpaid, outstanding }: SeenLoan): string {
  const figures = `${principal} ${interest} ${penalty} ${overpaid}`
  // Cents, because sums of doubles are not exact.
  const sum = Math.round(principal * 100) + Math.round(interest * 100) + Math.round(penalty * 100)
  return sum === Math.round(outstanding * 100) ? figures : `${figures}, which are not ${outstanding} in all`
}

/** The same check, with what was seen in the place of what was expected. */
async function answerTo(check: string, loan: Played, seen: SeenLoan, ids: readonly string[]): Promise<string> {
  const transaction = /^#(\d+) of /.exec(check)
  if (transaction)
    return `#${transaction[1]} of ${portionsOf(await loan.transaction(ids[Number(transaction[1]) - 1]!))}`
  const instalment = /^instalment (\d+) owes /.exec(check)
  if (instalment)
    return `instalment ${instalment[1]} owes ${seen.instalments[Number(instalment[1]) - 1] ?? 'nothing: none'}`
  const topic = Object.keys(TOPICS).find((name) => check.startsWith(`${name} `))
  if (topic === undefined) throw new Error(`"${check}" is nothing that can be said about a loan`)
  return `${topic} ${TOPICS[topic]!(seen)}`
}

const TOPICS: Readonly<Record<string, (seen: SeenLoan) => string | number>> = {
  'closed on': ({ closedOn }) => closedOn ?? '-',
  'charged off on': ({ chargedOffOn }) => chargedOffOn ?? '-',
  'written off': ({ writtenOff }) => writtenOff,
  recovered: ({ recovered }) => recovered,
  paid: ({ paid }) => paid,
  waived: ({ waived }) => waived,
  instalments: ({ instalments }) => instalments.length,
  'next due': ({ nextDueOn, nextDueAmount }) => (nextDueOn === null ? '-' : `${nextDueOn} ${nextDueAmount}`),
  overdue: ({ overdueSince, daysOverdue, overdue }) =>
    overdueSince === null && daysOverdue === 0 && overdue === 0
      ? '-'
      : `${overdue} since ${overdueSince}, ${daysOverdue} days`,
}

function portionsOf({ amount, reversed, penalty, interest, principal, overpayment }: SeenTransaction): string {
  const portions = Object.entries({ penalty, interest, principal, overpayment })
    .filter(([, portion]) => portion !== 0)
    .map(([name, portion]) => ` ${name} ${portion}`)
  return `${amount}:${reversed ? ' reversed' : ''}${portions.join('')}`
}
