import { dateIn } from '../../../src/domain/dates.ts'
import type { Entry } from '../../../src/domain/loan/entry.ts'
import type { LoanTerms } from '../../../src/domain/loan/terms/terms.ts'

// A book-keeper who goes through a loan day by day and posts each thing that happens, line by line, as it is taught: no
// formula of balances, and no code of the service. A second opinion on what a loan contributes to the accounts.

const PARTS = ['penalty', 'fees', 'interest', 'principal'] as const
type Part = (typeof PARTS)[number]
type Amounts = Record<Part, bigint>
type Account = string

interface Instalment {
  readonly dueDate: string
  readonly owed: Amounts
  readonly paid: Amounts
  /** Written off, and not recovered. */
  readonly lost: Amounts
}

const RECEIVABLE: Record<Part, Account> = {
  principal: 'loan_portfolio',
  interest: 'interest_receivable',
  fees: 'fees_receivable',
  penalty: 'penalties_receivable',
}
const INCOME = { interest: 'interest_income', fees: 'fee_income', penalty: 'penalty_income' } as const
const ON_THE_BOOKS = [...Object.values(RECEIVABLE), 'unearned_interest']

const zero = (): Amounts => ({ penalty: 0n, fees: 0n, interest: 0n, principal: 0n })
const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

class Books {
  readonly accounts = new Map<Account, bigint>()
  private readonly instalments: Instalment[]
  private readonly fallenDue = new Set<Instalment>()
  private overpaid = 0n
  private isChargedOff = false
  private isWrittenOff = false
  private hasPenalty = false
  /** After a charge-off: money that came in and is still here, and money of before that went out. */
  private recovered = 0n
  private furtherLoss = 0n

  private readonly terms: LoanTerms
  private readonly method: string

  constructor(terms: LoanTerms, method: string) {
    this.terms = terms
    this.method = method
    this.instalments = terms.schedule.map(({ dueDate, principal, interest, fees }) => ({
      ...{ dueDate, owed: { penalty: 0n, fees, interest, principal }, paid: zero(), lost: zero() },
    }))
    this.move('loan_portfolio', 'cash', terms.principal)
    for (const { owed } of this.instalments) {
      if (method !== 'cash')
        this.move(
          'interest_receivable',
          method === 'accrual_upfront' ? INCOME.interest : 'unearned_interest',
          owed.interest,
        )
      if (method === 'accrual_upfront') this.move('fees_receivable', INCOME.fees, owed.fees)
    }
  }

  private move(debit: Account, credit: Account, amount: bigint): void {
    this.accounts.set(debit, (this.accounts.get(debit) ?? 0n) + amount)
    this.accounts.set(credit, (this.accounts.get(credit) ?? 0n) - amount)
  }

  get owes(): bigint {
    return this.owesOf(PARTS)
  }

  get owesBesidesPenalties(): bigint {
    return this.owesOf(PARTS.filter((part) => part !== 'penalty'))
  }

  private owesOf(parts: readonly Part[]): bigint {
    return this.instalments.reduce((sum, { owed }) => sum + parts.reduce((all, part) => all + owed[part], 0n), 0n)
  }

  /** Instalments with a due date before the day have fallen due. */
  dayBegins(day: string): void {
    for (const instalment of this.instalments) {
      if (instalment.dueDate >= day || this.fallenDue.has(instalment)) continue
      this.fallenDue.add(instalment)
      if (this.method !== 'accrual_periodic' || this.isChargedOff) continue
      this.move('unearned_interest', INCOME.interest, instalment.owed.interest)
      this.move('fees_receivable', INCOME.fees, instalment.owed.fees)
    }
  }

  raisePenalty(): void {
    const { penaltyAmount, schedule } = this.terms
    if (this.hasPenalty || penaltyAmount === null || this.owesBesidesPenalties === 0n) return
    this.hasPenalty = true
    this.instalments[schedule.length - 1]!.owed.penalty += penaltyAmount
    if (this.method !== 'cash' && !this.isChargedOff) this.move('penalties_receivable', INCOME.penalty, penaltyAmount)
  }

  happens({ type, amount, valueDate, dueOn }: Entry): void {
    this.dayBegins(valueDate)
    if (type === 'Repayment' || type === 'Recovery Repayment') this.moneyIn(amount)
    else if (type === 'Refund') this.moneyOut(amount, valueDate, true)
    else if (type === 'Credit Balance Refund') this.moneyOut(amount, valueDate, false)
    else if (type === 'Waive Interest') this.giveUp(['interest'], amount, 'waivers')
    else if (type === 'Write-off') this.writeOff()
    else if (type === 'Fee') this.charge('fees', amount, dueOn ?? valueDate)
    else if (type === 'Penalty') this.charge('penalty', amount, dueOn ?? valueDate)
    else this.chargeOff()
  }

  private moneyIn(amount: bigint): void {
    let rest = amount
    for (const instalment of this.instalments)
      for (const part of PARTS) {
        const x = smaller(rest, instalment.owed[part])
        rest -= x
        this.pay(instalment, part, x)
      }
    if (this.isWrittenOff)
      for (const { lost } of this.instalments)
        for (const part of PARTS) {
          const x = smaller(rest, lost[part])
          rest -= x
          lost[part] -= x
          this.move('cash', 'recoveries', x)
        }
    this.overpaid += rest
    this.move('cash', 'overpayments', rest)
  }

  /** Pays a part of an instalment; an amount below 0 is taken back. */
  private pay(instalment: Instalment, part: Part, x: bigint): void {
    instalment.owed[part] -= x
    instalment.paid[part] += x
    if (this.isChargedOff) this.recover(x)
    else if (this.method === 'cash') this.move('cash', part === 'principal' ? RECEIVABLE.principal : INCOME[part], x)
    else if (this.isStillToCome(instalment, part)) {
      if (part === 'fees') this.move('cash', INCOME.fees, x)
      else {
        this.move('cash', 'interest_receivable', x)
        this.move('unearned_interest', INCOME.interest, x)
      }
    } else this.move('cash', RECEIVABLE[part], x)
  }

