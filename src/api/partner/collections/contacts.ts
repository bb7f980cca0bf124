import { z } from 'zod'
import { CONTACT_CHANNELS, CONTACT_OUTCOMES, LONGEST_NOTE } from '../../../domain/collections/contact.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { type Contact, listContacts, recordContact } from '../../../services/collections/contacts.ts'
import type { Deps } from '../../../services/deps.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import type { StyleApp } from '../../style.ts'
import { instant, loanNumber, localDate, moment, text } from '../../wire.ts'
import { CUSTOMER_ADDRESSES, named, pageOf, toPage } from '../registry.ts'
import * as examples from './examples.ts'

export const tags = ['collections']

/** Makes the schema of a note or a reason, which is kept encrypted. */
export const words = (what: string) =>
  text({ max: LONGEST_NOTE, lines: true }).describe(`${what} It is encrypted with the key of the customer.`)

/** The account that recorded something, in an answer. */
export const recordedBy = count.nullable().describe('The account that recorded it; null: the command line.')

const createContactRequest = named(
  'CreateContactRequest',
  z.strictObject({
    channel: z.enum(CONTACT_CHANNELS).describe('How the customer was contacted.'),
    outcome: z.enum(CONTACT_OUTCOMES).describe('What came of it.'),
    note: words('What was said.').optional(),
    loanId: loanNumber
      .optional()
      .describe("The loan that it was about, by the service's number; left out: all loans of the customer."),
    contactedAt: moment.optional().describe('Now, when left out; not in the future.'),
    nextOn: localDate.optional().describe('The day of the next action: today or later, within 366 days.'),
  }),
  { example: examples.newContact },
)

export const contactSchema = named(
  'Contact',
  z.object({
    id: z.string().describe("The service's number."),
    customerId: z.string(),
    loanId: z.string().optional(),
    channel: word('How the customer was contacted', CONTACT_CHANNELS),
    outcome: word('What came of it', CONTACT_OUTCOMES),
    note: z
      .string()
      .nullable()
      .describe('Null: nothing was noted, the customer was erased, or the caller has no `collections.work`.'),
    contactedAt: instant,
    nextOn: z.iso.date().optional(),
    accountId: recordedBy,
    createdAt: instant,
  }),
  { example: examples.contact },
)

const contactPage = pageOf('ContactPage', contactSchema)

/** Builds the view of a contact. */
export const toContact = (contact: Contact, zone: string): z.infer<typeof contactSchema> => ({
  id: String(contact.id),
  customerId: String(contact.customerId),
  ...(contact.loanId !== null && { loanId: String(contact.loanId) }),
  channel: contact.channel,
  outcome: contact.outcome,
  note: contact.note,
  contactedAt: toRfc3339(contact.contactedAt, zone),
  ...(contact.nextOn !== null && { nextOn: contact.nextOn }),
  accountId: contact.accountId,
  createdAt: toRfc3339(contact.createdAt, zone),
})

/** Adds the contacts with customers. */
export function contactRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  for (const { path, params, named } of CUSTOMER_ADDRESSES) {
    app.post(
      `/v1/customers${path}/contacts`,
      {
        schema: {
          tags,
          operationId: named('createContact'),
          summary: 'Record a contact with a customer',
          description:
            'A call, a message or a visit, and what came of it. The newest contact about a loan says on which day the work list has the loan next. It is never changed.',
          params,
          body: createContactRequest,
          response: { 200: contactSchema },
        },
      },
      async ({ caller, params: ref, body }) => toContact(await recordContact(deps, caller, ref, body), zone),
    )
    app.get(
      `/v1/customers${path}/contacts`,
      {
        schema: {
          tags,
          operationId: named('listContacts'),
          summary: 'List the contacts with a customer',
          description: 'In the order in which they were recorded.',
          params,
          querystring: listQuery,
          response: { 200: contactPage },
        },
      },
      async ({ caller, params: ref, query }) =>
        toPage(await listContacts(deps, caller, ref, rangeOf(query)), query, (one) => toContact(one, zone)),
    )
  }
}
