import type { LocalDate } from '../../dates.ts'
import type { Balances, RecognizedTaxes } from '../balances.ts'
import { portionsToText } from '../carriedForward/portionsText.ts'
import type { Entry } from '../entry.ts'
import type { Outcome } from '../outcomes.ts'
import { NONE, type Portions } from '../portions.ts'
import type { AtChargeOff, Forgone, Unearned } from '../recognition.ts'
import { roleToText } from '../restructure/planText.ts'
import type { ChangeableTerms, LoanChanged } from './change.ts'
import type { Contract } from './contractText.ts'

/** Balances that no receiver is told of. */
type Untold = 'daysOverdue' | 'penaltyOverdue' | 'nextChangeAt'

/** The balances of a loan, as the trail has them. Amounts in minor units. */
export type ToldBalances = Omit<Balances, Untold>

/** An entry that a change reversed. */
export type ReversedEntry = Pick<Entry, 'id' | 'type' | 'amount'>

/** An entry that a change posted, as it was then. */
export type PostedEntry = Required<Omit<Entry, 'reversedAt'>>

/** The figures of a loan that the trail shows of it before and after a change. Amounts in minor units. */
export type ShownFigures = Pick<
  Balances,
  'status' | 'totalOutstanding' | 'totalPaid' | 'totalOverpaid' | 'totalWrittenOff' | 'totalRecovered' | 'chargedOffOn'
>

/** A change of a loan, as the trail has it. Amounts in minor units. */
export interface StoredChange
  extends ToldBalances,
    Pick<
      LoanChanged,
      'version' | 'on' | 'isImported' | 'productId' | 'currency' | 'terms' | 'consequences' | 'reason'
    > {
  /** Null for a loan that was made. */
  readonly before: ShownFigures | null
  readonly posted: PostedEntry | null
  readonly reversed: ReversedEntry | null
  /** The effect of the entry that was posted. */
  readonly outcome: Pick<Outcome, 'portions' | 'overpayment'> | undefined
  readonly between: (ToldBalances & { readonly on: LocalDate }) | null
}

/**
 * Writes a change of a loan as JSON, by the names of its members. Amounts are texts of minor units; a member of nothing is
 * left out: an amount of 0, a day that there is none of, `false`. Of the loan before the change only what differs is written.
 * The value date of the entry that was posted is the day of the change.
 * @param made the contract of a loan that the change makes
 */
export function changeToText(changed: LoanChanged, made?: Contract): string {
  const { version, on, isImported, before, after, between, posted, reversed, reason, outcome } = changed
  const { productId, currency, terms, consequences } = changed
  return JSON.stringify({
    made,
    version,
    on,
    product: productId ?? undefined,
    currency,
    imported: isImported || undefined,
    events: consequences.length > 0 ? consequences : undefined,
    posted: posted ? writtenEntry(posted) : undefined,
    reversed: reversed ? writtenReversed(reversed) : undefined,
    reason: reason ?? undefined,
    before: before ? writtenBefore(before, after) : undefined,
    outcome: outcome && {
      portions: writtenPortions(outcome.portions),
      overpayment: writtenAmount(outcome.overpayment),
    },
    balances: writtenBalances(after),
    terms: terms ? writtenTerms(terms) : undefined,
    between: between ? { on: between.on, balances: writtenBalances(between.balances) } : undefined,
  })
}

const NO_PORTIONS = portionsToText(NONE)

const writtenAmount = (minor: bigint): string | undefined => (minor === 0n ? undefined : String(minor))

/** Writes an amount of each component as one text, `penalty,fees,interest,principal`: three of them are in each change. */
function writtenPortions(portions: Readonly<Portions>): string | undefined {
  const text = portionsToText(portions)
  return text === NO_PORTIONS ? undefined : text
}

const writtenUnearned = ({ interest, fees }: Unearned): object | undefined =>
  interest === 0n && fees === 0n ? undefined : { interest: writtenAmount(interest), fees: writtenAmount(fees) }

function writtenForgone({ waived, writtenOff }: Forgone): object | undefined {
  const written = { waived: writtenUnearned(waived), writtenOff: writtenUnearned(writtenOff) }
  return written.waived || written.writtenOff ? written : undefined
}

const writtenEntry = (entry: Entry): object => ({
  id: String(entry.id),
  type: entry.type,
  amount: writtenAmount(entry.amount),
  at: entry.postedAt,
  ordinal: entry.ordinal,
  place: entry.place === entry.ordinal ? undefined : entry.place,
  token: entry.token ?? undefined,
  note: entry.note ?? undefined,
  replaces: entry.replaces === null ? undefined : String(entry.replaces),
  method: entry.paymentMethod ?? undefined,
  dueOn: entry.dueOn ?? undefined,
  restructure: entry.restructure ? roleToText(entry.restructure) : undefined,
  payment: entry.paymentId ? String(entry.paymentId) : undefined,
  record: entry.record ?? undefined,
})

const writtenReversed = ({ id, type, amount }: ReversedEntry): object => ({
  id: String(id),
  type,
  amount: writtenAmount(amount),
})

/** Returns the figures before a change that differ from those after it. */
const writtenBefore = (before: ShownFigures, after: ShownFigures): object => ({
  status: before.status === after.status ? undefined : before.status,
  outstanding: writtenDifferent(before.totalOutstanding, after.totalOutstanding),
  paid: writtenDifferent(before.totalPaid, after.totalPaid),
  overpaid: writtenDifferent(before.totalOverpaid, after.totalOverpaid),
  writtenOff: writtenDifferent(before.totalWrittenOff, after.totalWrittenOff),
  recovered: writtenDifferent(before.totalRecovered, after.totalRecovered),
  chargedOffOn: before.chargedOffOn === after.chargedOffOn ? undefined : before.chargedOffOn,
})

/** Returns an amount that differs from another, also where the amount is 0. */
const writtenDifferent = (minor: bigint, other: bigint): string | undefined =>
  minor === other ? undefined : String(minor)

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
  restructuredDueOn: balances.restructuredDueOn ?? undefined,
  penaltiesRaised: balances.penaltiesRaised || undefined,
  interestAfterDue: writtenAmount(balances.interestAfterDue),
  unearned: writtenUnearned(balances.unearned),
  forgone: writtenForgone(balances.forgone),
  deducted: writtenAmount(balances.deducted),
  taxes: balances.taxes ? writtenTaxes(balances.taxes) : undefined,
  fromPayments: writtenAmount(balances.fromPayments),
  atChargeOff: balances.atChargeOff ? writtenAtChargeOff(balances.atChargeOff) : undefined,
})

const writtenTaxes = ({ interest, fees, deducted }: RecognizedTaxes): object => ({
  interest: writtenAmount(interest),
  fees: writtenAmount(fees),
  deducted: writtenAmount(deducted),
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