  private isStillToCome(instalment: Instalment, part: Part): boolean {
    const isByTime = part === 'interest' || part === 'fees'
    return this.method === 'accrual_periodic' && isByTime && !this.fallenDue.has(instalment)
  }

  /** Money on a loan that is charged off makes up for what was paid out since, and is recovered. */
  private recover(x: bigint): void {
    const regained = x > 0n ? smaller(x, this.furtherLoss) : -(-x - smaller(-x, this.recovered))
    this.furtherLoss -= regained
    this.recovered += x - regained
    this.move('cash', 'charge_offs', regained)
    this.move('cash', 'recoveries', x - regained)
  }

  private moneyOut(amount: bigint, on: string, alsoPaid: boolean): void {
    const surplus = smaller(amount, this.overpaid)
    this.overpaid -= surplus
    this.move('overpayments', 'cash', surplus)
    let rest = amount - surplus
    if (alsoPaid)
      for (const instalment of this.instalments.toReversed())
        for (const part of PARTS.toReversed()) {
          const x = smaller(rest, instalment.paid[part])
          rest -= x
          this.pay(instalment, part, -x)
        }
    if (rest > 0n) this.lendMore(rest, on)
  }

  /** An instalment due on or after a day; a new one where none is. */
  private dueFrom(day: string): Instalment {
    const known = this.instalments.find(({ dueDate }) => dueDate >= day)
    if (known) return known
    const instalment = { dueDate: day, owed: zero(), paid: zero(), lost: zero() }
    this.instalments.push(instalment)
    return instalment
  }

  /** A charge is income at once, or a fee of an instalment that is still to come, when it falls due. */
  private charge(part: 'fees' | 'penalty', amount: bigint, dueOn: string): void {
    const instalment = this.dueFrom(dueOn)
    instalment.owed[part] += amount
    if (this.method !== 'cash' && !this.isChargedOff && !this.isStillToCome(instalment, part))
      this.move(RECEIVABLE[part], INCOME[part], amount)
    const x = smaller(amount, this.overpaid)
    this.overpaid -= x
    this.move('overpayments', 'cash', x)
    this.moneyIn(x)
  }

  private lendMore(amount: bigint, on: string): void {
    this.dueFrom(on).owed.principal += amount
    this.move(this.isChargedOff ? 'charge_offs' : 'loan_portfolio', 'cash', amount)
  }

  private giveUp(parts: readonly Part[], amount: bigint, expense: Account): void {
    let rest = amount
    for (const instalment of this.instalments)
      for (const part of parts) {
        const x = smaller(rest, instalment.owed[part])
        rest -= x
        instalment.owed[part] -= x
        if (expense === 'write_offs') instalment.lost[part] += x
        if (!this.isChargedOff) this.expense(instalment, part, x, expense)
      }
  }

  private expense(instalment: Instalment, part: Part, x: bigint, expense: Account): void {
    if (this.method === 'cash') {
      if (part === 'principal') this.move(expense, 'loan_portfolio', x)
    } else if (!this.isStillToCome(instalment, part)) this.move(expense, RECEIVABLE[part], x)
    else if (part === 'interest') this.move('unearned_interest', 'interest_receivable', x)
  }

  private writeOff(): void {
    if (this.owes > 0n) this.isWrittenOff = true
    this.giveUp(PARTS, this.owes, 'write_offs')
  }

  private chargeOff(): void {
    if (this.owes === 0n || this.isChargedOff) return
    this.isChargedOff = true
    for (const account of ON_THE_BOOKS) this.move('charge_offs', account, this.accounts.get(account) ?? 0n)
  }
}

/** Returns the balance of each account by a method at a moment; accounts without one are left out. */
export function naiveBooks(
  terms: LoanTerms,
  entries: readonly Entry[],
  asOf: number,
  method: string,
): Record<Account, bigint> {
  const happened = entries
    .filter(({ reversedAt }) => reversedAt === null)
    .toSorted((a, b) => a.valueDate.localeCompare(b.valueDate) || a.place - b.place || a.ordinal - b.ordinal)
  const isLate = ({ type, valueDate, postedAt }: Entry) =>
    valueDate === terms.dueOn && postedAt >= terms.dueAt && (type === 'Charge-off' || type === 'Write-off')
  const inTime = happened.filter(({ valueDate }) => valueDate <= terms.dueOn)
  const books = new Books(terms, method)
  const isOver = asOf >= terms.dueAt && (!inTime.some(isLate) || owesInTime(terms, inTime, isLate))
  for (const [index, entry] of happened.entries()) {
    if (isOver && (index === inTime.length || isLate(entry))) books.raisePenalty()
    books.happens(entry)
  }
  if (isOver && inTime.length === happened.length) books.raisePenalty()
  books.dayBegins(dateIn(terms.zone, asOf))
  return Object.fromEntries([...books.accounts].filter(([, balance]) => balance !== 0n))
}

/** Returns whether anything was owed at the due time, before a write-off that came after it. */
function owesInTime(terms: LoanTerms, inTime: readonly Entry[], isLate: (entry: Entry) => boolean): boolean {
  const books = new Books(terms, 'cash')
  const writeOff = inTime.findIndex((entry) => entry.type === 'Write-off' && isLate(entry))
  for (const entry of writeOff === -1 ? inTime : inTime.slice(0, writeOff)) books.happens(entry)
  return books.owesBesidesPenalties > 0n
}
