import type { Instant, LocalDate } from '../dates.ts'
import { bookedDay } from '../journal/posted.ts'
import { differencesOf, type Provision, type ProvisionBooking, provisionAmounts } from '../journal/provisions.ts'
import { amountsToText, type SlotAmounts } from '../journal/slots.ts'

/** A booking of provisions, as the trail and the events have it. */
export interface TrailedBooking {
  readonly changeId: bigint
  readonly at: Instant
  /** The number of its event; null where no receiver is told. */
  readonly told: bigint | null
  /** Undefined where the row of the trail is damaged: nothing is posted then. */
  readonly booking: ProvisionBooking | undefined
}

/** A posting of provisions, as it is stored. */
export interface ProvisionPosting {
  readonly id: bigint
  readonly changeId: bigint | null
  readonly sequence: bigint
  /** 0: of no product. */
  readonly productId: number
  readonly currency: string
  readonly transactionId: bigint | null
  readonly method: string | null
  readonly contribution: string | null
  readonly valueDate: LocalDate
  readonly bookedOn: LocalDate
  readonly postedAt: Instant
  readonly amounts: SlotAmounts
}

/** What a check finds of provisions: what it is of, and a sentence. */
export interface ProvisionFault {
  readonly of: string
  readonly message: string
}

/**
 * Makes the postings of provisions again from the bookings in the trail, and compares them.
 * @param bookings those that the journal has come to, in their order
 * @param postings in their order
 * @param openFromAt returns the first day that was open when the journal came to a change
 */
export function brokenByProvisions(
  bookings: readonly TrailedBooking[],
  postings: readonly ProvisionPosting[],
  openFromAt: (changeId: bigint) => LocalDate | null,
): ProvisionFault[] {
  const stored = Map.groupBy(postings, ({ changeId }) => changeId)
  /** The allowance by the bookings so far. */
  const allowance: (Provision & { readonly asOf: LocalDate })[] = []
  const faults: ProvisionFault[] = []
  for (const { changeId, booking, ...change } of bookings) {
    const own = stored.get(changeId) ?? []
    stored.delete(changeId)
    const found = own.map(postingText)
    const { asOf, provisions } = booking ?? { asOf: 'a damaged day', provisions: [] }
    const before = allowance.filter((one) => one.asOf <= asOf)
    const left = booking ? differencesOf(provisions, before) : []
    allowance.push(...left.map(({ difference: amount, ...one }) => ({ ...one, amount, asOf })))
    const bookedOn = bookedDay(asOf, openFromAt(changeId))
    const expected = left.map(({ difference, productId, currency }) =>
      postingText({
        valueDate: asOf,
        bookedOn,
        productId: productId ?? 0,
        currency,
        amounts: provisionAmounts(difference),
      }),
    )
    if (found.join('; ') !== expected.join('; '))
      faults.push({
        of: `provisions of ${asOf}, change ${changeId}`,
        message: `have the postings ${found.join('; ') || 'none'}, and by the trail they must be ${expected.join('; ') || 'none'}`,
      })
    faults.push(...own.flatMap((posting) => faultsOf(posting, change)))
  }
  for (const { id, changeId } of [...stored.values()].flat())
    faults.push({ of: `posting ${id}`, message: `is of change ${changeId ?? 'none'}, which books no provisions` })
  return faults
}

type Shown = Pick<ProvisionPosting, 'valueDate' | 'bookedOn' | 'productId' | 'currency' | 'amounts'>

const postingText = ({ valueDate, bookedOn, productId, currency, amounts }: Shown): string =>
  `${currency}, product ${productId}, of ${valueDate} on ${bookedOn}: ${amountsToText(amounts)}`

function faultsOf(
  { id, sequence, postedAt, transactionId, method, contribution }: ProvisionPosting,
  { at, told }: Pick<TrailedBooking, 'at' | 'told'>,
): ProvisionFault[] {
  const fault = (message: string): ProvisionFault => ({ of: `posting ${id}`, message })
  const faults: ProvisionFault[] = []
  if (postedAt !== at)
    faults.push(fault(`was posted at ${isoOf(postedAt)}, and by the trail the change was made at ${isoOf(at)}`))
  if (told !== null && sequence !== told)
    faults.push(fault(`is numbered ${sequence}, and the event of its change ${told}`))
  if (transactionId !== null || method !== null || contribution !== null)
    faults.push(fault('books provisions, and says what only a posting of a loan says'))
  return faults
}

const isoOf = (instant: Instant): string => new Date(instant).toISOString()
