import { z } from 'zod'
import { InvalidRequest, JsonNumber, parseJson } from '../../api/body/json.ts'
import { validatorCompiler } from '../../api/body/validation.ts'
import { IDENTITY_MEMBERS, toIdentity, verificationRequest } from '../../api/lists/identity.ts'
import { amount, emailOrEmpty, externalId, localDate, newExternalId, note, smallInt, text } from '../../api/wire.ts'
import { BORROWER_DETAILS, type BorrowerDetail, LONGEST_DETAIL } from '../../domain/customer/customer.ts'
import type { Identity } from '../../domain/customer/identity.ts'
import { FIRST_DATE, fromRfc3339, LAST_DATE } from '../../domain/dates.ts'
import { invalidArgument, LendingError, ledByField } from '../../domain/errors.ts'
import { ENTRY_TYPES, isCharge, isOfRestructures, type PostableType } from '../../domain/loan/entry.ts'
import { CHECK_COLUMNS, columnOfMember, identityIn } from '../../services/book/identityColumns.ts'
import type { CustomerLine } from '../../services/book/importCustomers.ts'
import type { LoanLine } from '../../services/book/importLoans.ts'
import type { TransactionLine } from '../../services/book/importTransactions.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'

/** The schema of a borrower detail, as in the record style: line breaks in the address only. */
function detailOf(detail: BorrowerDetail) {
  const max = LONGEST_DETAIL[detail]
  const value = detail === 'email' ? emailOrEmpty({ max }) : text({ min: 0, max, lines: detail === 'address' })
  return value.nullable().optional()
}

const details = Object.fromEntries(BORROWER_DETAILS.map((detail) => [detail, detailOf(detail)])) as Record<
  BorrowerDetail,
  ReturnType<typeof detailOf>
>

/** Fields of an export that an import computes again. */
const derived = (...names: string[]) => Object.fromEntries(names.map((name) => [name, z.unknown().optional()]))

/** The columns of who a customer is. */
const person = {
  ...Object.fromEntries(Object.entries(IDENTITY_MEMBERS).map(([member, schema]) => [columnOfMember(member), schema])),
  ...Object.fromEntries(
    Object.entries(CHECK_COLUMNS).map(([member, column]) => {
      const schema = verificationRequest.shape[member as keyof typeof CHECK_COLUMNS]
      return [column, schema.nullable().optional()]
    }),
  ),
} as Readonly<Record<string, z.ZodType>>

const customer = z.strictObject({
  externalId: newExternalId,
  activationDate: localDate.nullable().optional(),
  ...details,
  ...person,
  status: z.literal('Active', { error: 'must be Active: close the customer after its loans are imported' }).optional(),
  ...derived('id', 'accountNo', 'closedOn', 'closeReason', 'createdAt'),
})

const rfc3339 = z.string().transform((given, context) => {
  const instant = fromRfc3339(given)
  if (instant !== undefined) return instant
  const message = `must be a time of the calendar from ${FIRST_DATE} to ${LAST_DATE}, such as 2026-01-31T09:30:00+03:00`
  context.issues.push({ code: 'custom', message, input: given })
  return z.NEVER
})

const loan = z.strictObject({
  externalId: newExternalId,
  customerId: externalId,
  productId: smallInt({ min: 1, max: LARGEST_INT32 }),
  principal: amount,
  disbursedAt: rfc3339,
  ...derived(
    'id',
    'accountNo',
    'customerNumber',
    'currencyCode',
    'status',
    'netDisbursed',
    'numberOfRepayments',
    'interestRatePerPeriod',
  ),
  ...derived('principalOutstanding', 'interestOutstanding', 'feesOutstanding', 'penaltyOutstanding', 'totalPaid'),
  ...derived('totalOverpaid', 'totalOverdue', 'totalWrittenOff', 'totalRecovered', 'nextDueDate', 'overdueSince'),
  ...derived('dueDate', 'dueDateTime', 'chargedOffOn', 'closedOn', 'createdAt', 'updatedAt', 'record'),
})

/** The types of a file: a restructure, and what was posted with it, is posted by its operation. */
const IMPORTED_TYPES = ENTRY_TYPES.filter((type): type is PostableType => !isOfRestructures(type))

const transaction = z.strictObject({
  loanExternalId: externalId,
  type: z.enum(IMPORTED_TYPES).optional(),
  transactionAmount: amount.nullable().optional(),
  transactionDate: localDate,
  idempotencyKey: text({ max: 100 }),
  note: note.nullable().optional(),
  dueDate: localDate.nullable().optional(),
  paymentMethod: text({ max: 100 }).nullable().optional(),
  restructure: z.unknown().optional(),
  status: z.enum(['posted', 'reversed']).optional(),
  ...derived(
    'id',
    'loanId',
    'ordinal',
    'transactionAt',
    'currencyCode',
    'accountId',
    'replaces',
    'reversedAt',
    'paymentId',
  ),
  interest: z.unknown().optional(),
  ...derived('principal', 'fees', 'penalty', 'overpayment'),
})

