import type { LocalDate } from '../../dates.ts'
import { toDay } from '../../dates.ts'
import { EVENT_TYPES, type EventType } from '../../events/eventTypes.ts'
import type { Balances, Recognition } from '../balances.ts'
import { ENTRY_TYPES, type Entry, type EntryType } from '../entry.ts'
import { LOAN_STATUSES, type LoanStatus } from '../lifecycle.ts'
import type { Outcome } from '../outcomes.ts'
import { COMPONENTS, type Portions, subtract, totalOf } from '../portions.ts'
import type { AtChargeOff, Forgone, Unearned } from '../recognition.ts'
import type { ChangeableTerms, LoanChanged } from './change.ts'

/** Balances that no receiver is told of. */
type Untold = 'daysOverdue' | 'penaltyOverdue' | 'nextChangeAt'

/** The balances of a loan, as the trail has them. Amounts in minor units. */
export type ToldBalances = Omit<Balances, Untold>

/** An entry that a change posted or reversed, by its id. */
export type NamedEntry = Pick<Entry, 'id' | 'type'>

/** A change of a loan, as the trail has it. Amounts in minor units. */
export interface StoredChange
  extends ToldBalances,
    Pick<LoanChanged, 'version' | 'on' | 'isImported' | 'terms' | 'consequences'> {
  readonly posted: NamedEntry | null
  readonly reversed: NamedEntry | null
  /** The effect of the entry that was posted. */
  readonly outcome: Pick<Outcome, 'portions' | 'overpayment'> | undefined
  readonly between: (ToldBalances & { readonly on: LocalDate }) | null
}

/**
 * Writes a change of a loan as JSON, by the names of its members. Amounts are texts of minor units; a member of nothing is
 * left out: an amount of 0, a day that there is none of, `false`.
 */
export function changeToText(changed: LoanChanged): string {
  const { version, on, isImported, after, between, posted, reversed, outcome, terms, consequences } = changed
  return JSON.stringify({
    version,
    on,
    imported: isImported || undefined,
    events: consequences.length > 0 ? consequences : undefined,
    posted: posted ? writtenEntry(posted) : undefined,
    reversed: reversed ? writtenEntry(reversed) : undefined,
    outcome: outcome && {
      portions: writtenPortions(outcome.portions),
      overpayment: writtenAmount(outcome.overpayment),
    },
    balances: writtenBalances(after),
    terms: terms ? writtenTerms(terms) : undefined,
    between: between ? { on: between.on, balances: writtenBalances(between.balances) } : undefined,
  })
}

const writtenAmount = (minor: bigint): string | undefined => (minor === 0n ? undefined : String(minor))

function writtenPortions(portions: Readonly<Portions>): object | undefined {
  if (totalOf(portions) === 0n && COMPONENTS.every((component) => portions[component] === 0n)) return undefined
  const { penalty, fees, interest, principal } = portions
  return {
    penalty: writtenAmount(penalty),
    fees: writtenAmount(fees),
    interest: writtenAmount(interest),
    principal: writtenAmount(principal),
  }
}

const writtenUnearned = ({ interest, fees }: Unearned): object | undefined =>
  interest === 0n && fees === 0n ? undefined : { interest: writtenAmount(interest), fees: writtenAmount(fees) }

function writtenForgone({ waived, writtenOff }: Forgone): object | undefined {
  const written = { waived: writtenUnearned(waived), writtenOff: writtenUnearned(writtenOff) }
  return written.waived || written.writtenOff ? written : undefined
}

const writtenEntry = ({ id, type }: NamedEntry): object => ({ id: String(id), type })

const writtenBalances = (balances: ToldBalances): object => ({
  status: balances.status,
  charged: writtenPortions(balances.charged),
  paid: writtenPortions(balances.paid),
  waived: writtenPortions(balances.waived),
  writtenOff: writtenPortions(balances.writtenOff),
  recovered: writtenAmount(balances.totalRecovered),
  overpaid: writtenAmount(balances.totalOverpaid),
  overdue: writtenAmount(balances.totalOverdue),
  nextDueOn: balances.nextDueOn ?? undefined,
  nextDueAmount: balances.nextDueAmount === null ? undefined : String(balances.nextDueAmount),
  overdueSince: balances.overdueSince ?? undefined,
  chargedOffOn: balances.chargedOffOn ?? undefined,
  closedOn: balances.closedOn ?? undefined,
  penaltiesRaised: balances.penaltiesRaised || undefined,
  unearned: writtenUnearned(balances.unearned),
  forgone: writtenForgone(balances.forgone),
  deducted: writtenAmount(balances.deducted),
  atChargeOff: balances.atChargeOff ? writtenAtChargeOff(balances.atChargeOff) : undefined,
})

const writtenAtChargeOff = (at: AtChargeOff): object => ({
  due: writtenPortions(at.due),
  paid: writtenPortions(at.paid),
  waived: writtenPortions(at.waived),
  writtenOff: writtenPortions(at.writtenOff),
  unearned: writtenUnearned(at.unearned),
  forgone: writtenForgone(at.forgone),
})

const writtenTerms = (terms: ChangeableTerms): object => ({
  customerId: String(terms.customerId),
  principal: String(terms.principal),
  numberOfRepayments: terms.numberOfRepayments,
  ratePerPeriod: String(terms.ratePerPeriod),
  disbursedAt: terms.disbursedAt,
  disbursedOn: terms.disbursedOn,
  dueOn: terms.dueOn,
  dueAt: terms.dueAt,
})

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

const readChange = (members: Members): StoredChange => ({
  ...readBalances(objectIn(members.balances)),
  version: countIn(members.version),
  on: dayIn(members.on),
  isImported: members.imported === true,
  consequences: eventsIn(members.events),
  posted: members.posted === undefined ? null : entryIn(objectIn(members.posted)),
  reversed: members.reversed === undefined ? null : entryIn(objectIn(members.reversed)),
  outcome: members.outcome === undefined ? undefined : outcomeIn(objectIn(members.outcome)),
  terms: members.terms === undefined ? null : termsIn(objectIn(members.terms)),
  between: members.between === undefined ? null : betweenIn(objectIn(members.between)),
})

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
    penaltiesRaised: members.penaltiesRaised === undefined ? 0 : countIn(members.penaltiesRaised),
  }
}

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

function instantIn(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new SyntaxError('an instant')
  return value
}

function statusIn(value: unknown): LoanStatus {
  const status = LOAN_STATUSES.find((one) => one === value)
  if (status === undefined) throw new SyntaxError('a status')
  return status
}

function portionsIn(value: unknown): Portions {
  const { penalty, fees, interest, principal } = value === undefined ? {} : objectIn(value)
  return {
    penalty: amountIn(penalty),
    fees: amountIn(fees),
    interest: amountIn(interest),
    principal: amountIn(principal),
  }
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

function entryIn({ id, type }: Members): NamedEntry {
  if (!IS_ENTRY_TYPE.has(type)) throw new SyntaxError('a type of entries')
  return { id: integerIn(id), type: type as EntryType }
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
  disbursedAt: instantIn(members.disbursedAt),
  disbursedOn: dayIn(members.disbursedOn),
  dueOn: dayIn(members.dueOn),
  dueAt: instantIn(members.dueAt),
})

const betweenIn = ({ on, balances }: Members): StoredChange['between'] => ({
  ...readBalances(objectIn(balances)),
  on: dayIn(on),
})
