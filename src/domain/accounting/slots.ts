/** The slots of provisions. Where a chart leaves one out, provisions cannot be booked. */
export const PROVISION_SLOTS = ['provision_expense', 'loan_loss_allowance'] as const

/** The slots that a chart may leave out. Tax and payments in suspense are on the account of `overpayments` then: all are owed to others. */
const OPTIONAL_SLOTS = [...PROVISION_SLOTS, 'tax_payable', 'payments_in_suspense'] as const

/** The slots of the journal: the purposes for which a lender's chart names an account. The list may only grow at its end. */
export const SLOTS = [
  'cash',
  'loan_portfolio',
  'interest_receivable',
  'fees_receivable',
  'penalties_receivable',
  'unearned_interest',
  'interest_income',
  'fee_income',
  'penalty_income',
  'overpayments',
  'waivers',
  'write_offs',
  'charge_offs',
  'recoveries',
  'opening_equity',
  ...OPTIONAL_SLOTS,
] as const

export type Slot = (typeof SLOTS)[number]

export type OptionalSlot = (typeof OPTIONAL_SLOTS)[number]

/** Returns whether a chart may leave out a slot. */
export const isOptional = (slot: Slot): slot is OptionalSlot => (OPTIONAL_SLOTS as readonly Slot[]).includes(slot)

/** The code of the account of each slot; undefined where a chart leaves it out. */
export type SlotCodes = Readonly<Record<Exclude<Slot, OptionalSlot>, string> & Partial<Record<OptionalSlot, string>>>

/** The slot of a sum of postings: `cash:1010` is money on an account of a channel. */
export type SummedSlot = Slot | `cash:${string}`

const ON_ACCOUNT = 'cash:'

/** Returns the slot under which an amount is summed. @param cashAccount the account of a channel, on which the amount of `cash` is */
export const summedSlot = (slot: Slot, cashAccount: string | null): SummedSlot =>
  slot === 'cash' && cashAccount !== null ? `${ON_ACCOUNT}${cashAccount}` : slot

/** Returns the account of a channel that a sum is of; undefined for the sum of a slot of the chart. */
export const onCashAccount = (slot: SummedSlot): string | undefined =>
  slot.startsWith(ON_ACCOUNT) ? slot.slice(ON_ACCOUNT.length) : undefined

/** An amount for each slot, minor units: positive is a debit, negative a credit. Balanced: the amounts sum to zero. */
export type SlotAmounts = Readonly<Record<Slot, bigint>>

/** No amount in any slot. */
export const NO_AMOUNTS: SlotAmounts = amountsBy(() => 0n)

/** Returns the amount that a function says of each slot. */
export function amountsBy(amountOf: (slot: Slot) => bigint): SlotAmounts {
  const amounts = {} as Record<Slot, bigint>
  for (const slot of SLOTS) amounts[slot] = amountOf(slot)
  return amounts
}

/** Returns `a` less `b`, slot by slot. */
export const lessAmounts = (a: SlotAmounts, b: SlotAmounts): SlotAmounts => amountsBy((slot) => a[slot] - b[slot])

/** Returns `a` plus `b`, slot by slot. */
export const plusAmounts = (a: SlotAmounts, b: SlotAmounts): SlotAmounts => amountsBy((slot) => a[slot] + b[slot])

/** Returns whether no slot has an amount. */
export const isNothing = (amounts: SlotAmounts): boolean => SLOTS.every((slot) => amounts[slot] === 0n)

/** Returns whether debits equal credits. */
export const isBalanced = (amounts: SlotAmounts): boolean => SLOTS.reduce((sum, slot) => sum + amounts[slot], 0n) === 0n

/** Writes amounts as text: one per slot in the order of `SLOTS`, separated by commas, empty for 0, none after the last. */
export const amountsToText = (amounts: SlotAmounts): string =>
  SLOTS.map((slot) => (amounts[slot] === 0n ? '' : String(amounts[slot])))
    .join(',')
    .replace(/,+$/, '')

/** Reads amounts from their text. @returns undefined for a text that is none */
export function amountsFromText(text: string): SlotAmounts | undefined {
  const parts = text.split(',')
  if (parts.length > SLOTS.length || !parts.every((part) => /^-?\d{0,30}$/.test(part) && part !== '-')) return undefined
  return amountsBy((slot) => BigInt(parts[SLOTS.indexOf(slot)] ?? ''))
}
