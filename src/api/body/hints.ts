import type { Config } from '../../app/config.ts'
import { LendingError } from '../../domain/errors.ts'
import { InvalidRequest } from './invalidRequest.ts'

/** Returns the advice that an error's message lacks: what would be right. Undefined where there is none. */
export type Hint = (error: unknown, route: string, config: Config) => string | undefined

/** Fields that only the bodies of one style have: a body with one of them was meant for that style. */
const FIELDS_OF = {
  partner: ['customerId', 'productId', 'principal', 'externalId', 'transactionAmount', 'transactionDate'],
  record: [
    'business_name',
    'borrower_id',
    'loan_id',
    'repayment_id',
    'principal_amount',
    'collection_date',
    'loan_principal_amount',
    'loan_interest',
    'loan_num_of_repayments',
  ],
} as const

/** Returns a hint that names the URL for a body of the other style. */
const bodyOf =
  (style: keyof typeof FIELDS_OF): Hint =>
  (error, _route, config) => {
    if (!(error instanceof InvalidRequest)) return undefined
    const theirs: readonly string[] = FIELDS_OF[style]
    const isTheirs = error.details.some(({ field, isUnknown }) => isUnknown === true && theirs.includes(field))
    const url = style === 'partner' ? config.baseUrl : config.recordsUrl
    return isTheirs ? `this is a body of the ${style} style, which is served at ${url}` : undefined
  }

/** Hints how to read a resource by its externalId, on a path that takes the service's number. */
const externalIdPath: Hint = (error, route) => {
  const [, things] = /^\/v1\/(loans|customers)\/[:{]id\b/.exec(route) ?? []
  const isMissing = error instanceof LendingError && error.code === 'not_found' && `${error.missing}s` === things
  return isMissing ? `an externalId is asked for as /v1/${things}/external/{externalId}` : undefined
}

export const partnerHints: readonly Hint[] = [bodyOf('record'), externalIdPath]

export const recordHints: readonly Hint[] = [bodyOf('partner')]
