import type { Deps } from '../../deps.ts'
import { createCustomer, getCustomer, pageCustomers } from '../../services/customers.ts'
import type { StyleApp } from '../style.ts'
import { customerPage, customerQuery, customerSchema, newCustomer, toCustomer } from './customers.wire.ts'
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

  for (const { path, params } of ADDRESSES)
    app.get(
      `/v1/customers${path}`,
      { schema: { tags, summary: 'Read a customer', params, response: { 200: customerSchema } } },
      async ({ caller, params: ref }) => toCustomer(await getCustomer(deps, caller, ref)),
    )
}
