import { isCalendarDate, type LocalDate } from '../dates.ts'
import { NO_AMOUNTS, type SlotAmounts } from './slots.ts'

/** What is expected to be lost of the loans of a product, or of the loans without one, in a currency. */
export interface Provision {
  /** Null: the loans without a product. */
  readonly productId: number | null
  /** The code of the currency. */
  readonly currency: string
  /** Minor units, 0 or more. */
  readonly amount: bigint
}

/** The provisions of a portfolio at the end of a day, as the trail keeps them. */
export interface ProvisionBooking {
  readonly asOf: LocalDate
  readonly provisions: readonly Provision[]
}

/** A provision, what was booked of it before, and what is left to book: amounts in minor units. */
export interface ProvisionDifference extends Omit<Provision, 'amount'> {
  readonly provision: bigint
  readonly bookedBefore: bigint
  /** Below 0 where less is expected to be lost than was booked. */
  readonly difference: bigint
}

/**
 * Returns what is left to book of provisions, by currency and product; nothing where the provision is booked. What is
 * booked and is no provision any more is taken to 0.
 * @param booked the allowance as of the day of the provisions
 */
export function differencesOf(provisions: readonly Provision[], booked: readonly Provision[]): ProvisionDifference[] {
  const left = new Map<string, Omit<ProvisionDifference, 'difference'>>()
  const add = ({ productId, currency }: Provision, provision: bigint, bookedBefore: bigint) => {
    const key = `${currency} ${productId ?? 0}`
    const known = left.get(key) ?? { productId, currency, provision: 0n, bookedBefore: 0n }
    const sums = { provision: known.provision + provision, bookedBefore: known.bookedBefore + bookedBefore }
    left.set(key, { ...known, ...sums })
  }
  for (const one of provisions) add(one, one.amount, 0n)
  for (const one of booked) add(one, 0n, one.amount)
  return [...left.values()]
    .map((one) => ({ ...one, difference: one.provision - one.bookedBefore }))
    .filter(({ difference }) => difference !== 0n)
    .toSorted(byCurrency)
}

const byCurrency = (a: ProvisionDifference, b: ProvisionDifference): number =>
  a.currency === b.currency ? (a.productId ?? 0) - (b.productId ?? 0) : a.currency < b.currency ? -1 : 1

/** Returns the amounts of the posting that books a difference: more that may be lost is an expense, and allowance. */
export const provisionAmounts = (difference: bigint): SlotAmounts => ({
  ...NO_AMOUNTS,
  provision_expense: difference,
  loan_loss_allowance: -difference,
})

/** A booking as it is read from the trail: each value as text, null where it is not there. */
export interface BookingTexts {
  readonly asOf: string | null
  /** Of each provision the product, the currency and the amount. */
  readonly provisions: readonly (readonly (string | null)[])[] | null
}

/** Reads a booking of the trail; undefined for one that is damaged. */
export function bookingOf({ asOf, provisions }: BookingTexts): ProvisionBooking | undefined {
  if (asOf === null || !isCalendarDate(asOf)) return undefined
  const read = (provisions ?? []).map(provisionOf)
  return read.includes(undefined) ? undefined : { asOf, provisions: read.filter((one) => one !== undefined) }
}

function provisionOf([productId = null, currency = null, amount = null]: readonly (string | null)[]) {
  const isProduct = productId === null || /^[1-9]\d{0,8}$/.test(productId)
  if (!isProduct || currency === null || amount === null || !/^\d{1,18}$/.test(amount)) return undefined
  return { productId: productId === null ? null : Number(productId), currency, amount: BigInt(amount) }
}
