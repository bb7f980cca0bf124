import type { StoryVariables } from '../../document/collection/variables.ts'

const id = (operationId: string) => ({ operationId, at: ['id'] })

/** The ids of the story of the examples that the collection of requests has as variables. */
export const VARIABLES: StoryVariables = {
  chosen: {
    customerExternalId: { value: 'wallet-255700000001', members: ['externalId', 'customerId'] },
    loanExternalId: { value: 'order-2026-0001', members: ['externalId'] },
  },
  answered: {
    customerId: id('createCustomer'),
    newProductId: id('createLoanProduct'),
    loanId: id('createLoan'),
    repaymentId: id('postRepayment'),
    adjustedId: id('adjustTransaction'),
    chargeId: id('chargeLoan'),
    secondChargeId: id('chargeLoanByExternalId'),
    chargeOffId: id('chargeOffLoan'),
    writeOffId: id('writeOffLoan'),
    eventId: { operationId: 'listEvents', at: ['items', 0, 'id'] },
    endpointId: id('createWebhookEndpoint'),
  },
  inPaths: {
    '/v1/customers/{id}': 'customerId',
    '/v1/customers/external/{externalId}': 'customerExternalId',
    '/v1/credit-scorecard/{customer}': 'customerExternalId',
    '/v1/loan-products/{id}/retire': 'newProductId',
    '/v1/loans/{id}': 'loanId',
    '/v1/loans/{id}/repayments/{transactionId}': 'repaymentId',
    '/v1/loans/{id}/repayments/{transactionId}/reverse': 'chargeOffId',
    '/v1/loans/{id}/charges/{transactionId}': 'chargeId',
    '/v1/loans/external/{externalId}': 'loanExternalId',
    '/v1/loans/external/{externalId}/repayments/{transactionId}': 'repaymentId',
    '/v1/loans/external/{externalId}/repayments/{transactionId}/adjust': 'adjustedId',
    '/v1/loans/external/{externalId}/repayments/{transactionId}/reverse': 'writeOffId',
    '/v1/loans/external/{externalId}/charges/{transactionId}': 'secondChargeId',
    '/v1/events/{id}': 'eventId',
    '/v1/webhook-endpoints/{id}': 'endpointId',
  },
}
