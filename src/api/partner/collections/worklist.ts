import { z } from 'zod'
import { CONTACT_CHANNELS, CONTACT_OUTCOMES } from '../../../domain/collections/contact.ts'
import { HOLD_KINDS } from '../../../domain/collections/hold.ts'
import {
  PLACEHOLDERS,
  REMINDER_LANGUAGES,
  REMINDERS,
  type ReminderPolicy,
} from '../../../domain/collections/reminders.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { minorToNumber } from '../../../domain/money.ts'
import { readReminderPolicy, setReminderPolicy } from '../../../services/collections/reminderPolicy.ts'
import { MOST_WORK, readWorklist, WORKLIST_ORDERS, type WorkItem } from '../../../services/collections/worklist.ts'
import type { Deps } from '../../../services/deps.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { queryInt } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import type { StyleApp } from '../../style.ts'
import { codec, instant, money, Refused, readInteger, smallInt, text } from '../../wire.ts'
import { named } from '../registry.ts'
import { tags } from './contacts.ts'
import * as examples from './examples.ts'

const queryOfficer = codec<number | 'me' | 'none'>(
  (value) => {
    if (value === 'me' || value === 'none') return value
    const id = typeof value === 'string' ? readInteger(value, 1n, BigInt(LARGEST_INT32)) : new Refused('')
    return id instanceof Refused ? new Refused('must be the number of an account, `me` or `none`') : Number(id)
  },
  { type: 'string', pattern: '^([1-9][0-9]{0,9}|me|none)$' },
)

const worklistQuery = z.strictObject({
  orderBy: z
    .enum(WORKLIST_ORDERS)
    .default('daysPastDue')
    .describe(
      'What comes first: the longest overdue, the largest overdue amount, the most broken promises, or the next action.',
    ),
  assignedTo: queryOfficer
    .optional()
    .describe('The account of an officer; `me`: the caller; `none`: loans that nobody has.'),
  productId: queryInt({ min: 1, max: LARGEST_INT32 }).optional(),
  bucket: text({ max: 100 })
    .optional()
    .describe('A bucket of the policy in force, as loans were at the beginning of the day.'),
  page: queryInt(
    { min: 1, max: LARGEST_INT32 },
    { description: 'The number of the page, from 1.', default: 1 },
  ).default(1),
  rows: queryInt({ min: 1, max: MOST_WORK }, { description: 'Loans in the answer at most.', default: 50 }).default(50),
})

const workContact = named(
  'WorkContact',
  z.object({
    at: instant,
    channel: word('How the customer was contacted', CONTACT_CHANNELS),
    outcome: word('What came of it', CONTACT_OUTCOMES),
  }),
  { example: examples.worklist.items[0]!.lastContact },
)

const workPromise = named('WorkPromise', z.object({ id: z.string(), amount: money, by: z.iso.date() }), {
  example: examples.worklist.items[0]!.promise,
})

const workItem = named(
  'WorkItem',
  z.object({
    loanId: z.string(),
    loanExternalId: z.string().nullable(),
    customerId: z.string(),
    customerExternalId: z.string().nullable(),
    customerName: z.string(),
    phone: z.string().optional(),
    productId: count.optional(),
    productName: z.string().optional(),
    status: z.string(),
    daysPastDue: count,
    bucket: z.string().optional().describe('The bucket of now; absent for a loan that is not open.'),
    currencyCode: z.string(),
    totalOverdue: money,
    totalOutstanding: money,
    brokenPromises: count,
    lastPaidOn: z.iso.date().optional(),
    lastContact: workContact.optional(),
    nextOn: z.iso.date().optional().describe('The day of the next action.'),
    promise: workPromise.optional().describe('The next open promise.'),
    holds: z.array(word('What is held', HOLD_KINDS)),
    assignedTo: count.optional().describe('The account of the officer.'),
  }),
  { example: examples.worklist.items[0]! },
)

const worklistSchema = named(
  'Worklist',
  z.object({
    asOf: z.iso.date(),
    items: z.array(workItem),
    total: count,
    page: count,
    rowsPerPage: count,
  }),
  { example: examples.worklist },
)

