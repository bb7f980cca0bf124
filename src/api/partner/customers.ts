import type { Caller } from '../../services/access/caller.ts'
import {
  activateCustomer,
  assignExternalId,
  type Customer,
  closeCustomer,
  createCustomer,
  getCustomer,
  getIdentity,
  identifyCustomer,
  listCustomers,
} from '../../services/customers/customers.ts'
import type { Deps } from '../../services/deps.ts'
import { getOrganization } from '../../services/organizations/organizations.ts'
import { toIdentity, toIdentityView } from '../lists/identity.ts'
import { rangeOf } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import {
  activateCustomerRequest,
  closeCustomerRequest,
  createCustomerRequest,
  customerPage,
  customerQuery,
  customerSchema,
  externalIdRequest,
  identityRequest,
  identitySchema,
  toCustomer,
  toCustomerFilter,
} from './customers.wire.ts'
import { closedCustomer } from './openapi/examples.ts'
import { CUSTOMER_ADDRESSES, toPage } from './registry.ts'

const tags = ['customers']
const STATUS_TAGS = ['customer status']
const WRONG_STATE = 'The state of the customer, or of the loans, does not allow it.'

export function customerRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  // Read before anything is changed: a change that is saved must also be answered.
  const show = async (caller: Caller, act: () => Promise<Customer>) => {
    const organization = await getOrganization(deps, caller)
    return toCustomer(await act(), organization, zone)
  }

  app.post(
    '/v1/customers',
    {
      config: { refusals: ['already_exists'] },
      schema: {
        tags,
        operationId: 'createCustomer',
        summary: 'Create a customer',
        description: 'The customer is Active at once.',
        body: createCustomerRequest,
        response: { 200: customerSchema },
      },
    },
    ({ caller, body: { externalId, identity } }) =>
      show(caller, () => createCustomer(deps, caller, externalId, identity && toIdentity(identity))),
  )

  app.get(
    '/v1/customers',
    {
      schema: {
        tags,
        operationId: 'listCustomers',
        summary: 'List customers',
        description:
          'In the order in which they came. With `externalId`: the one customer that has it, or none. An item must match all filters.',
        querystring: customerQuery,
        response: { 200: customerPage },
      },
    },
    async ({ caller, query }) => {
      const organization = await getOrganization(deps, caller)
      const listed = await listCustomers(deps, caller, toCustomerFilter(query, zone), rangeOf(query))
      return toPage(listed, query, (customer) => toCustomer(customer, organization, zone))
    },
  )

  app.post(
    '/v1/customers/:id/external-id',
    {
      config: {
        refusals: ['already_exists', 'failed_precondition'],
        explained: {
          failed_precondition: ['The customer has another one.', 'the customer has an externalId already, CUST-0001'],
        },
      },
      schema: {
        tags,
        operationId: 'assignExternalId',
        summary: 'Give a customer an externalId',
        description:
          'Once, to a customer that a record system made: the partner style can then lend to the borrower. `firstname`, `lastname` and `displayName` then follow the externalId. The same externalId again changes nothing.',
        params: CUSTOMER_ADDRESSES[0].params,
        body: externalIdRequest,
        response: { 200: customerSchema },
      },
    },
    ({ caller, params: { id }, body }) => show(caller, () => assignExternalId(deps, caller, id, body.externalId)),
  )

  for (const { path, params, named } of CUSTOMER_ADDRESSES) {
    app.get(
      `/v1/customers${path}`,
      {
        schema: {
          tags,
          operationId: named('getCustomer'),
          summary: 'Read a customer',
          description: 'As the customer is now.',
          params,
          response: { 200: customerSchema },
        },
      },
      ({ caller, params: ref }) => show(caller, () => getCustomer(deps, caller, ref)),
    )

    app.put(
      `/v1/customers${path}/identity`,
      {
        schema: {
          tags,
          operationId: named('updateIdentity'),
          summary: 'Say who a customer is',
          description:
            'In place of all that was known: what is left out is unknown. It is encrypted with a key of the customer, and no event tells it.',
          params,
          body: identityRequest,
          response: { 200: customerSchema },
        },
      },
      ({ caller, params: ref, body }) => show(caller, () => identifyCustomer(deps, caller, ref, toIdentity(body))),
    )

    app.get(
      `/v1/customers${path}/identity`,
      {
        schema: {
          tags,
          operationId: named('getIdentity'),
          summary: 'Read who a customer is',
          description: 'What is known of the person; empty where nothing is.',
          params,
          response: { 200: identitySchema },
        },
      },
      async ({ caller, params: ref }) => toIdentityView(await getIdentity(deps, caller, ref)),
    )

    app.post(
      `/v1/customers${path}/activate`,
      {
        config: {
          refusals: ['failed_precondition'],
          explained: {
            failed_precondition: [WRONG_STATE, 'the customer is Active; only a Pending one can be activated'],
          },
        },
        schema: {
          tags: STATUS_TAGS,
          operationId: named('activateCustomer'),
          summary: 'Activate a customer',
          description: 'Pending → Active.',
          params,
          body: activateCustomerRequest,
          response: { 200: customerSchema },
        },
      },
      ({ caller, params: ref, body }) => show(caller, () => activateCustomer(deps, caller, ref, body?.activationDate)),
    )

    app.post(
      `/v1/customers${path}/close`,
      {
        config: {
          refusals: ['failed_precondition'],
          explained: {
            failed_precondition: [WRONG_STATE, 'the customer has 1 open loan; only one without can be closed'],
          },
          examples: { Closed: closedCustomer },
        },
        schema: {
          tags: STATUS_TAGS,
          operationId: named('closeCustomer'),
          summary: 'Close a customer',
          description: 'Active → Closed; refused while a loan is open. A Closed customer can take no new loan.',
          params,
          body: closeCustomerRequest,
          response: { 200: customerSchema },
        },
      },
      ({ caller, params: ref, body }) => show(caller, () => closeCustomer(deps, caller, ref, body ?? {})),
    )
  }
}
