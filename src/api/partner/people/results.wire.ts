import { z } from 'zod'
import { CUSTOMER_STATUSES } from '../../../domain/customer/customer.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { minorToNumber } from '../../../domain/money.ts'
import type { Caller } from '../../../services/access/caller.ts'
import {
  type DataResult,
  type KnownDecision,
  MOST_LINES_OF_RESULT,
  MOST_LOANS_OF_RESULT,
  MOST_RECORDS_OF_RESULT,
  type ResultDeps,
  readDataResult,
} from '../../../services/customers/dataResults.ts'
import { holderOf } from '../../../toolbox/gate.ts'
import { toIdentityView } from '../../lists/identity.ts'
import { count, word } from '../../openapi/answers.ts'
import { instant, money } from '../../wire.ts'
import { contactSchema, toContact } from '../collections/contacts.ts'
import { holdSchema, toHold } from '../collections/holds.ts'
import { promiseSchema, toPromise } from '../collections/promises.ts'
import { consentSchema, toConsent } from '../consents.ts'
import { identitySchema, toAccountNo } from '../customers.wire.ts'
import { disputeSchema, noticeSchema, toDispute, toNotice } from '../exports/listings.ts'
import { loanSummary, toLoanSummary } from '../loans.wire.ts'
import { paymentSchema, toPayment } from '../payments/payments.wire.ts'
import { named } from '../registry.ts'
import { collateralSchema, toCollateral } from '../security/collateral.ts'
import { guarantorSchema, toGuarantor } from '../security/guarantors.ts'
import { toTransaction, transactionSchema } from '../transactions.wire.ts'
import { dataRequestSchema, toDataRequest } from './dataRequests.wire.ts'
import * as examples from './examples.ts'

const knownCustomer = named(
  'KnownCustomer',
  z.object({
    id: z.string(),
    accountNo: z.string(),
    externalId: z.string().nullable(),
    status: z.enum(CUSTOMER_STATUSES),
    activationDate: z.iso.date().nullable(),
    closedOn: z.iso.date().optional(),
    closeReason: z.string().optional(),
    businessName: z.string().optional().describe('This and the next are what a record system told.'),
    phone: z.string().optional(),
    email: z.string().optional(),
    address: z.string().optional(),
    type: z.string().optional(),
    region: z.string().optional(),
    country: z.string().optional(),
    createdAt: instant,
    updatedAt: instant,
  }),
  { example: examples.knownCustomer },
)

const decisionSchema = named(
  'CreditDecision',
  z.object({
    id: z.string(),
    kind: word('What was decided: a score, or whether a statement raises the limit', ['score', 'boost']),
    decidedAt: instant,
    policyVersion: z.string(),
    grade: z.string(),
    creditScore: count,
    creditLimit: money.describe('The limit after it.'),
    currencyCode: z.string(),
    outcome: word('Of a boost, what became of it', ['raised', 'unchanged', 'cooldown']).optional(),
    reasons: z.array(z.string()).describe('As they were given then; of a boost none.'),
    facts: z
      .unknown()
      .meta({ type: 'object', additionalProperties: true })
      .describe('The facts by which it was decided, as they are kept.'),
  }),
  { example: examples.decision },
)

const issuedDocument = named(
  'IssuedDocument',
  z.object({
    kind: word('What it is', ['statement', 'receipt']),
    loanId: z.string(),
    transactionId: z.string().optional().describe('Of a receipt.'),
    from: z.iso.date().optional().describe('Of a statement.'),
    to: z.iso.date().describe('The last day of a statement, or the value date of a receipt.'),
    language: z.string(),
    madeAt: instant.describe('When it was first made.'),
  }),
  { example: examples.issued },
)

const toldFile = named(
  'ToldFile',
  z.object({
    exportId: z.string(),
    format: z.string(),
    asOf: z.iso.date(),
    mode: word('What it tells', ['full', 'corrections']),
    accepted: z.boolean().describe('Whether the receiver has taken it.'),
    loanId: z.string(),
  }),
  { example: examples.told },
)

const toTold = ({ exportId, format, asOf, mode, isAccepted, loanId }: DataResult['files'][number]) => ({
  exportId: String(exportId),
  format,
  asOf,
  mode,
  accepted: isAccepted,
  loanId: String(loanId),
})

export const dataResultSchema = named(
  'DataRequestResult',
  z.object({
    madeAt: instant,
    lenderName: z.string(),
    licenceNumber: z.string().optional(),
    request: dataRequestSchema,
    customer: knownCustomer,
    identity: identitySchema,
    consents: z.array(consentSchema),
    loans: z.array(loanSummary).describe(`At most ${MOST_LOANS_OF_RESULT.toLocaleString('en')}.`),
    transactions: z
      .array(transactionSchema)
      .describe(
        `Of all loans, reversed ones too: at most ${MOST_LINES_OF_RESULT.toLocaleString('en')}, together with the instalments.`,
      ),
    guarantors: z
      .array(guarantorSchema)
      .describe('Who answers for the loans, without who they are: that is theirs to ask for.'),
    guarantees: z.array(guarantorSchema).describe('The loans of others for which the person answers, or did.'),
    collateral: z.array(collateralSchema),
    payments: z
      .array(paymentSchema)
      .describe(
        `Those that were allocated to the loans, with these allocations alone, and those that named the person: at most ${MOST_RECORDS_OF_RESULT.toLocaleString('en')}, as of each other kind.`,
      ),
    creditDecisions: z.array(decisionSchema),
    documents: z.array(issuedDocument).describe('The statements and receipts that were made.'),
    dataRequests: z.array(dataRequestSchema),
    listingNotices: z.array(noticeSchema).describe('What the person was told before a listing.'),
    disputes: z.array(disputeSchema),
    contacts: z.array(contactSchema),
    promises: z.array(promiseSchema).describe('On the loans, as they were told last.'),
    holds: z.array(holdSchema),
    files: z.array(toldFile).describe('The files for bureaux and supervisors that have the loans.'),
  }),
  { example: examples.result },
)

