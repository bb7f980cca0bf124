import { z } from 'zod'
import { HOLD_KINDS } from '../../../domain/collections/hold.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { assignLoan, getAssignment, type LoanOfficer } from '../../../services/collections/assignments.ts'
import { holdLoan, listHolds, releaseHold, type StoredHold } from '../../../services/collections/holds.ts'
import type { Deps } from '../../../services/deps.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import type { StyleApp } from '../../style.ts'
import { instant, localDate, smallInt } from '../../wire.ts'
import { LOAN_ADDRESSES, named, pageOf, toPage } from '../registry.ts'
import { recordedBy, tags, words } from './contacts.ts'
import * as examples from './examples.ts'

const createHoldRequest = named(
  'CreateHoldRequest',
  z.strictObject({
    what: z
      .enum(HOLD_KINDS)
      .describe('What is not done: penalties are raised, the borrower is reminded, the loan is listed.'),
    until: localDate.describe('The last day: today or later, within 366 days.'),
    reason: words('Why.'),
  }),
  { example: examples.newHold },
)

const releaseHoldRequest = named('ReleaseHoldRequest', z.strictObject({ reason: words('Why it ends.') }), {
  example: examples.release,
})

export const holdSchema = named(
  'Hold',
  z.object({
    id: z.string().describe("The service's number."),
    loanId: z.string(),
    what: word('What is not done', HOLD_KINDS),
    from: z.iso.date().describe('The first day; of penalties the first whose penalties were not raised yet.'),
    until: z.iso.date().describe('The last day.'),
    reason: z.string().nullable().describe('Null: the customer was erased, or the caller has no `collections.work`.'),
    releasedOn: z.iso.date().optional().describe('The first day on which it counts no longer.'),
    releaseReason: z.string().nullable().optional(),
    accountId: recordedBy,
    createdAt: instant,
    updatedAt: instant,
  }),
  { example: examples.hold },
)

const holdPage = pageOf('HoldPage', holdSchema)

/** Builds the view of a hold. */
export const toHold = (hold: StoredHold, zone: string): z.infer<typeof holdSchema> => ({
  id: String(hold.id),
  loanId: String(hold.loanId),
  what: hold.what,
  from: hold.from,
  until: hold.until,
  reason: hold.reason,
  ...(hold.releasedOn !== null && { releasedOn: hold.releasedOn, releaseReason: hold.releaseReason }),
  accountId: hold.accountId,
  createdAt: toRfc3339(hold.createdAt, zone),
  updatedAt: toRfc3339(hold.updatedAt, zone),
})

const assignRequest = named(
  'AssignLoanRequest',
  z.strictObject({
    accountId: smallInt({ min: 1, max: LARGEST_INT32 })
      .nullable()
      .describe('The account of the officer; null: nobody.'),
  }),
  { example: examples.newAssignment },
)

export const assignmentSchema = named(
  'Assignment',
  z.object({
    loanId: z.string(),
    accountId: count.nullable().describe('The account of the officer; null: nobody.'),
    assignedAt: instant.optional(),
  }),
  { example: examples.assignment },
)

/** Builds the view of the officer of a loan. */
export const toAssignment = ({ loanId, accountId, assignedAt }: LoanOfficer, zone: string) => ({
  loanId: String(loanId),
  accountId,
  ...(assignedAt !== null && { assignedAt: toRfc3339(assignedAt, zone) }),
})

type Address = (typeof LOAN_ADDRESSES)[number]

/** Adds the holds and the officers of loans. */
export function holdRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) {
    addHolding(app, deps, address)
    addRelease(app, deps, address)
    addAssignment(app, deps, address)
  }
}

function addHolding(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const { zone } = deps.config
  const operationId = named('createHold', 'Loan')
  app.post(
    `/v1/loans${path}/holds`,
    {
      config: {
        // The hold by the number stands: by the externalId, another kind is held.
        ...(operationId !== 'createHold' && { prefilled: { body: { ...examples.newHold, what: 'listing' } } }),
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'Another hold of the kind stands.',
            'another hold of reminders stands; release it before another begins',
          ],
        },
      },
      schema: {
        tags,
        operationId,
        summary: 'Hold what is done with a loan',
        description:
          '`penalties`: none is raised on these days, and none later for them; those that were raised stay. `reminders`: no `loan.due_soon` and no `loan.reminder`. `listing`: files for bureaux leave the loan out.',
        params,
        body: createHoldRequest,
        response: { 200: holdSchema },
      },
    },
    async ({ caller, params: ref, body }) => toHold(await holdLoan(deps, caller, ref, body), zone),
  )
  app.get(
    `/v1/loans${path}/holds`,
    {
      schema: {
        tags,
        operationId: named('listHolds', 'Loan'),
        summary: 'List the holds of a loan',
        description: 'In the order in which they were made, with those that ended.',
        params,
        querystring: listQuery,
        response: { 200: holdPage },
      },
    },
    async ({ caller, params: ref, query }) =>
      toPage(await listHolds(deps, caller, ref, rangeOf(query)), query, (one) => toHold(one, zone)),
  )
}

function addRelease(app: StyleApp, deps: Deps, { path, withPart, named }: Address): void {
  const operationId = named('releaseHold', 'Loan')
  app.post(
    `/v1/loans${path}/holds/:holdId/release`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: { failed_precondition: ['Its days are over.', 'the hold ended on 2026-02-10'] },
        examples: { Released: examples.releasedHold },
        ...(operationId !== 'releaseHold' && { prefilled: { params: { holdId: '2' } } }),
      },
      schema: {
        tags,
        operationId,
        summary: 'Release a hold',
        description:
          'It counts no longer from today on; one of penalties from the next day whose penalties are not raised yet.',
        params: withPart('holdId'),
        body: releaseHoldRequest,
        response: { 200: holdSchema },
      },
    },
    async ({ caller, params, body }) => toHold(await releaseHold(deps, caller, params, body), deps.config.zone),
  )
}

function addAssignment(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const { zone } = deps.config
  app.put(
    `/v1/loans${path}/assignment`,
    {
      schema: {
        tags,
        operationId: named('assignLoan', 'Loan'),
        summary: 'Give a loan to an officer',
        description:
          'The work list and the portfolio at risk are divided by officer. The same officer again changes nothing.',
        params,
        body: assignRequest,
        response: { 200: assignmentSchema },
      },
    },
    async ({ caller, params: ref, body }) => toAssignment(await assignLoan(deps, caller, ref, body.accountId), zone),
  )
  app.get(
    `/v1/loans${path}/assignment`,
    {
      schema: {
        tags,
        operationId: named('getAssignment', 'Loan'),
        summary: 'Read the officer of a loan',
        description: 'The account that has the loan, and since when.',
        params,
        response: { 200: assignmentSchema },
      },
    },
    async ({ caller, params: ref }) => toAssignment(await getAssignment(deps, caller, ref), zone),
  )
}
