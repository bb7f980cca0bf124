import type { RecordId } from './recordIds.ts'

/**
 * JSON as it came over the wire, with what tests read of it: a view of any style may be asked for any of these, and has
 * only its own. That a field is there, and what it is, is what the test asserts. Ids are text but in the record style.
 */
export interface Wire<Id = string> {
  readonly [name: string]: unknown
  readonly id: Id
  readonly externalId: string
  readonly accountNo: string
  readonly code: string
  readonly message: string
  readonly status: string
  readonly action: string
  readonly kind: string
  readonly key: string
  readonly kid: string
  readonly name: string
  readonly grade: string
  readonly boostStatus: string
  readonly token: string
  readonly dueDate: string
  readonly result: string
  readonly field: string
  readonly version: string
  readonly total: number
  readonly page: number
  readonly rowsPerPage: number
  readonly principal: number
  readonly amount: number
  readonly totalPaid: number
  readonly totalOverpaid: number
  readonly totalOutstanding: number
  readonly totalOverdue: number
  readonly totalWrittenOff: number
  readonly totalRecovered: number
  readonly principalOutstanding: number
  readonly interestOutstanding: number
  readonly feesOutstanding: number
  readonly penaltyOutstanding: number
  readonly creditScore: number
  readonly creditLimit: number
  readonly availableCreditLimit: number
  readonly interest: number
  readonly penalty: number
  readonly overpayment: number
  readonly principalDue: number
  readonly totalDue: number
  readonly line: number
  readonly imported: number
  readonly refused: number
  readonly present: number
  readonly customerId: string
  readonly date: string
  readonly repayment_id: RecordId
  readonly enforceCreditLimit: boolean
  readonly interestWaived: number
  readonly closedOn?: string
  readonly chargedOffOn?: string
  readonly nextDueDate?: string
  readonly nextDueAmount?: number
  readonly overdueSince?: string
  readonly daysOverdue: number
  readonly fees: number
  readonly statement: { readonly averageMonthlyInflow: number; readonly monthly: readonly Wire<Id>[] }
  readonly item: Wire<Id>
  readonly items: readonly Wire<Id>[]
  readonly next?: string
  readonly loan_id: RecordId
  readonly business_name: string
  readonly keys: readonly Wire<Id>[]
  readonly details: readonly Wire<Id>[]
  readonly reasons: readonly string[]
  readonly repaymentSchedule: readonly Wire<Id>[]
  readonly restructures: readonly Wire<Id>[]
  readonly repaymentHistory: readonly Wire<Id>[]
}

/** An operation of a document. */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly responses: Record<
    string,
    { readonly content?: Record<string, Media>; readonly headers: Record<string, { readonly $ref: string }> }
  >
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly security?: readonly object[]
}

/** A body or an answer of a document. */
export interface Media {
  readonly schema: Record<string, unknown>
  readonly example?: unknown
  readonly examples?: Record<string, unknown>
}

/** `/openapi.json` of any host, with what tests read of it. */
export interface Document {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly info: { readonly description: string }
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    readonly schemas: Record<
      string,
      Record<string, unknown> & { readonly properties: Record<string, Record<string, unknown>> }
    >
    readonly securitySchemes: Record<string, { readonly description: string }>
    readonly headers: Record<string, { readonly description: string; readonly required?: boolean }>
  }
}
