import { z } from 'zod'
import { dateIn } from '../../domain/dates.ts'
import { LOAN_STATUSES } from '../../domain/loan/lifecycle.ts'
import type { Caller } from '../../services/access/caller.ts'
import { getDelinquency, getLoanWithDelinquency } from '../../services/delinquency/loanDelinquency.ts'
import type { Core, Deps } from '../../services/deps.ts'
import { type LoanFilter, type LoanListRequest, listLoans } from '../../services/loans/loanList.ts'
import { createLoan, type LoanNow } from '../../services/loans/loans.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import {
  changedSince,
  disbursedBetween,
  lastInstantOf,
  listQuery,
  queryBoolean,
  queryId,
  queryInt,
  queryWords,
  rangeOf,
  startOfBound,
} from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import { externalId, localDate } from '../wire.ts'
import { settlementRoutes } from './charges/settlement.ts'
import { delinquencyQuery, delinquencySchema, toDelinquency } from './delinquency/delinquency.wire.ts'
import { createLoanRequest, loanSchema, loanSummary, toLoan, toLoanSummary } from './loans.wire.ts'
import * as examples from './openapi/examples.ts'
import { LOAN_ADDRESSES, named, pageOf, writtenPage } from './registry.ts'
import { restructureRoutes } from './restructures/restructures.ts'

const tags = ['loans']

export function loanRoutes(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/loans',
    {
      config: {
        refusals: ['not_found', 'already_exists', 'failed_precondition'],
        explained: {
          not_found: ['No such customer or product.', 'no customer has that externalId, given as customerId'],
          failed_precondition: [
            'The customer is not Active, or the product lends no more than the credit limit.',
            'the customer is Closed, and only an Active customer can take a loan',
          ],
        },
        examples: { Disbursed: examples.newLoan },
      },
      schema: {
        tags,
        operationId: 'createLoan',
        summary: 'Create a loan',
        description:
          'Submits, approves and disburses in one call: the loan is Active at once, and every term but the principal comes from the product. The answer has no `repaymentHistory`.',
        body: createLoanRequest,
        response: { 200: loanSummary },
      },
    },
    async ({ caller, body: { customerId, ...asked } }) =>
      toLoanSummary(await createLoan(deps, caller, { ...asked, customerExternalId: customerId })),
  )

  addLoanList(app, deps)

  settlementRoutes(app, deps)
  restructureRoutes(app, deps)
  delinquencyRoutes(app, deps)

  for (const { path, params, named } of LOAN_ADDRESSES)
    app.get(
      `/v1/loans${path}`,
      {
        schema: {
          tags,
          operationId: named('getLoan'),
          summary: 'Read a loan',
          description: 'As of now, with its schedule and its latest repayments.',
          params,
          response: { 200: loanSchema },
        },
      },
      async ({ caller, params: ref }) => toLoan(await getLoanWithDelinquency(deps, caller, ref)),
    )
}

const loanQuery = listQuery.extend({
  customerExternalId: externalId.optional().describe('Only the loans of the customer with this externalId.'),
  customerId: queryId('customerExternalId').optional().describe('Only the loans of the customer with this number.'),
  externalId: externalId.optional().describe('Only the loan with this externalId.'),
  productId: queryInt({ min: 1, max: LARGEST_INT32 }).optional().describe('Only the loans of this product.'),
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

const listedLoan = named(
  'ListedLoan',
  loanSummary.extend({
    repaymentSchedule: loanSummary.shape.repaymentSchedule.optional().describe('Absent with `schedule=false`.'),
  }),
  { example: examples.loanSummary },
)

const loanPage = pageOf('LoanPage', listedLoan)

function toFilter(query: LoanQuery, { config: { zone }, now }: Core, { organizationId }: Caller): LoanFilter {
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

/** Adds the list of loans. */
function addLoanList(app: StyleApp, deps: Deps): void {
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

/** Adds the history of a loan's arrears (contract 11). */
function delinquencyRoutes(app: StyleApp, deps: Deps): void {
  for (const { path, params, named } of LOAN_ADDRESSES)
    app.get(
      `/v1/loans${path}/delinquency`,
      {
        schema: {
          tags: ['loans'],
          operationId: named('getDelinquency', 'Loan'),
          summary: 'Read the arrears of a loan',
          description:
            'The days past due from disbursement on, in buckets, for any day and as it was known at any instant.',
          params,
          querystring: delinquencyQuery,
          response: { 200: delinquencySchema },
        },
      },
      async ({ caller, params: ref, query: { asOf, knownAt, policy } }) => {
        const known = knownAt && lastInstantOf(knownAt, deps, caller.organizationId)
        return toDelinquency(await getDelinquency(deps, caller, ref, { asOf, policy, knownAt: known }))
      },
    )
}
