import { setImmediate as turn } from 'node:timers/promises'
import { displayName } from '../../domain/customer/customer.ts'
import { dateIn, type Instant, toRfc3339 } from '../../domain/dates.ts'
import { MOST_LINES } from '../../domain/documents/documents.ts'
import { failedPrecondition } from '../../domain/errors.ts'
import { paymentMethodOf } from '../../domain/loan/entry.ts'
import { totalOf } from '../../domain/loan/portions.ts'
import { type Currency, currencyOf, rateToNumber } from '../../domain/money.ts'
import { holderOf } from '../../toolbox/gate.ts'
import { collectionWords } from '../../words/collections.ts'
import { REQUEST_KIND_WORDS, REQUEST_STATE_WORDS, RESULT_WORDS } from '../../words/dataRequests.ts'
import { DOCUMENT_WORDS, LINE_WORDS, STATUS_WORDS } from '../../words/documents.ts'
import { PAYMENT_STATUS_WORDS } from '../../words/names.ts'
import { statusWords, thingWords } from '../../words/pages.ts'
import { peopleWords } from '../../words/people.ts'
import { recordWords } from '../../words/records.ts'
import { type Language, speak } from '../../words/words.ts'
import type { Caller } from '../access/caller.ts'
import type { Listing, ListingPart, ListingTable } from '../documents/pdf/pages.ts'
import { groupedText } from '../documents/texts.ts'
import type { LoanNow } from '../loans/loans.ts'
import { type DataResult, type ResultDeps, readDataResult } from './dataResults.ts'

const WORDS = {
  ...collectionWords,
  ...recordWords,
  ...peopleWords,
  ...thingWords,
  ...DOCUMENT_WORDS,
  ...RESULT_WORDS,
}

/** What the texts of a result are written in. */
interface Writing {
  readonly language: Language
  readonly zone: string
  readonly say: ReturnType<typeof speak<keyof typeof WORDS>>
}

type Pairs = NonNullable<ListingPart['pairs']>

/** A PDF of a result. */
export interface ResultPdf {
  readonly bytes: Buffer
  readonly type: 'application/pdf'
  readonly name: string
}

/**
 * Writes the result of a data request as a PDF, in the language of the person and in a place of the caller.
 * @throws LendingError as `readDataResult` and `Printer.print` do, and `failed_precondition` for one of more than `MOST_LINES` lines
 */
export function printDataResult(
  deps: ResultDeps,
  caller: Caller,
  id: bigint,
  language: Language = 'en',
): Promise<ResultPdf> {
  return deps.gates.pdfs.run(holderOf(caller), async () => {
    const { zone } = deps.config
    const writing = { language, zone, say: speak(WORDS, language) }
    const loans: ListingPart[] = []
    let lines = 0
    const count = (more: number) => {
      lines += more
      if (lines > MOST_LINES)
        throw failedPrecondition(`the PDF would have more than ${MOST_LINES} lines: take the result as JSON`)
    }
    const result = await readDataResult(deps, caller, { id, format: `pdf ${language}` }, (now) => {
      count(now.loan.entries.length + now.state.periods.length)
      loans.push(loanPart(writing, now))
    })
    const others = partsBeside(writing, result)
    for (const { tables = [] } of others) for (const { rows } of tables) count(rows.length)
    await turn()
    const day = dateIn(zone, result.madeAt)
    const { legalName: name, licenceNumber, logo } = result.lender
    const document: Listing = {
      kind: 'listing',
      language,
      lender: { name, licenceNumber },
      title: writing.say('title'),
      subject: writing.say('customerNumber'),
      number: String(result.customer.id),
      foot: writing.say('foot', { day, id }),
      day,
      parts: [personPart(writing, result), ...loansOf(writing, loans), ...others],
    }
    const bytes = await deps.printer.print({ document, logo })
    return { bytes, type: 'application/pdf', name: `data-request-${id}-${language}.pdf` }
  })
}

const loansOf = ({ say }: Writing, loans: readonly ListingPart[]): readonly ListingPart[] =>
  loans.length > 0 ? loans : [{ heading: say('loans'), pairs: [['', say('noLoan')]] }]

const timeOf = ({ zone }: Writing, at: Instant): string => toRfc3339(at, zone).slice(0, 16).replace('T', ' ')

/** Leaves out labels without a value. */
const known = (pairs: readonly (readonly [label: string, value: string | null | undefined | false])[]): Pairs =>
  pairs.flatMap(([label, value]) => (value ? [[label, value.replaceAll('\n', ', ')] as const] : []))

