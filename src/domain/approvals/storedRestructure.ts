import type { LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import type { AddedInterest, RestructureReason, ScheduleChange } from '../loan/restructure/plan.ts'
import type {
  AskedChange,
  RestructureFee,
  RestructureRequest,
  RestructureTerms,
} from '../loan/restructure/restructureLoan.ts'
import type { Decimal } from '../money.ts'
import type { Distance, RatePer } from '../product/terms.ts'

/** A decimal as JSON keeps it exactly. */
interface StoredDecimal {
  readonly units: string
  readonly scale: number
}

const toStored = ({ units, scale }: Decimal): StoredDecimal => ({ units: String(units), scale })
const fromStored = ({ units, scale }: StoredDecimal): Decimal => ({ units: BigInt(units), scale })

type StoredChange =
  | Exclude<ScheduleChange, { kind: 'instalmentAmount' }>
  | { readonly kind: 'instalmentAmount'; readonly amount: StoredDecimal }

/** A request to restructure a loan that waits, as JSON, without its effective date and its note. */
export interface StoredRestructure {
  readonly change: StoredChange
  readonly interest: 'keep' | 'none' | { readonly rate: string; readonly ratePer: RatePer }
  readonly fee: (Omit<RestructureFee, 'amount'> & { readonly amount: StoredDecimal }) | null
  readonly waive: Readonly<Partial<Record<'penalty' | 'fees' | 'interest', StoredDecimal>>>
  readonly reason: RestructureReason
  readonly every: Distance
  readonly limits: {
    readonly maxTimes: number | null
    readonly minPaidPercent: string | null
    readonly maxDaysAdded: number | null
  } | null
}

/** Returns what is kept of a request to restructure a loan. */
export const toStoredRestructure = (
  { change, interest, fee, waive, reason }: RestructureRequest,
  { every, limits }: RestructureTerms,
): StoredRestructure => ({
  change: change.kind === 'instalmentAmount' ? { kind: change.kind, amount: toStored(change.amount) } : change,
  interest: typeof interest === 'string' ? interest : { rate: String(interest.rate), ratePer: interest.ratePer },
  fee: fee && { name: fee.name, amount: toStored(fee.amount), treatment: fee.treatment },
  waive: {
    ...(waive.penalty && { penalty: toStored(waive.penalty) }),
    ...(waive.fees && { fees: toStored(waive.fees) }),
    ...(waive.interest && { interest: toStored(waive.interest) }),
  },
  reason,
  every,
  limits: limits && { ...limits, minPaidPercent: limits.minPaidPercent?.toString() ?? null },
})

/** Returns a request to restructure a loan from what is kept of it. */
export function fromStoredRestructure(
  stored: StoredRestructure | undefined,
  { effectiveDate, note }: { readonly effectiveDate: LocalDate | undefined; readonly note: string | null },
): { readonly request: RestructureRequest; readonly terms: RestructureTerms } {
  invariant(stored, 'a stored request to restructure a loan')
  const { fee, waive, reason, every, limits } = stored
  return {
    request: {
      effectiveDate,
      change: changeOf(stored.change),
      interest: interestOf(stored.interest),
      fee: fee && { name: fee.name, amount: fromStored(fee.amount), treatment: fee.treatment },
      waive: {
        ...(waive.penalty && { penalty: fromStored(waive.penalty) }),
        ...(waive.fees && { fees: fromStored(waive.fees) }),
        ...(waive.interest && { interest: fromStored(waive.interest) }),
      },
      reason,
      note,
    },
    terms: {
      every,
      limits: limits && {
        maxTimes: limits.maxTimes,
        minPaidPercent: limits.minPaidPercent === null ? null : BigInt(limits.minPaidPercent),
        maxDaysAdded: limits.maxDaysAdded,
      },
    },
  }
}

const changeOf = (change: StoredChange): AskedChange =>
  change.kind === 'instalmentAmount' ? { kind: change.kind, amount: fromStored(change.amount) } : change

const interestOf = (interest: StoredRestructure['interest']): AddedInterest =>
  typeof interest === 'string' ? interest : { rate: BigInt(interest.rate), ratePer: interest.ratePer }