/** Columns of a CSV file that are numbers; all others are text. */
const NUMBERS = new Set(['productId', 'principal', 'transactionAmount'])

/** Checks a record with a schema, in the words of a refused request. */
function checked<T extends z.ZodType>(schema: T, record: unknown): z.output<T> {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    throw new LendingError('invalid_argument', 'the line must be a JSON object')
  const validate = validatorCompiler({ schema, method: 'POST', url: '', httpPart: 'body' })
  const result = validate(record)
  if (typeof result === 'object' && result !== null && 'value' in result) return result.value as z.output<T>
  const { error } = result as unknown as { error: InvalidRequest }
  throw invalid(error)
}

/** Makes a refusal of the line; its fields are named as in the file. */
const invalid = ({ message, details }: InvalidRequest) =>
  new LendingError('invalid_argument', ledByField(message, details))

/** Parses a line of NDJSON; numbers keep their text. */
export function recordOfJson(line: string): unknown {
  try {
    return parseJson(line, 'the line')
  } catch (error) {
    throw error instanceof InvalidRequest ? invalid(error) : error
  }
}

/** A number as JSON writes it; any other text stays text, and is refused as such. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Reads a record of CSV; an empty field is left out. */
export const recordOfCsv = (fields: Readonly<Record<string, string>>): unknown =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [
        name,
        NUMBERS.has(name) && NUMBER.test(value.trim()) ? new JsonNumber(value.trim()) : value,
      ]),
  )

/**
 * Reads a record of a file as a customer to import.
 * @throws LendingError `invalid_argument` naming the field that is missing, unknown or wrong
 */
export function toCustomerLine(record: unknown): CustomerLine {
  const fields = checked(customer, record)
  const { externalId: id, activationDate, ...rest } = fields
  const identity = identityOfLine(fields)
  const given = Object.fromEntries(BORROWER_DETAILS.map((detail) => [detail, rest[detail] ?? undefined]))
  return { externalId: id, activationDate: activationDate ?? undefined, details: given, identity }
}

/** Reads who a customer is; undefined where the line says nothing of it. @throws LendingError `invalid_argument` for a part of a check */
function identityOfLine(fields: Readonly<Record<string, unknown>>): Identity | undefined {
  const given = identityIn(fields)
  if (!given) return undefined
  const check = given.verification as object | undefined
  const missing = check && (['by', 'on', 'result'] as const).find((member) => !(member in check))
  if (missing)
    throw new LendingError(
      'invalid_argument',
      `${CHECK_COLUMNS[missing]}: is required with the other columns of a check`,
    )
  return toIdentity(given)
}

/**
 * Reads a record of a file as a loan to import.
 * @throws LendingError `invalid_argument` as `toCustomerLine` does
 */
export function toLoanLine(record: unknown): LoanLine {
  const { externalId: id, customerId, productId, principal, disbursedAt } = checked(loan, record)
  return { externalId: id, customerExternalId: customerId, productId, principal, disbursedAt }
}

/** Returns whether the interest of an exported settlement waiver is 0: the waiver waives nothing. */
const isZero = (given: unknown): boolean =>
  /^0(\.0+)?$/.test(given instanceof JsonNumber ? given.source : String(given))

/** Types whose amount follows from the loan, and is not one that the client gives. */
const WITHOUT_AMOUNT: readonly string[] = ['Charge-off', 'Write-off', 'Settlement Waiver']

/**
 * Reads a record of a file as a transaction to import: a repayment when it has no type. The amount of a charge-off, a
 * write-off or a settlement waiver is ignored. Of reversed
 * transactions, only settlement waivers are taken: a waiver that an operator reversed must not be posted again. The note of a single charge is its name.
 * @throws LendingError `invalid_argument` as `toCustomerLine` does
 */
export function toTransactionLine(record: unknown): TransactionLine {
  const line = checked(transaction, record)
  const { type = 'Repayment', transactionAmount = null } = line
  const isReversed = line.status === 'reversed'
  if (isReversed && type !== 'Settlement Waiver')
    throw invalidArgument('status', 'must be posted: what was reversed is not imported')
  if (line.restructure !== undefined && line.restructure !== null)
    throw invalidArgument('type', `must not be of a restructure: the ${type} is posted again with it`)
  const own = !WITHOUT_AMOUNT.includes(type)
  if (own && transactionAmount === null) throw invalidArgument('amount', 'is required')
  if (isCharge(type) && !line.note) throw invalidArgument('name', `is required of a ${type}: what is charged`)
  if (!isCharge(type) && line.dueDate)
    throw invalidArgument('chargeDueOn', `must be empty of a ${type}: only a single charge is due`)
  return {
    loanExternalId: line.loanExternalId,
    type,
    amount: own ? transactionAmount : null,
    isReversed,
    waivesNothing: isZero(line.interest),
    valueDate: line.transactionDate,
    token: line.idempotencyKey,
    note: line.note ?? null,
    dueOn: line.dueDate ?? undefined,
    paymentMethod: line.paymentMethod ?? undefined,
  }
}