type ResultView = z.input<typeof dataResultSchema>

/** A file of the result of a data request. */
export interface ResultFile {
  readonly bytes: Buffer
  readonly type: 'application/json; charset=utf-8'
  readonly name: string
}

/**
 * Writes the result of a data request as JSON, in a place of the caller. The loans are written one after the other.
 * @throws LendingError as `readDataResult` does
 */
export function writeDataResult(deps: ResultDeps, caller: Caller, id: bigint): Promise<ResultFile> {
  return deps.gates.files.run(holderOf(caller), async () => {
    const [loans, transactions] = [listWriter(), listWriter()]
    const result = await readDataResult(deps, caller, { id, format: 'json' }, ({ loan, state }) => {
      loans.add([toLoanSummary({ loan, state })])
      transactions.add(
        loan.entries.map((entry) => toTransaction({ loan, entry, outcome: state.outcomes.get(entry.ordinal) })),
      )
    })
    const { consents, request, customer, identity, madeAt, lenderName, licenceNumber, ...rest } = toView(
      result,
      deps.config.zone,
    )
    const head = JSON.stringify({ madeAt, lenderName, licenceNumber, request, customer, identity, consents })
    const bytes = Buffer.concat([
      Buffer.from(`${head.slice(0, -1)},"loans":`),
      ...loans.end(),
      Buffer.from(',"transactions":'),
      ...transactions.end(),
      Buffer.from(`,${JSON.stringify(rest).slice(1)}`),
    ])
    return { bytes, type: 'application/json; charset=utf-8', name: `data-request-${id}.json` }
  })
}

/** Writes a list of JSON, some items at a time. */
function listWriter() {
  const parts: Buffer[] = []
  return {
    add(items: readonly object[]) {
      if (items.length === 0) return
      const text = JSON.stringify(items).slice(1, -1)
      parts.push(Buffer.from(parts.length === 0 ? text : `,${text}`))
    },
    end: () => [Buffer.from('['), ...parts, Buffer.from(']')],
  }
}

/** Builds the view of what is known of a person, besides the loans. */
function toView(result: DataResult, zone: string): Omit<ResultView, 'loans' | 'transactions'> {
  const { lender, request, identity, consents, guarantors, guarantees, collateral, payments } = result
  return {
    madeAt: toRfc3339(result.madeAt, zone),
    lenderName: lender.legalName,
    ...(lender.licenceNumber !== null && { licenceNumber: lender.licenceNumber }),
    request: toDataRequest(request, zone),
    customer: toKnown(result.customer, zone),
    identity: toIdentityView(identity),
    consents: consents.map((one) => toConsent(one, zone)),
    guarantors: guarantors.map((one) => toGuarantor(one, zone)),
    guarantees: guarantees.map((one) => toGuarantor(one, zone)),
    collateral: collateral.map((one) => toCollateral(one, zone)),
    payments: payments.map((one) => toPayment(one, zone)),
    creditDecisions: result.decisions.map((one) => toDecision(one, zone)),
    documents: result.documents.map((one) => toIssued(one, zone)),
    dataRequests: result.requests.map((one) => toDataRequest(one, zone)),
    listingNotices: result.notices.map(toNotice(zone)),
    disputes: result.disputes.map(toDispute(zone)),
    contacts: result.contacts.map((one) => toContact(one, zone)),
    promises: result.promises.map((one) => toPromise(one, zone)),
    holds: result.holds.map((one) => toHold(one, zone)),
    files: result.files.map(toTold),
  }
}

function toKnown(customer: DataResult['customer'], zone: string): ResultView['customer'] {
  const { isErased: _, id, accountNo, externalId, status, activationDate, createdAt, updatedAt, ...words } = customer
  return {
    id: String(id),
    accountNo: toAccountNo(accountNo),
    externalId,
    status,
    activationDate,
    ...Object.fromEntries(Object.entries(words).filter(([, word]) => word !== null && word !== '')),
    createdAt: toRfc3339(createdAt, zone),
    updatedAt: toRfc3339(updatedAt, zone),
  }
}

function toDecision(decision: KnownDecision, zone: string): ResultView['creditDecisions'][number] {
  const { id, kind, at, policyVersion, grade, score, creditLimit, currency, outcome, reasons, facts } = decision
  return {
    id: String(id),
    kind,
    decidedAt: toRfc3339(at, zone),
    policyVersion,
    grade,
    creditScore: score,
    creditLimit: minorToNumber(creditLimit, currency),
    currencyCode: currency.code,
    ...(outcome !== null && { outcome }),
    reasons: [...reasons],
    facts,
  }
}

const toIssued = (
  { kind, loanId, transactionId, fromDate, toDate, language, madeAt }: DataResult['documents'][number],
  zone: string,
): ResultView['documents'][number] => ({
  kind,
  loanId: String(loanId),
  ...(transactionId !== null && { transactionId: String(transactionId) }),
  ...(fromDate !== null && { from: fromDate }),
  to: toDate,
  language,
  madeAt: toRfc3339(madeAt, zone),
})
