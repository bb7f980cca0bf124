import { LINES_TYPE } from '../../src/api/body/lines.ts'
import { operationsOf, shownIn } from './document.ts'
import type { Answer, Call, TestService } from './service.ts'
import { showing } from './upload.ts'
import type { Document, Operation } from './wire.ts'

const OF_LIVE = 'the demonstration accounts of the page are of a live organization'

const NOTHING_WAITS =
  'nothing of the story is above the amount, and one ADMIN alone can let nothing wait and approve it'

const NO_MESSAGE = 'no provider has sent a message'

/** The operations for which no order finds the state that they need. */
export const REFUSED: Readonly<Record<string, string>> = {
  activateCustomer: 'a customer is Active at once; only an import makes one Pending',
  activateCustomerByExternalId: 'a customer is Active at once; only an import makes one Pending',
  closeCustomerByExternalId: 'the operation before it, by the number, has closed the customer',
  confirmErasure: 'the first data request is of another kind',
  refuseDataRequest: 'the first data request is completed by then',
  withdrawDataRequest: 'the first data request is completed by then',
  getTestClock: OF_LIVE,
  advanceTestClock: OF_LIVE,
  resetTestOrganization: OF_LIVE,
  testPayments: OF_LIVE,
  acceptExport: 'a file is made in the background, which does not run here',
  getExportFile: 'a file is made in the background, which does not run here',
  resetSecondFactor: 'no account of the demonstration has a second factor',
  closePeriod: 'what was lent a moment ago is booked in a month that is not over',
}

/** The operations whose example names what a service does not have. */
export const UNKNOWN: Readonly<Record<string, string>> = {
  getPendingAction: NOTHING_WAITS,
  approvePendingAction: NOTHING_WAITS,
  rejectPendingAction: NOTHING_WAITS,
  withdrawPendingAction: NOTHING_WAITS,
  verifyDocument: 'the code of a document follows from the secret of the service',
  getPaymentMessage: NO_MESSAGE,
  recoverPaymentMessage: NO_MESSAGE,
}

/** What the reference sends when nothing of what it fills in is changed. */
export interface Prefilled {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body: unknown
  readonly isUpload: boolean
  readonly isLines: boolean
  readonly forOperators: boolean
  readonly operation: Operation
}

const parametersOf = ({ parameters = [] }: Operation) =>
  parameters as readonly { in: string; name: string; required?: boolean; example?: unknown }[]

/** The query that the reference fills in, from its question mark on; empty for none. */
export function queryOf(operation: Operation): string {
  const query = parametersOf(operation).filter((one) => one.in === 'query' && one.example !== undefined)
  const search = new URLSearchParams(query.map((one): [string, string] => [one.name, String(one.example)])).toString()
  return search === '' ? '' : `?${search}`
}

/** Whether an operation takes a parameter that may not be left out besides its path. */
export const needsQuery = (operation: Operation): boolean =>
  parametersOf(operation).some((one) => one.in === 'query' && one.required)

/** Every operation of a document, in its order, with the values that the reference fills in. */
export const prefilledOf = (document: Document): Prefilled[] =>
  operationsOf(document).map(([name, operation]) => {
    const [method = '', path = ''] = name.split(' ')
    const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {})
    const parameters = parametersOf(operation)
    const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
      const example = parameters.find((one) => one.in === 'path' && one.name === parameter)?.example
      return encodeURIComponent(String(example))
    })
    return {
      name,
      method: method as Prefilled['method'],
      path: filled + queryOf(operation),
      body: media && shownIn(document, media)[0],
      isUpload: type === 'multipart/form-data',
      isLines: type === LINES_TYPE,
      forOperators: 'x-required-role' in operation,
      operation,
    }
  })

/** Sends what the reference fills in; a file is `statement`, which a person chooses. */
export function sendPrefilled(
  service: TestService,
  { method, path, body, isUpload, isLines, forOperators }: Prefilled,
  {
    host,
    token,
    statement,
    headers = {},
  }: Pick<Call, 'host' | 'headers' | 'token'> & { readonly statement?: Buffer } = {},
): Promise<Answer> {
  const { statement: _, ...fields } = (body ?? {}) as Record<string, string>
  const lines = { raw: JSON.stringify(body), headers: { 'content-type': LINES_TYPE } }
  const content = isUpload ? showing(statement!, fields) : isLines ? lines : body === undefined ? {} : { body }
  const call: Call = {
    ...content,
    ...(host !== undefined && { host }),
    ...((token ?? forOperators) && { token: token ?? service.tokens.operator }),
    headers: { ...('headers' in content ? content.headers : {}), ...headers },
  }
  return service[method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete'](path, call)
}
