/** The details of a borrower that a record system sends (contract 5). */
export const BORROWER_DETAILS = ['businessName', 'phone', 'email', 'address', 'type', 'region', 'country'] as const
export type BorrowerDetail = (typeof BORROWER_DETAILS)[number]

/** The greatest length of each detail, in characters. */
export const LONGEST_DETAIL = {
  businessName: 200,
  phone: 50,
  email: 254,
  address: 500,
  type: 100,
  region: 100,
  country: 100,
} as const satisfies Record<BorrowerDetail, number>

/** The details of a borrower; null where a detail is unknown. */
export type BorrowerDetails = Readonly<Record<BorrowerDetail, string | null>>

/** Returns the details, each from a call of `detailOf`. */
export const detailsOf = (detailOf: (detail: BorrowerDetail) => string | null | undefined): BorrowerDetails =>
  Object.fromEntries(BORROWER_DETAILS.map((detail) => [detail, detailOf(detail) ?? null])) as BorrowerDetails

/**
 * Returns whether all details are equal, so that a second request with the same id is a repetition and not a conflict.
 */
export const sameDetails = (a: BorrowerDetails, b: BorrowerDetails): boolean =>
  BORROWER_DETAILS.every((detail) => a[detail] === b[detail])

/** Returns the details with some of them changed; a detail that is left out does not change. */
export const withChanges = (details: BorrowerDetails, changes: Partial<BorrowerDetails>): BorrowerDetails =>
  detailsOf((detail) => (detail in changes ? changes[detail] : details[detail]))
