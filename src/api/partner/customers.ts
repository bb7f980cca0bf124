import type { Deps } from '../../deps.ts'
import {
  activateCustomer,
  closeCustomer,
  createCustomer,
  getCustomer,
  pageCustomers,
} from '../../services/customers.ts'
import type { StyleApp } from '../style.ts'
import {
  activation,
  closure,
  customerPage,
  customerQuery,
  customerSchema,
  newCustomer,
  toCustomer,
} from './customers.wire.ts'
import { ADDRESSES, toPage } from './registry.ts'

const tags = ['customers']

export function customerRoutes(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/customers',
    {
      config: { refusals: ['already_exists'] },
      schema: {
        tags,
        summary: 'Create a customer',
        description: 'The customer is Active at once.',
        body: newCustomer,
        response: { 200: customerSchema },
      },
    },
    async ({ caller, body }) => toCustomer(await createCustomer(deps, caller, body.externalId)),
  )

  app.get(
    '/v1/customers',
    {
      schema: {
        tags,
        summary: 'List customers',
        description: 'In the order in which they came. With `externalId`: the one customer that has it, or none.',
        querystring: customerQuery,
        response: { 200: customerPage },
      },
    },
    async ({ caller, query: { externalId, ...page } }) =>
      toPage(await pageCustomers(deps, caller, { externalId }, page), page, toCustomer),
  )

  for (const { path, params } of ADDRESSES) {
    app.get(
      `/v1/customers${path}`,
      { schema: { tags, summary: 'Read a customer', params, response: { 200: customerSchema } } },
      async ({ caller, params: ref }) => toCustomer(await getCustomer(deps, caller, ref)),
    )

    app.post(
      `/v1/customers${path}/activate`,
      {
        config: { refusals: ['failed_precondition'] },
        schema: {
          tags,
          summary: 'Activate a customer',
          description: 'Pending → Active.',
          params,
          body: activation,
          response: { 200: customerSchema },
        },
      },
      async ({ caller, params: ref, body }) =>
        toCustomer(await activateCustomer(deps, caller, ref, body?.activationDate)),
    )

    app.post(
      `/v1/customers${path}/close`,
      {
        config: { refusals: ['failed_precondition'] },
        schema: {
          tags,
          summary: 'Close a customer',
          description: 'Active → Closed; refused while a loan is open. A Closed customer can take no new loan.',
          params,
          body: closure,
          response: { 200: customerSchema },
        },
      },
      async ({ caller, params: ref, body }) => toCustomer(await closeCustomer(deps, caller, ref, body ?? {})),
    )
  }
}
