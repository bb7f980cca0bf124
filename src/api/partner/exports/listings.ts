import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { DISPUTE_OUTCOMES, NOTICE_CHANNELS } from '../../../domain/exports/vocabulary.ts'
import type { Deps } from '../../../services/deps.ts'
import {
  addListingNotice,
  type ListingNotice,
  listDisputes,
  listListingNotices,
  openDispute,
  type ReadDispute,
  resolveDispute,
} from '../../../services/exports/listings.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import { word } from '../../openapi/answers.ts'
import type { Explained, StyleApp } from '../../style.ts'
import { codec, idParam, instant, localDate, Refused, text } from '../../wire.ts'
import { named, pageOf, toPage } from '../registry.ts'
import * as examples from './examples.ts'

const tags = ['exports']
const ERASED: Explained = {
  failed_precondition: ['The customer was erased.', 'the customer was erased, and nothing of it can be kept'],
}
const HAS_ENDED: Explained = {
  failed_precondition: ['The dispute has ended, or the customer was erased.', 'the dispute has ended: it was upheld'],
}

/** A number that nothing has. */
const NONE = 0n

/** The most characters of what a borrower says, and of a note. */
const LONGEST_TEXT = 2_000

const oneOf = <Word extends string>(words: readonly Word[]) =>
  codec<Word>((value) => words.find((one) => one === value) ?? new Refused(`must be one of ${words.join(', ')}`), {
    type: 'string',
    enum: [...words],
  })

const loanParams = z
  .object({ id: idParam.meta({ examples: [examples.notice.loanId] }) })
  .transform(({ id }) => ({ loanId: id ?? NONE }))

const disputeParams = z
  .object({
    id: idParam.meta({ examples: [examples.notice.loanId] }),
    disputeId: idParam.meta({ examples: [examples.dispute.id] }),
  })
  .transform(({ id, disputeId }) => ({ loanId: id ?? NONE, id: disputeId ?? NONE }))

const noticeRequest = named(
  'CreateListingNoticeRequest',
  z.strictObject({
    sentOn: localDate.describe('The day on which the borrower was told; not in the future.'),
    channel: oneOf(NOTICE_CHANNELS),
    reference: text({ max: 100 })
      .optional()
      .describe('The number of the message at its sender; no words about people.'),
  }),
  { example: examples.newNotice },
)

export const noticeSchema = named(
  'ListingNotice',
  z.object({
    id: z.string(),
    loanId: z.string(),
    sentOn: z.iso.date(),
    channel: word('How', NOTICE_CHANNELS),
    reference: z.string().nullable(),
    createdAt: instant,
  }),
  { example: examples.notice },
)

const disputeRequest = named(
  'CreateDisputeRequest',
  z.strictObject({
    openedOn: localDate.describe('Not in the future.'),
    reason: text({ max: LONGEST_TEXT, lines: true }).describe('What the borrower says; kept encrypted.'),
  }),
  { example: examples.newDispute },
)

const resolveRequest = named(
  'ResolveDisputeRequest',
  z.strictObject({
    resolvedOn: localDate.describe('Not in the future, and not before the dispute was opened.'),
    outcome: oneOf(DISPUTE_OUTCOMES),
    note: text({ max: LONGEST_TEXT, lines: true }).optional().describe('Kept encrypted.'),
  }),
  { example: examples.resolution },
)

export const disputeSchema = named(
  'Dispute',
  z.object({
    id: z.string(),
    loanId: z.string(),
    openedOn: z.iso.date(),
    reason: z.string().nullable().describe('Null: the customer was erased.'),
    outcome: z.string().nullable().describe('`upheld`, `rejected` or `withdrawn`; null while it is open.'),
    resolution: z.string().nullable(),
    resolvedOn: z.iso.date().nullable(),
    createdAt: instant,
  }),
  { example: examples.dispute },
)

const noticePage = pageOf('ListingNoticePage', noticeSchema)
const disputePage = pageOf('DisputePage', disputeSchema)

