import { z } from 'zod'
import { failureWords } from '../failure.ts'
import type { Style } from '../style.ts'

/** snake_case, borrowers, ids of the client’s own (contract 5). */
export const recordStyle: Style = {
  name: 'record',
  title: 'Mkopo: record API',
  description: 'Borrowers, loans and repayments as records under ids of the client’s own, on the same book.',
  registry: z.registry(),
  statuses: {
    invalid_argument: 400,
    unauthenticated: 401,
    permission_denied: 403,
    not_found: 404,
    already_exists: 409,
    failed_precondition: 409,
    aborted: 409,
    payload_too_large: 413,
    unsupported_media_type: 415,
    resource_exhausted: 429,
    internal: 500,
    unavailable: 503,
  },
  fieldNames: { principal: 'principal_amount', valueDate: 'collection_date' },
  failureBody: (failure) => ({ success: false, ...failureWords(failure) }),
  headers: { 'x-api-version': '1.2' },
  routes() {},
}
