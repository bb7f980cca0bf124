import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { type AuditEntry, listAudit } from '../../services/audit/audit.ts'
import type { Deps } from '../../services/deps.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { endOfBound, listQuery, queryInstant, queryInt, rangeOf, startOfBound } from '../lists/query.ts'
import { count, word } from '../openapi/answers.ts'
import type { StyleApp } from '../style.ts'
import { instant, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { named, pageOf, toPage } from './registry.ts'

/** The kinds of things of which the trail tells. */
export const ENTITIES = [
  ...([
    'customer',
    'loan',
    'account',
    'loan product',
    'api key',
    'role',
    'office sign-in',
    'organization',
    'webhook endpoint',
  ] as const),
  ...(['accounting chart', 'accounting period', 'accounting provisions'] as const),
  ...(['delinquency', 'delinquency policy', 'pending action', 'data request'] as const),
  ...(['consent', 'guarantor', 'collateral'] as const),
  ...(['contact', 'promise', 'loan hold', 'loan assignment', 'reminder'] as const),
] as const

/** What is kept of a thing depends on its kind. */
const state = z.unknown().meta({ type: ['object', 'null'], additionalProperties: true })

const auditQuery = listQuery.extend({
  entity: z.enum(ENTITIES).optional().describe('Only the changes of this kind of thing.'),
  entityId: text({ max: 40 }).optional().describe('The number of the customer, loan, account or product.'),
  accountId: queryInt({ min: 1, max: LARGEST_INT32 }).optional().describe('Only the changes that this account made.'),
  action: text({ max: 40 }).optional().describe('Only changes of this kind, such as `update` or `reverse`.'),
  from: queryInstant.optional().describe('Only changes from this instant on; a date stands for its first instant.'),
  to: queryInstant.optional().describe('Only changes before this instant; of a date, the whole day is included.'),
})

const auditSchema = named(
  'AuditEntry',
  z.object({
    id: z.string().describe('The number of the row; later rows have larger ones.'),
    at: instant.describe('When the change was made.'),
    accountId: count.nullable().describe('Null: the service itself, or an operator at its command line.'),
    requestId: z
      .string()
      .nullable()
      .describe(
        'The request; `caller:` stands before an id that the caller chose. Of the command line, who ran it and which run it was.',
      ),
    action: z
      .string()
      .describe(
        'What was done, such as `create`, `update`, `close` or `revoke`; of a loan also the type of the transaction that was posted. A later version may add values.',
      ),
    entity: word('The kind of thing that was changed', ENTITIES),
    entityId: z.string().describe('The number of what was changed.'),
    before: state.describe('The state before, amounts in minor units; null where this change made it.'),
    after: state.describe('The state after, amounts in minor units.'),
  }),
  { example: examples.auditEntry },
)

const auditPage = pageOf('AuditPage', auditSchema, { total: 2, rowsPerPage: 1 })

/** Adds the reading of the audit trail, for operators. */
export function auditRoutes(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/audit-trail',
    {
      schema: {
        tags: ['audit trail'],
        operationId: 'listAuditTrail',
        summary: 'Read the audit trail',
        description:
          'Every change to a customer, loan, account or product, newest first. A cursor goes back in time; changes that are made meanwhile are not in it.',
        querystring: auditQuery,
        response: { 200: auditPage },
      },
    },
    async ({ caller, query }) => {
      const { page: _, rows: __, after: ___, from, to, ...asked } = query
      const { zone } = deps.config
      const filter = { ...asked, since: startOfBound(from, zone), until: endOfBound(to, zone) }
      const view = (entry: AuditEntry) => ({
        ...entry,
        id: String(entry.id),
        at: toRfc3339(entry.at, zone),
      })
      return toPage(await listAudit(deps, caller, filter, rangeOf(query)), query, view)
    },
  )
}
