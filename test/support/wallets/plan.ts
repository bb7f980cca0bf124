import { tellsReversals, writeMessage } from '../../../src/domain/payments/adapters/write.ts'
import { ADAPTERS, type AdapterName } from '../../../src/domain/payments/adapters.ts'

/** A wallet of a lender: a payment channel, and the path of its address. */
export interface Wallet {
  readonly channelId: string
  readonly path: string
  readonly adapter: AdapterName
}

/** Money that moved on a wallet, as its provider knows it: a payment, or one that is taken back. Amount in cents. */
export interface Moved {
  readonly wallet: Wallet
  readonly receipt: string
  readonly amount: bigint
  readonly reference: string
  /** The loan that the reference names, by its externalId; undefined where it names none. */
  readonly loan: string | undefined
  /** The day on which it moved, from 0. */
  readonly day: number
  readonly at: number
  /** The payment that is taken back; undefined of a payment. */
  readonly reverses: Moved | undefined
}

/** A message of a provider. */
export interface Told {
  readonly moved: Moved
  readonly method: 'POST' | 'PUT'
  readonly text: string
}

/** What a plan is made of. */
export interface PlanOptions {
  readonly payments: number
  readonly days: number
  readonly wallets: readonly Wallet[]
  readonly loans: readonly string[]
  /** Returns a random whole number from 0, below another. */
  readonly below: (most: number) => number
  /** Returns the moment at which the clock of the lender stands on a day: noon. */
  readonly noonOf: (day: number) => number
}

/** The zone of the wallets. */
export const ZONE = 'Africa/Nairobi'

/** Of a hundred payments: how many have a reference of nobody, are told twice, and are taken back. */
const [WRONG, TWICE, REVERSED] = [10, 5, 2]
const HOUR_MS = 3_600_000
const LARGEST = 500_000

/** Whether a provider says when money moved; of another one the moment of receipt counts. */
const saysWhen = ({ adapter }: Wallet): boolean => ADAPTERS[adapter].times.length > 0
/** Whether a provider tells of what it takes back. The others of the nine take nothing back in this plan. */
const canReverse = ({ adapter }: Wallet): boolean => tellsReversals(ADAPTERS[adapter])

/**
 * Plans the messages of some days, in the order in which they are sent: each payment in the form of its provider, some of them a day
 * late, some twice, and some taken back on that day or the next, before or after the message of the payment.
 */
export function planMessages(options: PlanOptions): Told[][] {
  const { payments, days, wallets, below } = options
  const toldOn: Told[][] = Array.from({ length: days }, () => [])
  const reversible = wallets.filter(canReverse).length
  for (let number = 0; number < payments; number++) {
    const wallet = wallets[number % wallets.length]!
    const day = below(days)
    const payment = planPayment(options, { number, wallet, day })
    const messages = [messageOf(payment)]
    if (below(100) < TWICE) messages.push(messages[0]!)
    toldOn[day]!.push(...messages)
    // The wallets that can take back make up for those that cannot.
    if (!canReverse(wallet) || below(100 * reversible) >= REVERSED * wallets.length) continue
    const backOn = Math.min(days - 1, day + below(2))
    const back = { ...payment, receipt: `${payment.receipt}-BACK`, reverses: payment }
    const reversal = messageOf({ ...back, day: backOn, at: momentOf(options, backOn) })
    toldOn[backOn]!.push(reversal, ...(below(100) < TWICE ? [reversal] : []))
  }
  for (const told of toldOn) shuffle(told, below)
  return toldOn
}

interface One {
  readonly number: number
  readonly wallet: Wallet
  /** The day on which it is told. */
  readonly day: number
}

function planPayment(options: PlanOptions, { number, wallet, day: toldOn }: One): Moved {
  const { loans, below } = options
  const loan = below(100) < WRONG ? undefined : loans[below(loans.length)]!
  const day = saysWhen(wallet) && toldOn > 0 && below(5) === 0 ? toldOn - 1 : toldOn
  return {
    wallet,
    receipt: `${wallet.adapter.slice(0, 3).toUpperCase()}${number}`,
    amount: BigInt(1 + below(LARGEST)),
    reference: loan === undefined ? ['', 'nobody', `LOAN ${number} OF NOBODY`][below(3)]! : typed(loan, below),
    loan,
    day,
    at: momentOf(options, day),
    reverses: undefined,
  }
}

/** Returns a moment of the morning of a day, on a whole second. */
const momentOf = ({ noonOf, below }: Pick<PlanOptions, 'noonOf' | 'below'>, day: number): number =>
  noonOf(day) - 1000 * (1 + below((11 * HOUR_MS) / 1000))

/** Returns a reference as payers type it. */
const typed = (reference: string, below: PlanOptions['below']): string =>
  [reference, reference.toLowerCase(), ` ${reference.replaceAll('-', ' ')}`, reference.replaceAll('O', '0')][below(4)]!

function messageOf(moved: Moved): Told {
  const { wallet, receipt, amount, reference, at, reverses } = moved
  const told = {
    receipt,
    amount: decimalOf(amount),
    currency: 'TZS',
    paidAt: at,
    reference,
    phone: '255700000001',
    reverses: reverses?.receipt,
  }
  const text = writeMessage(ADAPTERS[wallet.adapter], told, ZONE)
  if (text === undefined) throw new Error(`${wallet.adapter} takes nothing back`)
  // MTN sends by either.
  const isPut = wallet.adapter === 'mtn_collection' && amount % 2n === 0n
  return { moved, method: isPut ? 'PUT' : 'POST', text }
}

/** Returns an amount of cents with two decimals. */
export const decimalOf = (cents: bigint): string => {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Puts a list into a random order. */
export function shuffle(list: unknown[], below: PlanOptions['below']): void {
  for (let last = list.length - 1; last > 0; last--) {
    const other = below(last + 1)
    ;[list[last], list[other]] = [list[other], list[last]]
  }
}
