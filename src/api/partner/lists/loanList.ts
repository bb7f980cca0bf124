import { z } from 'zod'
import type { Deps } from '../../../app/deps.ts'
import { dateIn } from '../../../domain/dates.ts'
import { LOAN_STATUSES } from '../../../domain/loan/lifecycle.ts'
import { LARGEST_ID } from '../../../domain/product/smallId.ts'
import type { Caller } from '../../../services/access/caller.ts'
import { type LoanFilter, type LoanListRequest, listLoans } from '../../../services/loans/loanList.ts'
import type { LoanNow } from '../../../services/loans/loans.ts'
import {
  changedSince,
  disbursedBetween,
  listQuery,
  queryBoolean,
  queryId,
  queryInt,
  queryWords,
  rangeOf,
  startOfBound,
} from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { externalId, localDate } from '../../wire.ts'
import * as examples from '../document/examples.ts'
import { loanSummary, toLoanSummary } from '../loans.wire.ts'
import { named, pageOf, writtenPage } from '../registry.ts'

const loanQuery = listQuery.extend({
  customerExternalId: externalId.optional().describe('Only the loans of the customer with this externalId.'),
  customerId: queryId('customerExternalId').optional().describe('Only the loans of the customer with this number.'),
  externalId: externalId.optional().describe('Only the loan with this externalId.'),
  productId: queryInt({ min: 1, max: LARGEST_ID }).optional().describe('Only the loans of this product.'),
  status: queryWords(LOAN_STATUSES)
    .optional()
    .describe(`Only loans with one of these statuses, separated by commas: ${LOAN_STATUSES.join(', ')}.`),
  overdue: queryBoolean
    .optional()
    .describe('True: only loans with an instalment that is overdue today; false: only those without.'),
  chargedOff: queryBoolean.optional().describe('Only loans that are charged off, or only those that are not.'),
  dueBefore: localDate.optional().describe('Only loans whose `dueDate` is before this date.'),
  dueAfter: localDate.optional().describe('Only loans whose `dueDate` is after this date.'),
  disbursedFrom: localDate.optional().describe('Only loans disbursed on this date or later.'),
  disbursedTo: localDate.optional().describe('Only loans disbursed on this date or earlier.'),
  updatedSince: changedSince('loans'),
  schedule: queryBoolean.optional().describe('False leaves out `repaymentSchedule`. Default: true.'),
  orderBy: z
    .enum(['id', 'principal', 'disbursedAt'])
    .optional()
    .describe('The order of pages. Default: that in which the loans came, which is the order of a cursor, too.'),
  sortOrder: z
    .enum(['ASC', 'DESC', 'asc', 'desc'])
    .optional()
    .meta({ enum: ['ASC', 'DESC'], description: 'Default: ASC. Lower case is taken too. Alone, it sorts by `id`.' }),
})

type LoanQuery = z.infer<typeof loanQuery>

function toFilter(query: LoanQuery, { config: { zone }, now }: Deps, { organizationId }: Caller): LoanFilter {
  const { customerExternalId, customerId, externalId: own, productId, chargedOff, dueBefore, dueAfter } = query
  return {
    customerExternalId,
    customerId,
    externalId: own,
    productId,
    chargedOff,
    dueBefore,
    dueAfter,
    statuses: query.status,
    overdue: query.overdue === undefined ? undefined : { is: query.overdue, today: dateIn(zone, now(organizationId)) },
    ...disbursedBetween(query.disbursedFrom, query.disbursedTo, zone),
    updatedSince: startOfBound(query.updatedSince, zone),
  }
}

const toOrder = ({ orderBy, sortOrder }: LoanQuery): LoanListRequest['order'] =>
  orderBy === undefined && sortOrder === undefined
    ? undefined
    : {
        by: orderBy ?? 'id',
        descending: sortOrder?.toUpperCase() === 'DESC',
        role: orderBy === undefined ? 'sortOrder' : 'orderBy',
      }

const listedLoan = named(
  'ListedLoan',
  loanSummary.extend({
    repaymentSchedule: loanSummary.shape.repaymentSchedule.optional().describe('Absent with `schedule=false`.'),
  }),
  { example: examples.loanSummary },
)

const loanPage = pageOf('LoanPage', listedLoan)

/** Adds the list of loans. */
export function addLoanList(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/loans',
    {
      schema: {
        tags: ['loans'],
        operationId: 'listLoans',
        summary: 'List loans',
        description:
          'Each as it is now, without its `repaymentHistory`. An item must match all filters. Of an unknown customer: an empty page.',
        querystring: loanQuery,
        response: { 200: loanPage },
      },
    },
    async ({ caller, query }, reply) => {
      const range = rangeOf(query)
      const request = { filter: toFilter(query, deps, caller), order: toOrder(query), range }
      return writtenPage(reply, await listLoans(deps, caller, request, viewOf(query)), range)
    },
  )
}

/** Returns a function that writes a loan of the list as bytes of JSON. */
function viewOf({ schedule = true }: LoanQuery): (now: LoanNow) => Buffer {
  return (now) => {
    const { repaymentSchedule, ...rest } = toLoanSummary(now)
    return Buffer.from(JSON.stringify(schedule ? { ...rest, repaymentSchedule } : rest))
  }
}