function personPart(writing: Writing, { customer, identity, madeAt }: DataResult): ListingPart {
  const { say, language } = writing
  const { verification, gender, idType } = identity
  const pairs = known([
    [say('borrower'), displayName(customer)],
    [say('customerNumber'), String(customer.id)],
    [say('externalId'), customer.externalId],
    [say('status'), speak(statusWords, language)(customer.status)],
    [say('since'), customer.activationDate],
    [say('closedOn'), customer.closedOn],
    [say('closeReason'), customer.closeReason],
    [say('businessName'), customer.businessName],
    [say('phone'), customer.phone],
    [say('email'), customer.email],
    [say('address'), customer.address],
    [say('type'), customer.type],
    [say('region'), customer.region],
    [say('country'), customer.country],
    [say('firstName'), identity.firstName],
    [say('middleName'), identity.middleName],
    [say('lastName'), identity.lastName],
    [say('dateOfBirth'), identity.dateOfBirth],
    [say('gender'), gender && say(`person_${gender}`)],
    [say('nationality'), identity.nationality],
    [say('idType'), idType && say(`person_${idType}`)],
    [say('idNumber'), identity.idNumber],
    [say('phone'), identity.phone],
    [say('email'), identity.email],
    [say('address'), identity.address],
    [say('verification'), verification && say(`person_${verification.result}`)],
    [say('verifiedBy'), verification?.by],
    [say('verifiedOn'), verification?.on],
    [say('verificationReference'), verification?.reference],
    [say('date'), timeOf(writing, madeAt)],
  ])
  return { heading: say('you'), pairs }
}

type Columns = ListingTable['columns']

/** Returns columns; a share below 0 is that of a column of amounts. */
const columns = (...all: readonly (readonly [title: string, share: number])[]): Columns =>
  all.map(([title, share]) => ({ title, share: Math.abs(share), ...(share < 0 && { right: true as const }) }))

const withCode = (minor: bigint, currency: Currency) => `${groupedText(minor, currency)} ${currency.code}`

function loanPart(writing: Writing, { loan, state }: LoanNow): ListingPart {
  const { say, language } = writing
  const { terms } = loan
  const money = (minor: bigint) => groupedText(minor, terms.currency)
  const pairs = known([
    [say('reference'), loan.externalId],
    [say('account'), String(loan.accountNo).padStart(9, '0')],
    [say('product'), loan.productName],
    [say('status'), speak(STATUS_WORDS, language)(state.status)],
    [say('principalLent'), withCode(terms.principal, terms.currency)],
    [say('rate'), String(rateToNumber(terms.ratePerPeriod))],
    [say('disbursedOn'), terms.disbursedOn],
    [say('dueOn'), state.periods.at(-1)?.dueDate],
    [say('outstanding'), withCode(state.totalOutstanding, terms.currency)],
    [say('overdue'), state.totalOverdue > 0n && withCode(state.totalOverdue, terms.currency)],
    [say('paid'), withCode(state.totalPaid, terms.currency)],
    [say('overpayment'), state.totalOverpaid > 0n && withCode(state.totalOverpaid, terms.currency)],
  ])
  const schedule = {
    columns: columns([say('number'), 0.08], [say('dueDate'), 0.2], ...figures(say, 'due', 'paid', 'givenUp', 'owed')),
    rows: state.periods.map(({ period, dueDate, due, paid, waived, writtenOff, owed }) => [
      String(period),
      dueDate,
      money(totalOf(due)),
      money(totalOf(paid)),
      money(totalOf(waived) + totalOf(writtenOff)),
      money(owed),
    ]),
  }
  const transactions = {
    columns: columns([say('date'), 0.14], [say('details'), 0.64], [say('amount'), -0.22]),
    rows: loan.entries.map((entry) => [
      entry.valueDate,
      linesOf([
        `${speak(LINE_WORDS, language)(entry.type)}${entry.reversedAt === null ? '' : ` · ${say('reversed')}`}`,
        `${say('transaction')} ${entry.id}`,
        entry.token && `${say('reference')} ${entry.token}`,
        paymentMethodOf(entry),
        entry.note,
      ]),
      money(entry.amount),
    ]),
  }
  const tables = transactions.rows.length > 0 ? [schedule, transactions] : [schedule]
  return { heading: say('loan', { id: loan.id }), pairs, tables }
}

const figures = (say: Writing['say'], ...words: readonly ('due' | 'paid' | 'givenUp' | 'owed')[]) =>
  words.map((word) => [say(word), -0.18] as const)