/** Builds the view of a loan to work at. */
const toWorkItem = (item: WorkItem, zone: string): z.infer<typeof workItem> => {
  const toAmount = (minor: bigint) => minorToNumber(minor, item.currency)
  const { contactedAt, channel, outcome, promiseId, promised, by } = item
  return {
    loanId: String(item.id),
    loanExternalId: item.externalId,
    customerId: String(item.customerId),
    customerExternalId: item.customerExternalId,
    customerName: item.customerName,
    ...(item.phone !== null && { phone: item.phone }),
    ...(item.productId !== null && { productId: item.productId }),
    ...(item.productName !== null && { productName: item.productName }),
    status: item.status,
    daysPastDue: item.daysPastDue,
    ...(item.bucket !== null && { bucket: item.bucket.name }),
    currencyCode: item.currency.code,
    totalOverdue: toAmount(item.overdue),
    totalOutstanding: toAmount(item.outstanding),
    brokenPromises: item.brokenPromises,
    ...(item.lastPaidOn !== null && { lastPaidOn: item.lastPaidOn }),
    ...(contactedAt !== null &&
      channel !== null &&
      outcome !== null && { lastContact: { at: toRfc3339(contactedAt, zone), channel, outcome } }),
    ...(item.nextOn !== null && { nextOn: item.nextOn }),
    ...(promiseId !== null &&
      promised !== null &&
      by !== null && { promise: { id: String(promiseId), amount: toAmount(promised), by } }),
    holds: [...item.held],
    ...(item.assignedTo !== null && { assignedTo: item.assignedTo }),
  }
}

const template = (when: string, days: string) =>
  text({ max: REMINDERS.longestText, lines: true })
    .nullable()
    .describe(
      `The text of a reminder ${when} a due date, with ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')} (${days}) in braces; null: the service's own.`,
    )

const dayList = (most: number, min: number) => z.array(smallInt({ min, max: most })).max(REMINDERS.mostDays)

const policyMembers = {
  daysBefore: dayList(REMINDERS.mostBefore, 0).describe(
    'Days before the next due date on which `loan.due_soon` is told; 0: the day itself.',
  ),
  daysAfter: dayList(REMINDERS.mostAfter, 1).describe(
    'Days after the oldest due date that is unpaid on which `loan.reminder` is told.',
  ),
  language: z.enum(REMINDER_LANGUAGES).describe("The language of the service's own texts."),
}

const setPolicyRequest = named(
  'UpdateReminderPolicyRequest',
  z.strictObject({
    ...policyMembers,
    dueSoonText: template('before', 'days until then').optional(),
    overdueText: template('after', 'days since then').optional(),
  }),
  { example: examples.reminderPolicy },
)

const policySchema = named(
  'ReminderPolicy',
  z.object({
    daysBefore: z.array(count),
    daysAfter: z.array(count),
    language: word('The language of the texts', REMINDER_LANGUAGES),
    dueSoonText: z.string().nullable(),
    overdueText: z.string().nullable(),
  }),
  { example: examples.reminderPolicy },
)

const toPolicy = ({ daysBefore, daysAfter, ...rest }: ReminderPolicy): z.infer<typeof policySchema> => ({
  ...rest,
  daysBefore: [...daysBefore],
  daysAfter: [...daysAfter],
})

/** Adds the work list and the reminder policy. */
export function worklistRoutes(app: StyleApp, deps: Deps): void {
  app.get(
    '/v1/worklist',
    {
      schema: {
        tags,
        operationId: 'getWorklist',
        summary: 'Read whom to call',
        description:
          'The loans that are overdue, and those whose next action is due, with what was said and promised last. The list is of the moment: work at it from its first page.',
        querystring: worklistQuery,
        response: { 200: worklistSchema },
      },
    },
    async ({ caller, query: { assignedTo, ...query } }) => {
      const officer = assignedTo === 'me' ? (caller.accountId ?? 'none') : assignedTo
      const { asOf, items, total } = await readWorklist(deps, caller, { ...query, assignedTo: officer })
      const { zone } = deps.config
      return {
        asOf,
        items: items.map((item) => toWorkItem(item, zone)),
        total,
        page: query.page,
        rowsPerPage: query.rows,
      }
    },
  )
  app.put(
    '/v1/reminder-policy',
    {
      schema: {
        tags,
        operationId: 'updateReminderPolicy',
        summary: 'Set when borrowers are reminded',
        description:
          'The service sends no message: each reminder is an event with its text, for your own gateway. A borrower is reminded of a loan once a day at most, when the day begins. Without days, nobody is reminded.',
        body: setPolicyRequest,
        response: { 200: policySchema },
      },
    },
    async ({ caller, body }) => toPolicy(await setReminderPolicy(deps, caller, body)),
  )
  app.get(
    '/v1/reminder-policy',
    {
      schema: {
        tags,
        operationId: 'getReminderPolicy',
        summary: 'Read when borrowers are reminded',
        description: 'The days and the texts; without days, nobody is reminded.',
        response: { 200: policySchema },
      },
    },
    async ({ caller }) => toPolicy((await readReminderPolicy(deps, caller)).policy),
  )
}
