import { causeText } from './causes.ts'

/** A reference as a payer typed it, made comparable. */
export interface Typed {
  /** In capitals, without spaces and dashes. */
  readonly exact: string
  /** The same with 0 for O and 1 for I, which are mistaken for each other. */
  readonly folded: string
  /** The account number that the reference may be; null where it is no number. */
  readonly accountNo: bigint | null
}

const ACCOUNT_NO = /^[1-9]\d{0,15}$/

/** Makes a reference comparable; null where nothing is left of it. */
export function typedReference(reference: string | null): Typed | null {
  const exact = (reference ?? '').toUpperCase().replaceAll(/[\s-]/g, '')
  if (exact === '') return null
  const folded = exact.replaceAll('O', '0').replaceAll('I', '1')
  return { exact, folded, accountNo: ACCOUNT_NO.test(exact) ? BigInt(exact) : null }
}

/** Digits of a phone number by which it is compared, whatever stands before them: `+255712…`, `0712…`. */
const PHONE_DIGITS = 9

/** Returns the last digits of a phone number; null for a masked one, and for one that is too short. */
export function phoneDigits(phone: string | null): string | null {
  if (phone === null || !/^[+\d\s()-]+$/.test(phone)) return null
  const digits = phone.replaceAll(/\D/g, '')
  return digits.length < PHONE_DIGITS ? null : digits.slice(-PHONE_DIGITS)
}

/** The ways in which a payment can name a loan, in the order in which they are tried. */
export const MATCH_REASONS = [
  'loan_reference',
  'account_number',
  'loan_reference_folded',
  'customer_reference',
  'customer_reference_folded',
  'phone',
] as const

export type MatchReason = (typeof MATCH_REASONS)[number]

/** A loan that a payment may be for. */
export interface Candidate {
  readonly loanId: bigint
  readonly why: MatchReason
  readonly currency: string
  /** Whether something is owed on the loan. */
  readonly isOpen: boolean
}

/** The steps of matching: the first one that finds a loan decides, and finds nothing where it finds two. */
const STEPS: readonly (readonly MatchReason[])[] = [
  ['loan_reference', 'account_number'],
  ['loan_reference_folded'],
  ['customer_reference'],
  ['customer_reference_folded'],
  ['phone'],
]

/** The ways that name a customer: only an open loan of the customer can be meant. */
const OF_CUSTOMER: ReadonlySet<MatchReason> = new Set(['customer_reference', 'customer_reference_folded', 'phone'])

/** The loan that a payment is for, or why there is none. */
export type Match = { readonly loanId: bigint } | { readonly cause: string }

/** What of a payment each way goes by, as the names of causes begin. */
const BY = {
  loan_reference: 'reference',
  account_number: 'reference',
  loan_reference_folded: 'reference',
  customer_reference: 'customer',
  customer_reference_folded: 'customer',
  phone: 'phone',
} as const satisfies Readonly<Record<MatchReason, string>>

/**
 * Chooses the loan that a payment is for: by the first step that finds exactly one. Where a step finds several, none is chosen.
 * @param isByPhone whether the phone number of the payer may decide
 */
export function chooseLoan(
  candidates: readonly Candidate[],
  { currency, isByPhone }: { readonly currency: string; readonly isByPhone: boolean },
): Match {
  for (const step of STEPS) {
    if (step.includes('phone') && !isByPhone) continue
    const found = candidates.filter(({ why, isOpen }) => step.includes(why) && (isOpen || !OF_CUSTOMER.has(why)))
    const [first, ...others] = [...new Set(found.map(({ loanId }) => loanId))]
    if (first === undefined) continue
    const { why, currency: lent } = found[0]!
    if (others.length > 0) return { cause: causeText(`${BY[why]}_fits_several`, { count: others.length + 1 }) }
    if (lent !== currency) return { cause: causeText(`${BY[why]}_in_other_currency`, { lent, paid: currency }) }
    return { loanId: first }
  }
  const isMeant = ({ why }: Candidate) => OF_CUSTOMER.has(why) && (why !== 'phone' || isByPhone)
  const named = candidates.find(isMeant)
  if (!named) return { cause: causeText('no_loan') }
  return { cause: causeText(named.why === 'phone' ? 'phone_without_loan' : 'customer_without_loan') }
}
