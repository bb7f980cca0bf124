import type { Config } from '../../app/config.ts'
import { LendingError } from '../../domain/errors.ts'
import { InvalidRequest } from './invalidRequest.ts'

/** What an error's message leaves out and the caller needs: what would be right. Undefined where nothing is to be added. */
export type Hint = (error: unknown, route: string, config: Config) => string | undefined

/** Fields that only the bodies of one style have, so that a body with one of them was meant for that style. */
const FIELDS_OF = {
  partner: ['customerId', 'productId', 'principal', 'externalId', 'transactionAmount', 'transactionDate'],
  record: [
    ...['business_name', 'borrower_id', 'loan_id', 'repayment_id', 'principal_amount', 'collection_date'],
    ...['loan_principal_amount', 'loan_interest', 'loan_num_of_repayments'],
  ],
} as const

/** Says where a body of the other style is to be sent. */
const bodyOf =
  (style: keyof typeof FIELDS_OF): Hint =>
  (error, _route, config) => {
    if (!(error instanceof InvalidRequest)) return undefined
    const theirs: readonly string[] = FIELDS_OF[style]
    const isTheirs = error.details.some(({ field, isUnknown }) => isUnknown === true && theirs.includes(field))
    const url = style === 'partner' ? config.baseUrl : config.recordsUrl
    return isTheirs ? `this is a body of the ${style} style, which is served at ${url}` : undefined
  }

/** Says how something is asked for by its externalId, on a path that takes the service's number. */
const externalIdPath: Hint = (error, route) => {
  const [, things] = /^\/v1\/(loans|customers)\/[:{]id\b/.exec(route) ?? []
  const isMissing = error instanceof LendingError && error.code === 'not_found' && `${error.missing}s` === things
  return isMissing ? `an externalId is asked for as /v1/${things}/external/{externalId}` : undefined
}

/** The hints of the partner style. */
export const partnerHints: readonly Hint[] = [bodyOf('record'), externalIdPath]

/** The hints of the record style. */
export const recordHints: readonly Hint[] = [bodyOf('partner')]