export const toNotice =
  (zone: string) =>
  ({ id, loanId, sentOn, channel, reference, createdAt }: ListingNotice): z.input<typeof noticeSchema> => ({
    id: String(id),
    loanId: String(loanId),
    sentOn,
    channel,
    reference,
    createdAt: toRfc3339(createdAt, zone),
  })

export const toDispute =
  (zone: string) =>
  ({ id, loanId, createdAt, ...one }: ReadDispute): z.input<typeof disputeSchema> => ({
    id: String(id),
    loanId: String(loanId),
    openedOn: one.openedOn,
    reason: one.reason ?? null,
    outcome: one.outcome,
    resolution: one.resolution ?? null,
    resolvedOn: one.resolvedOn,
    createdAt: toRfc3339(createdAt, zone),
  })

/** Adds the notices and the disputes of a loan. */
export function listingRoutes(app: StyleApp, deps: Deps): void {
  noticeRoutes(app, deps)
  disputeRoutes(app, deps)
  resolutionRoute(app, deps)
}

function noticeRoutes(app: StyleApp, deps: Deps): void {
  const view = toNotice(deps.config.zone)
  app.post(
    '/v1/loans/:id/listing-notices',
    {
      schema: {
        tags,
        operationId: 'createListingNotice',
        summary: 'Tell that a borrower was told of a listing',
        description:
          'Where a format asks for it, a loan is listed as one that is not paid once so many days lie between the notice and the day of the file.',
        params: loanParams,
        body: noticeRequest,
        response: { 200: noticeSchema },
      },
    },
    async ({ caller, params: { loanId }, body }) => view(await addListingNotice(deps, caller, loanId, body)),
  )
  app.get(
    '/v1/loans/:id/listing-notices',
    {
      schema: {
        tags,
        operationId: 'listListingNotices',
        summary: 'List the notices of a loan',
        description: 'In the order in which they were told.',
        params: loanParams,
        querystring: listQuery,
        response: { 200: noticePage },
      },
    },
    async ({ caller, params: { loanId }, query }) =>
      toPage(await listListingNotices(deps, caller, loanId, rangeOf(query)), query, view),
  )
}

function disputeRoutes(app: StyleApp, deps: Deps): void {
  const view = toDispute(deps.config.zone)
  app.post(
    '/v1/loans/:id/disputes',
    {
      config: { refusals: ['failed_precondition'], explained: ERASED },
      schema: {
        tags,
        operationId: 'createDispute',
        summary: 'Tell that a borrower disputes a loan',
        description: 'Files tell the loan as disputed, or leave it out, as their formats say, until it is resolved.',
        params: loanParams,
        body: disputeRequest,
        response: { 200: disputeSchema },
      },
    },
    async ({ caller, params: { loanId }, body }) => view(await openDispute(deps, caller, loanId, body)),
  )
  app.get(
    '/v1/loans/:id/disputes',
    {
      schema: {
        tags,
        operationId: 'listDisputes',
        summary: 'List the disputes of a loan',
        description: 'In the order in which they were told.',
        params: loanParams,
        querystring: listQuery,
        response: { 200: disputePage },
      },
    },
    async ({ caller, params: { loanId }, query }) =>
      toPage(await listDisputes(deps, caller, loanId, rangeOf(query)), query, view),
  )
}

function resolutionRoute(app: StyleApp, deps: Deps): void {
  const view = toDispute(deps.config.zone)
  app.post(
    '/v1/loans/:id/disputes/:disputeId/resolve',
    {
      config: { refusals: ['failed_precondition'], explained: HAS_ENDED },
      schema: {
        tags,
        operationId: 'resolveDispute',
        summary: 'Resolve a dispute',
        description: 'Files of days from `resolvedOn` on tell the loan as they tell each loan.',
        params: disputeParams,
        body: resolveRequest,
        response: { 200: disputeSchema },
      },
    },
    async ({ caller, params, body }) => view(await resolveDispute(deps, caller, params, body)),
  )
}
