import { describe, expect, it } from 'vitest'
import { LendingError } from '../../../src/domain/errors.ts'
import type { Entry, EntryType } from '../../../src/domain/loan/entry.ts'
import { adjust, type Decision, findByToken, post, reverse, stateOf } from '../../../src/domain/loan/loan.ts'
import { type LoanTerms, termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { type Decimal, parseDecimal } from '../../../src/domain/money.ts'
import { DEMO_PRODUCTS } from '../../../src/services/organizations/seedDemo.ts'
import {
  type Done,
  expectedRows,
  type Played,
  play,
  type SeenLoan,
  type SeenTransaction,
} from '../../support/playWorked.ts'
import {
  type Action,
  KINDS,
  type Kind,
  type Post,
  parseWorked,
  type Step,
  type Worked,
  workedByFile,
  workedLoans,
} from '../../support/worked.ts'

const ZONE = 'Africa/Nairobi'

const TYPES: Readonly<Record<Kind, EntryType>> = {
  repay: 'Repayment',
  recover: 'Recovery Repayment',
  waive: 'Waive Interest',
  refund: 'Refund',
  'pay-out': 'Credit Balance Refund',
  'charge-off': 'Charge-off',
  'write-off': 'Write-off',
}

const number = (minor: bigint): number => Number(minor) / 100

function decimal(text: string): Decimal {
  const parsed = parseDecimal(text)
  if (!parsed) throw new Error(`${text} is no amount`)
  return parsed
}

/** A worked loan played on the domain alone. */
class DomainLoan implements Played {
  private readonly terms: LoanTerms
  private entries: Entry[] = []
  private now: number

  constructor({ product, principal, disbursedAt }: Worked) {
    this.now = Date.parse(disbursedAt)
    this.terms = termsOf(DEMO_PRODUCTS.find(({ id }) => id === product)!, decimal(principal), this.now, ZONE)
  }

  at(moment: string): void {
    this.now = Date.parse(moment)
  }

  act({ action }: Step, ids: readonly string[]): Done {
    const seen =
      action.do === 'post' && action.token !== undefined ? findByToken(this.whole(), action.token) : undefined
    if (seen) return { answered: String(seen.id) }
    try {
      return this.save(this.decide(action, ids))
    } catch (error) {
      if (error instanceof LendingError) return { refused: error.code }
      throw error
    }
  }

  private decide(action: Action, ids: readonly string[]): Decision {
    const target = 'target' in action ? BigInt(ids[action.target - 1]!) : 0n
    switch (action.do) {
      case 'post':
        return post(this.whole(), this.posting(action), this.now)
      case 'adjust': {
        const { amount, dated } = action
        return adjust(this.whole(), target, { amount: decimal(amount), valueDate: dated, note: null }, this.now)
      }
      case 'reverse':
        return reverse(this.whole(), target, this.now, null)
      case 'look':
        throw new Error('nothing is decided by looking')
    }
  }

  private posting({ kind, amount, dated, token }: Post) {
    const plain = { type: TYPES[kind], amount: amount === null ? null : decimal(amount), note: null }
    return { ...plain, valueDate: dated, token: token ?? null }
  }

  private save({ posted, reversed }: Decision): Done {
    this.entries = this.entries.map((entry) => (entry === reversed ? { ...entry, reversedAt: this.now } : entry))
    if (!posted) return { answered: String(reversed!.id) }
    const id = BigInt(this.entries.length + 1)
    this.entries.push({ ...posted, id })
    return { answered: String(id) }
  }

  private whole() {
    return { terms: this.terms, entries: this.entries }
  }

  loan(): SeenLoan {
    const state = stateOf(this.whole(), this.now)
    return {
      principal: number(state.outstanding.principal),
      interest: number(state.outstanding.interest),
      penalty: number(state.outstanding.penalty),
      outstanding: number(state.totalOutstanding),
      overpaid: number(state.totalOverpaid),
      status: state.status,
      paid: number(state.totalPaid),
      waived: number(state.waived.interest),
      writtenOff: number(state.totalWrittenOff),
      recovered: number(state.totalRecovered),
      closedOn: state.closedOn,
      chargedOffOn: state.chargedOffOn,
      nextDueOn: state.nextDueOn,
      nextDueAmount: state.nextDueAmount === null ? null : number(state.nextDueAmount),
      overdueSince: state.overdueSince,
      daysOverdue: state.daysOverdue,
      overdue: number(state.totalOverdue),
      instalments: state.periods.map((period) => number(period.owed)),
    }
  }

  transaction(id: string): SeenTransaction {
    const entry = this.entries.find((candidate) => String(candidate.id) === id)!
    const outcome = stateOf(this.whole(), this.now).outcomes.get(entry.ordinal)
    return {
      amount: number(entry.amount),
      reversed: entry.reversedAt !== null,
      penalty: number(outcome?.portions.penalty ?? 0n),
      interest: number(outcome?.portions.interest ?? 0n),
      principal: number(outcome?.portions.principal ?? 0n),
      overpayment: number(outcome?.overpayment ?? 0n),
    }
  }
}

describe.each(workedByFile())('worked loans: %s', (_, loans) => {
  it.each(loans)('$title', async (worked) => {
    expect(await play(worked, new DomainLoan(worked))).toEqual(expectedRows(worked))
  })
})

it('there are worked loans of every operation', () => {
  const actions = workedLoans().flatMap(({ steps }) => steps.map(({ action }) => action))
  const done = new Set(actions.map((action) => (action.do === 'post' ? action.kind : action.do)))
  expect([...done].sort()).toEqual([...KINDS, 'adjust', 'look', 'reverse'].sort())
})

it.each([
  '2026-02-10 | repay 1 | 0 0 0 0',
  '10 Feb | look | 0 0 0 0 | Active',
  '2026-02-10 | pay 1 | 0 0 0 0 | Active',
])('a slip in a table is no worked loan: %s', (line) => {
  const text = `== title\nloan of 1000 on product 1, disbursed 2026-01-31\n${line}`
  expect(() => parseWorked('text', text)).toThrow(/is no(thing| line)/)
})