const linesOf = (lines: readonly (string | null | undefined | false)[]): string => lines.filter(Boolean).join('\n')

/** Returns a part of one table; none where it has no rows. */
const tablePart = (heading: string, shown: Columns, rows: ListingTable['rows']): ListingPart[] =>
  rows.length === 0 ? [] : [{ heading, tables: [{ columns: shown, rows }] }]

const partsBeside = (writing: Writing, result: DataResult): ListingPart[] => [
  ...consentsPart(writing, result),
  ...guarantorsPart(writing, writing.say('guarantors'), result.guarantors),
  ...guarantorsPart(writing, writing.say('guarantees'), result.guarantees),
  ...collateralPart(writing, result),
  ...paymentsPart(writing, result),
  ...decisionsPart(writing, result),
  ...documentsPart(writing, result),
  ...requestsPart(writing, result),
  ...noticesPart(writing, result),
  ...disputesPart(writing, result),
  ...contactsPart(writing, result),
  ...promisesPart(writing, result),
  ...holdsPart(writing, result),
  ...filesPart(writing, result),
]

function consentsPart(writing: Writing, { consents }: DataResult): ListingPart[] {
  const { say } = writing
  const shown = columns([say('purpose'), 0.25], [say('said'), 0.25], [say('givenAt'), 0.25], [say('withdrawnAt'), 0.25])
  const rows = consents.map(({ purpose, channel, givenAt, withdrawnAt, withdrawnBy }) => [
    say(`purpose_${purpose}`),
    say(`by_${channel}`),
    timeOf(writing, givenAt),
    withdrawnAt === null ? '' : linesOf([timeOf(writing, withdrawnAt), withdrawnBy && say(`by_${withdrawnBy}`)]),
  ])
  return tablePart(say('consents'), shown, rows)
}

/** Returns the words of a release; an empty text where there was none. */
const released = (one: { readonly releasedOn: string | null; readonly releaseReason: string | null }): string =>
  linesOf([one.releasedOn, one.releaseReason])

function guarantorsPart({ say }: Writing, heading: string, all: DataResult['guarantors']): ListingPart[] {
  const shown = columns(
    [say('loanNumber'), 0.2],
    [say('relationship'), 0.24],
    [say('amount'), -0.2],
    [say('from'), 0.18],
    [say('releasedOn'), 0.18],
  )
  const rows = all.map(({ guarantor, currency }) => [
    String(guarantor.loanId),
    guarantor.relationship,
    guarantor.amount === null ? say('guaranteedAll') : withCode(guarantor.amount, currencyOf(currency)),
    linesOf([guarantor.fromDate, guarantor.untilDate && `${say('to')} ${guarantor.untilDate}`]),
    released(guarantor),
  ])
  return tablePart(heading, shown, rows)
}

function collateralPart({ say }: Writing, { collateral: all }: DataResult): ListingPart[] {
  const shown = columns(
    [say('loanNumber'), 0.2],
    [say('description'), 0.36],
    [say('collateralValue'), -0.2],
    [say('releasedOn'), 0.24],
  )
  const rows = all.map(({ collateral, currency, details }) => [
    String(collateral.loanId),
    linesOf([say(`kind_${collateral.kind}`), details?.description, details?.registration, details?.owner]),
    linesOf([withCode(collateral.value, currencyOf(currency)), collateral.valuedOn]),
    released(collateral),
  ])
  return tablePart(say('collateral'), shown, rows)
}

function contactsPart(writing: Writing, { contacts }: DataResult): ListingPart[] {
  const { say } = writing
  const shown = columns([say('contactedAt'), 0.22], [say('contactWay'), 0.26], [say('details'), 0.52])
  const rows = contacts.map(({ contactedAt, channel, outcome, note }) => [
    timeOf(writing, contactedAt),
    linesOf([say(`way_${channel}`), say(`came_${outcome}`)]),
    note ?? '',
  ])
  return tablePart(say('contacts'), shown, rows)
}

function promisesPart({ say }: Writing, { promises }: DataResult): ListingPart[] {
  const shown = columns(
    [say('loanNumber'), 0.2],
    [say('promisedUntil'), 0.2],
    [say('amount'), -0.2],
    [say('details'), 0.4],
  )
  const rows = promises.map(({ loanId, by, amount, currency, state, note, cancelReason }) => [
    String(loanId),
    by,
    withCode(amount, currency),
    linesOf([say(`promise_${state}`), note, cancelReason]),
  ])
  return tablePart(say('promises'), shown, rows)
}

