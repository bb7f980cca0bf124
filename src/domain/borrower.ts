/** What a record system tells of a borrower (contract 5); null where nothing is known. */
export interface BorrowerDetails {
  readonly businessName: string | null
  readonly phone: string | null
  readonly email: string | null
  readonly address: string | null
  readonly type: string | null
  readonly region: string | null
  readonly country: string | null
}

const DETAILS: readonly (keyof BorrowerDetails)[] = [
  'businessName',
  'phone',
  'email',
  'address',
  'type',
  'region',
  'country',
]

/** Whether two say the same of a borrower: what makes the same id told twice a repetition, and not a clash. */
export const sameDetails = (a: BorrowerDetails, b: BorrowerDetails): boolean =>
  DETAILS.every((detail) => a[detail] === b[detail])

/** The details with some of them changed; what is left out stays. */
export function withChanges(details: BorrowerDetails, changes: Partial<BorrowerDetails>): BorrowerDetails {
  const changed = (detail: keyof BorrowerDetails) => (detail in changes ? (changes[detail] ?? null) : details[detail])
  return {
    businessName: changed('businessName'),
    phone: changed('phone'),
    email: changed('email'),
    address: changed('address'),
    type: changed('type'),
    region: changed('region'),
    country: changed('country'),
  }
}
