/** What a record system tells of a borrower (contract 5). */
export const BORROWER_DETAILS = ['businessName', 'phone', 'email', 'address', 'type', 'region', 'country'] as const
export type BorrowerDetail = (typeof BORROWER_DETAILS)[number]

/** How long each may be, in characters. */
export const LONGEST_DETAIL = {
  businessName: 200,
  phone: 50,
  email: 254,
  address: 500,
  type: 100,
  region: 100,
  country: 100,
} as const satisfies Record<BorrowerDetail, number>

/** Null where nothing is known. */
export type BorrowerDetails = Readonly<Record<BorrowerDetail, string | null>>

/** The details as `tell` tells them one by one. */
export const detailsOf = (tell: (detail: BorrowerDetail) => string | null | undefined): BorrowerDetails =>
  Object.fromEntries(BORROWER_DETAILS.map((detail) => [detail, tell(detail) ?? null])) as BorrowerDetails

/** Whether two say the same of a borrower: what makes the same id told twice a repetition, and not a clash. */
export const sameDetails = (a: BorrowerDetails, b: BorrowerDetails): boolean =>
  BORROWER_DETAILS.every((detail) => a[detail] === b[detail])

/** The details with some of them changed; what is left out stays. */
export const withChanges = (details: BorrowerDetails, changes: Partial<BorrowerDetails>): BorrowerDetails =>
  detailsOf((detail) => (detail in changes ? changes[detail] : details[detail]))