function holdsPart({ say }: Writing, { holds }: DataResult): ListingPart[] {
  const shown = columns([say('loanNumber'), 0.2], [say('held'), 0.2], [say('details'), 0.4], [say('releasedOn'), 0.2])
  const rows = holds.map(({ loanId, what, from, until, reason, releasedOn, releaseReason }) => [
    String(loanId),
    say(`hold_${what}`),
    linesOf([`${from} – ${until}`, reason]),
    released({ releasedOn, releaseReason }),
  ])
  return tablePart(say('holds'), shown, rows)
}

function paymentsPart({ say, language }: Writing, { payments }: DataResult): ListingPart[] {
  const shown = columns([say('date'), 0.14], [say('reference'), 0.32], [say('paidBy'), 0.32], [say('amount'), -0.22])
  const rows = payments.map(({ payment, payer }) => [
    payment.valueDate,
    linesOf([payment.receipt, payment.reference]),
    linesOf([payer.name, payer.phone, speak(PAYMENT_STATUS_WORDS, language)(payment.status)]),
    withCode(payment.amount, currencyOf(payment.currency)),
  ])
  return tablePart(say('payments'), shown, rows)
}

function decisionsPart(writing: Writing, { decisions }: DataResult): ListingPart[] {
  const { say } = writing
  const shown = columns([say('date'), 0.18], [say('details'), 0.6], [say('amount'), -0.22])
  const rows = decisions.map((one) => [
    timeOf(writing, one.at),
    linesOf([
      `${say(one.kind)}: ${one.grade} · ${one.score}${one.outcome === null ? '' : ` · ${say(`outcome_${one.outcome}`)}`}`,
      say('policy', { version: one.policyVersion }),
      ...one.reasons,
    ]),
    withCode(one.creditLimit, one.currency),
  ])
  return tablePart(say('decisions'), shown, rows)
}

function documentsPart(writing: Writing, { documents }: DataResult): ListingPart[] {
  const { say } = writing
  const shown = columns([say('details'), 0.3], [say('loanNumber'), 0.25], [say('date'), 0.25], [say('postedAt'), 0.2])
  const rows = documents.map((one) => [
    say(one.kind),
    String(one.loanId),
    linesOf([one.fromDate && `${one.fromDate} –`, one.toDate]),
    timeOf(writing, one.madeAt),
  ])
  return tablePart(say('documents'), shown, rows)
}

function requestsPart(writing: Writing, { requests }: DataResult): ListingPart[] {
  const { say, language } = writing
  const shown = columns([say('number'), 0.1], [say('details'), 0.5], [say('date'), 0.2], [say('status'), 0.2])
  const rows = requests.map((one) => [
    String(one.id),
    linesOf([speak(REQUEST_KIND_WORDS, language)(one.kind), one.reason, one.note, ...one.obstacles]),
    timeOf(writing, one.askedAt),
    speak(REQUEST_STATE_WORDS, language)(one.state),
  ])
  return tablePart(say('requests'), shown, rows)
}

function noticesPart({ say }: Writing, { notices }: DataResult): ListingPart[] {
  const shown = columns([say('loanNumber'), 0.3], [say('date'), 0.3], [say('details'), 0.4])
  const rows = notices.map((one) => [
    String(one.loanId),
    one.sentOn,
    linesOf([say(`notice_${one.channel}`), one.reference]),
  ])
  return tablePart(say('notices'), shown, rows)
}

function disputesPart({ say }: Writing, { disputes }: DataResult): ListingPart[] {
  const shown = columns([say('loanNumber'), 0.2], [say('date'), 0.2], [say('details'), 0.4], [say('status'), 0.2])
  const rows = disputes.map((one) => [
    String(one.loanId),
    linesOf([one.openedOn, one.resolvedOn && `– ${one.resolvedOn}`]),
    linesOf([one.reason, one.resolution]),
    say(`dispute_${one.outcome ?? 'open'}`),
  ])
  return tablePart(say('disputes'), shown, rows)
}

function filesPart({ say }: Writing, { files }: DataResult): ListingPart[] {
  const shown = columns([say('loanNumber'), 0.25], [say('details'), 0.4], [say('date'), 0.2], [say('status'), 0.15])
  const rows = files.map((one) => [String(one.loanId), one.format, one.asOf, one.isAccepted ? say('fileTaken') : ''])
  return tablePart(say('files'), shown, rows)
}
