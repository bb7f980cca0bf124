import { LendingError } from '../../../src/domain/errors.ts'
import { adjust, type Decision, post, reverse } from '../../../src/domain/loan/loan.ts'
import { totalOf } from '../../../src/domain/loan/portions.ts'
import { type Decimal, minorToText, parseDecimal } from '../../../src/domain/money.ts'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import { quoteOf } from '../../../src/domain/product/quote.ts'
import type { Action, WorkedHistory } from './historyTable.ts'
import { type SeenLoan, seenIn } from './naive/seen.ts'
import { PlayedLoan } from './playedLoan.ts'

/** The table as it should come out. */
export const expectedRows = ({ lines }: WorkedHistory): string[] =>
  lines.flatMap(({ said, expected, checks }) => [`${said} | ${expected}`, ...checks.map((check) => `= ${check}`)])

/** The table as it does come out. @param compare given what the domain shows of the loan after each line, and the model */
export function playHistory(history: WorkedHistory, compare: (domain: SeenLoan, model: SeenLoan) => void): string[] {
  const loan = new TabledHistory(history)
  return history.lines.flatMap(({ at, said, action, checks }) => {
    loan.now = Date.parse(at)
    const refused = loan.refusal(action)
    compare(loan.seen(), seenIn(loan.life()))
    const { status } = loan.state()
    return [
      `${said} | ${loan.figures()} | ${refused === undefined ? status : `refused ${refused}`}`,
      ...checks.map((check) => `= ${loan.answerTo(check)}`),
    ]
  })
}

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text)
  if (!parsed) throw new Error(`${text} is no amount`)
  return parsed
}

class TabledHistory extends PlayedLoan {
  constructor({ lent: { product: request, principal, disbursedOn } }: WorkedHistory) {
    const product = productOf(request, 1)
    const minor = BigInt(principal) * 10n ** BigInt(product.currency.decimals)
    super({ product, principal: minor, disbursedAt: Date.parse(`${disbursedOn}T09:30:00+03:00`) })
  }

  /** Does what a line says. @returns the code of a refusal */
  refusal(action: Action): string | undefined {
    if (action.does === 'look') return undefined
    try {
      this.change(this.decisionOn(action))
      return undefined
    } catch (error) {
      if (error instanceof LendingError) return error.code
      throw error
    }
  }

  private decisionOn(action: Exclude<Action, { readonly does: 'look' }>): Decision {
    switch (action.does) {
      case 'post': {
        const { type, amount, due: dueOn, dated: valueDate } = action
        const asked = amount === undefined ? null : decimal(amount)
        return post(this.whole(), { type, amount: asked, valueDate, dueOn, token: null, note: null }, this.now)
      }
      case 'adjust': {
        const { target, amount, dated: valueDate } = action
        return adjust(this.whole(), BigInt(target), { amount: decimal(amount), valueDate, note: null }, this.now)
      }
      case 'reverse':
        return reverse(this.whole(), BigInt(action.target), this.now, null)
    }
  }

  /** Returns what is outstanding of each component, and what is overpaid. */
  figures(): string {
    const { outstanding, totalOverpaid } = this.state()
    const { penalty, fees, interest, principal } = outstanding
    return [penalty, fees, interest, principal, totalOverpaid].map((minor) => this.text(minor)).join(' ')
  }

  /** Returns a check, with what is seen in the place of what is expected. */
  answerTo(check: string): string {
    const transaction = /^#(\d+):/.exec(check)
    if (transaction) return `#${transaction[1]}:${this.effect(Number(transaction[1]))}`
    const instalment = /^instalment (\d+) owes /.exec(check)
    if (instalment) return `instalment ${instalment[1]} owes${this.owedOf(Number(instalment[1]))}`
    const topic = Object.keys(this.topics).find((name) => check.startsWith(`${name} `))
    if (topic === undefined) throw new Error(`"${check}" is nothing that can be said about a loan`)
    return `${topic} ${this.topics[topic]!()}`
  }

  private readonly topics: Readonly<Record<string, () => string | number>> = {
    penalties: () => this.state().penaltiesRaised,
    instalments: () => this.state().periods.length,
    paid: () => this.text(this.state().totalPaid),
    waived: () => this.text(totalOf(this.state().waived)),
    'written off': () => this.text(this.state().totalWrittenOff),
    recovered: () => this.text(this.state().totalRecovered),
    'charged off on': () => this.state().chargedOffOn ?? '-',
    'closed on': () => this.state().closedOn ?? '-',
    quote: () => {
      const { interestWaived, settlementAmount, overpaid } = this.seen().quote
      return `${this.text(settlementAmount)}, waives ${this.text(interestWaived)}, over ${this.text(overpaid)}`
    },
    deducted: () => {
      const { product, principal } = this.naive
      const { feesDeducted, netDisbursed, apr } = quoteOf(product, principal, this.terms.disbursedOn)
      return `${this.text(feesDeducted)}, paid out ${this.text(netDisbursed)}, apr ${apr}`
    },
  }

  private effect(ordinal: number): string {
    if (this.entries[ordinal - 1]?.reversedAt !== null) return ' reversed'
    return this.named(this.seen().effects[ordinal] ?? {})
  }

  private owedOf(period: number): string {
    const { due, paid, waived, writtenOff } = this.state().periods[period - 1]!
    const owed = (part: keyof typeof due) => due[part] - paid[part] - waived[part] - writtenOff[part]
    const [penalty, fees, interest, principal] = [owed('penalty'), owed('fees'), owed('interest'), owed('principal')]
    return this.named({ penalty, fees, interest, principal }) || ' nothing'
  }

  private named(amounts: Readonly<Record<string, bigint>>): string {
    return Object.entries(amounts)
      .filter(([, minor]) => minor !== 0n)
      .map(([name, minor]) => ` ${name} ${this.text(minor)}`)
      .join('')
  }

  private text(minor: bigint): string {
    return minorToText(minor, this.terms.currency).replace(/\.00$/, '')
  }
}
