import { type LocalDate, toDay } from '../../dates.ts'
import { EVENT_TYPES, type EventType } from '../../events/eventTypes.ts'
import type { Recognition, RecognizedTaxes } from '../balances.ts'
import { portionsFromText } from '../carriedForward/portionsText.ts'
import { ENTRY_TYPES, type EntryType, type RepaymentRecord } from '../entry.ts'
import { LOAN_STATUSES, type LoanStatus } from '../lifecycle.ts'
import { NONE, type Portions, subtract, totalOf } from '../portions.ts'
import type { AtChargeOff, Forgone, Unearned } from '../recognition.ts'
import { roleFromText } from '../restructure/planText.ts'
import type { ChangeableTerms } from './change.ts'
import type { PostedEntry, ReversedEntry, ShownFigures, StoredChange, ToldBalances } from './changeText.ts'

/** Reads a change from its text; undefined for a damaged one. */
export function changeFromText(text: string): StoredChange | undefined {
  try {
    return readChange(objectIn(JSON.parse(text)))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Members of JSON by their names. */
type Members = Readonly<Record<string, unknown>>

function readChange(members: Members): StoredChange {
  const balances = readBalances(objectIn(members.balances))
  const on = dayIn(members.on)
  return {
    ...balances,
    on,
    version: countIn(members.version),
    productId: members.product === undefined ? null : integerNumberIn(members.product),
    currency: textIn(members.currency),
    isImported: members.imported === true,
    consequences: eventsIn(members.events),
    posted: members.posted === undefined ? null : entryIn(objectIn(members.posted), on),
    reversed: members.reversed === undefined ? null : reversedIn(objectIn(members.reversed)),
    reason: textOrNull(members.reason),
    before: members.before === undefined ? null : beforeIn(objectIn(members.before), balances),
    outcome: members.outcome === undefined ? undefined : outcomeIn(objectIn(members.outcome)),
    terms: members.terms === undefined ? null : termsIn(objectIn(members.terms)),
    between: members.between === undefined ? null : betweenIn(objectIn(members.between)),
  }
}

function readBalances(members: Members): ToldBalances {
  const charged = portionsIn(members.charged)
  const paid = portionsIn(members.paid)
  const waived = portionsIn(members.waived)
  const writtenOff = portionsIn(members.writtenOff)
  const outstanding = subtract(subtract(subtract(charged, paid), waived), writtenOff)
  const recognition: Recognition = {
    unearned: unearnedIn(members.unearned),
    forgone: forgoneIn(members.forgone),
    deducted: amountIn(members.deducted),
    taxes: members.taxes === undefined ? null : taxesIn(objectIn(members.taxes)),
    fromPayments: amountIn(members.fromPayments),
    atChargeOff: members.atChargeOff === undefined ? null : atChargeOffIn(objectIn(members.atChargeOff)),
  }
  return {
    ...recognition,
    status: statusIn(members.status),
    charged,
    paid,
    waived,
    writtenOff,
    outstanding,
    totalPaid: totalOf(paid),
    totalOutstanding: totalOf(outstanding),
    totalWrittenOff: totalOf(writtenOff),
    totalRecovered: amountIn(members.recovered),
    totalOverpaid: amountIn(members.overpaid),
    totalOverdue: amountIn(members.overdue),
    nextDueOn: dayOrNull(members.nextDueOn),
    nextDueAmount: members.nextDueAmount === undefined ? null : amountIn(members.nextDueAmount),
    overdueSince: dayOrNull(members.overdueSince),
    chargedOffOn: dayOrNull(members.chargedOffOn),
    closedOn: dayOrNull(members.closedOn),
    restructuredDueOn: dayOrNull(members.restructuredDueOn),
    penaltiesRaised: members.penaltiesRaised === undefined ? 0 : countIn(members.penaltiesRaised),
    interestAfterDue: amountIn(members.interestAfterDue),
  }
}

const taxesIn = ({ interest, fees, deducted }: Members): RecognizedTaxes => ({
  interest: amountIn(interest),
  fees: amountIn(fees),
  deducted: amountIn(deducted),
})

function objectIn(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('an object')
  return value as Members
}

const DIGITS = /^-?\d{1,30}$/

/** Reads an amount in minor units; 0 where there is none. @throws SyntaxError for a text that is no whole number */
function amountIn(value: unknown): bigint {
  if (value === undefined) return 0n
  if (typeof value !== 'string' || !DIGITS.test(value)) throw new SyntaxError('an amount')
  return BigInt(value)
}

function integerIn(value: unknown): bigint {
  if (value === undefined) throw new SyntaxError('a whole number')
  return amountIn(value)
}

const dayIn = (value: unknown): LocalDate => toDay(typeof value === 'string' ? value : '')

const dayOrNull = (value: unknown): LocalDate | null => (value === undefined ? null : dayIn(value))

/** @throws SyntaxError for anything but a whole number from 1 on */
function countIn(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) throw new SyntaxError('a count')
  return value
}

/** @throws SyntaxError for anything but a whole number that a double holds: an instant, or the number of a product */
function integerNumberIn(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new SyntaxError('a whole number')
  return value
}

function textIn(value: unknown): string {
  if (typeof value !== 'string') throw new SyntaxError('a text')
  return value
}

const textOrNull = (value: unknown): string | null => (value === undefined ? null : textIn(value))

function statusIn(value: unknown): LoanStatus {
  const status = LOAN_STATUSES.find((one) => one === value)
  if (status === undefined) throw new SyntaxError('a status')
  return status
}

const PORTIONS = /^(-?\d{1,30})?,(-?\d{1,30})?,(-?\d{1,30})?,(-?\d{1,30})?$/

/** Reads an amount of each component; none where there is no text. @throws SyntaxError */
function portionsIn(value: unknown): Portions {
  if (value === undefined) return NONE
  if (typeof value !== 'string' || !PORTIONS.test(value)) throw new SyntaxError('an amount of each component')
  return portionsFromText(value)
}

function unearnedIn(value: unknown): Unearned {
  const { interest, fees } = value === undefined ? {} : objectIn(value)
  return { interest: amountIn(interest), fees: amountIn(fees) }
}

function forgoneIn(value: unknown): Forgone {
  const { waived, writtenOff } = value === undefined ? {} : objectIn(value)
  return { waived: unearnedIn(waived), writtenOff: unearnedIn(writtenOff) }
}

const atChargeOffIn = (members: Members): AtChargeOff => ({
  due: portionsIn(members.due),
  paid: portionsIn(members.paid),
  waived: portionsIn(members.waived),
  writtenOff: portionsIn(members.writtenOff),
  unearned: unearnedIn(members.unearned),
  forgone: forgoneIn(members.forgone),
})

const IS_ENTRY_TYPE: ReadonlySet<unknown> = new Set(ENTRY_TYPES)
const IS_EVENT_TYPE: ReadonlySet<unknown> = new Set(EVENT_TYPES)

function entryTypeIn(value: unknown): EntryType {
  if (!IS_ENTRY_TYPE.has(value)) throw new SyntaxError('a type of entries')
  return value as EntryType
}

function entryIn(members: Members, valueDate: LocalDate): PostedEntry {
  const ordinal = countIn(members.ordinal)
  return {
    id: integerIn(members.id),
    type: entryTypeIn(members.type),
    valueDate,
    postedAt: integerNumberIn(members.at),
    ordinal,
    place: members.place === undefined ? ordinal : countIn(members.place),
    amount: amountIn(members.amount),
    token: textOrNull(members.token),
    note: textOrNull(members.note),
    replaces: members.replaces === undefined ? null : integerIn(members.replaces),
    record: members.record === undefined ? null : recordIn(objectIn(members.record)),
    paymentMethod: textOrNull(members.method),
    dueOn: dayOrNull(members.dueOn),
    restructure: members.restructure === undefined ? null : roleFromText(textIn(members.restructure)),
    paymentId: members.payment === undefined ? null : integerIn(members.payment),
  }
}

const recordIn = ({ method, collectedBy }: Members): RepaymentRecord => ({
  method: method === null ? null : textIn(method),
  collectedBy: collectedBy === null ? null : textIn(collectedBy),
})

const reversedIn = ({ id, type, amount }: Members): ReversedEntry => ({
  id: integerIn(id),
  type: entryTypeIn(type),
  amount: amountIn(amount),
})

/** Returns the figures before a change: those after it, where nothing else is written. */
const beforeIn = (members: Members, after: ShownFigures): ShownFigures => ({
  status: members.status === undefined ? after.status : statusIn(members.status),
  totalOutstanding: members.outstanding === undefined ? after.totalOutstanding : amountIn(members.outstanding),
  totalPaid: members.paid === undefined ? after.totalPaid : amountIn(members.paid),
  totalOverpaid: members.overpaid === undefined ? after.totalOverpaid : amountIn(members.overpaid),
  totalWrittenOff: members.writtenOff === undefined ? after.totalWrittenOff : amountIn(members.writtenOff),
  totalRecovered: members.recovered === undefined ? after.totalRecovered : amountIn(members.recovered),
  chargedOffOn: chargedOffOnBefore(members.chargedOffOn, after),
})

function chargedOffOnBefore(value: unknown, after: ShownFigures): LocalDate | null {
  if (value === undefined) return after.chargedOffOn
  return value === null ? null : dayIn(value)
}

function eventsIn(value: unknown): readonly EventType[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((type) => IS_EVENT_TYPE.has(type)))
    throw new SyntaxError('a list of types of events')
  return value
}

const outcomeIn = ({ portions, overpayment }: Members): StoredChange['outcome'] => ({
  portions: portionsIn(portions),
  overpayment: amountIn(overpayment),
})

const termsIn = (members: Members): ChangeableTerms => ({
  customerId: integerIn(members.customerId),
  principal: integerIn(members.principal),
  numberOfRepayments: countIn(members.numberOfRepayments),
  ratePerPeriod: integerIn(members.ratePerPeriod),
  disbursedAt: integerNumberIn(members.disbursedAt),
  disbursedOn: dayIn(members.disbursedOn),
  dueOn: dayIn(members.dueOn),
  dueAt: integerNumberIn(members.dueAt),
})

const betweenIn = ({ on, balances }: Members): StoredChange['between'] => ({
  ...readBalances(objectIn(balances)),
  on: dayIn(on),
})
