import { type Html, html } from '../../api/http/html.ts'
import { inSuspense, type Payment } from '../../domain/payments/payment.ts'
import { listAudit } from '../../services/audit/audit.ts'
import { candidateLoans, messagesOf, type PayableLoan, searchLoans } from '../../services/office/payments.ts'
import { LONGEST_SEARCH } from '../../services/office/search.ts'
import { channelOf } from '../../services/payments/channelCache.ts'
import { getPayment, type PaymentView } from '../../services/payments/payments.ts'
import { MATCH_WORDS, MESSAGE_WORDS } from '../../words/payments.ts'
import { nameIn } from '../../words/words.ts'
import { causeIn, type Desk, type Fields, idOf, sayName, textOf, timeText } from '../desk.ts'
import { done, figures, money, page, table, tile, tiles } from '../layout/page.ts'
import { trailTable } from '../pages/audit.ts'
import { pageNeeds } from '../permissions.ts'
import { customerName, loanLink, payerText, statusText } from './payments.ts'

const MOST_TRAIL = 100

/**
 * Builds the page of one payment: where its money is, its repayments, what may be done with it, and for readers of the book its
 * messages and its trail.
 * @throws LendingError `not_found`
 */
export async function paymentPage(desk: Desk, text: string, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const view = await getPayment(deps, caller, idOf(text, 'payment'))
  const title = `${say('payment')} ${view.payment.id}`
  const body = html`<h1>${title}</h1>
${done(desk, query)}
${await paymentTiles(desk, view)}
${actions(desk, view)}
${inSuspense(view.payment) > 0n && (await whereTo(desk, view, query))}
${repaymentsTable(desk, view)}
${may('reports.read') && (await messages(desk, view))}
${may('reports.read') && (await trail(desk, view))}`
  return page(desk, title, body)
}

/** Builds the tiles of a payment: what it is, and where its money is. */
export async function paymentTiles(desk: Desk, view: PaymentView): Promise<Html> {
  const { deps, say, language, may } = desk
  const { payment } = view
  const { zone } = deps.config
  const amount = (minor: bigint) => `${money(minor, payment.currency)} ${payment.currency}`
  const named = [
    [say('status'), statusText(desk, payment)],
    [say('amount'), amount(payment.amount)],
    [say('allocated'), amount(payment.allocated)],
    [say('suspense'), amount(inSuspense(payment))],
    [say('returned'), payment.returned === 0n ? '' : amount(payment.returned)],
    [say('takenBack'), payment.reversed === 0n ? '' : amount(payment.reversed)],
    [say('cause'), causeIn(language, payment.cause)],
    [say('channel'), (await channelOf(deps, payment)).name],
    [say('providerReceipt'), payment.receipt],
    [say('reference'), payment.reference ?? ''],
    [say('payer'), may('reports.read') ? payerText(view) : ''],
    [say('paidAt'), timeText(payment.paidAt, zone)],
    [say('valueDate'), payment.valueDate],
    [say('receivedAt'), timeText(payment.receivedAt, zone)],
  ] as const
  return tiles(named.flatMap(([name, value]) => (value === '' ? [] : [tile(name, value)])))
}

/** Builds the table of where the money of a payment is, and will be. */
export function partsTable({ say }: Desk, before: Payment, after: Payment) {
  const parts = [
    ['allocated', ({ allocated }: Payment) => allocated],
    ['suspense', inSuspense],
    ['returned', ({ returned }: Payment) => returned],
  ] as const
  const rows = parts.map(([word, read]) => {
    const [now, then] = [before, after].map((one) => money(read(one), before.currency))
    return [say(word), now!, now === then ? then! : html`<strong>${then}</strong>`]
  })
  return table(say('previewTitle'), [[''], ...figures(say('now'), say('afterwards'))], rows, say('nothing'))
}

/** Builds the links to what an ADMIN may do with the whole payment. */
function actions({ say, may }: Desk, { payment, parts }: PaymentView): Html | false {
  const canReturn = inSuspense(payment) > 0n && may(pageNeeds('/payments/:id/do/return'))
  const canReverse = may(pageNeeds('/payments/:id/do/reverse')) && parts.some(({ reversedAt }) => reversedAt === null)
  if (!canReturn && !canReverse) return false
  const to = (action: string, word: 'returnPayment' | 'reverseAllocations') =>
    html`<a href="/payments/${payment.id}/do/${action}">${say(word)}</a> `
  return html`<p class="actions">${say('actions')}: ${canReturn && to('return', 'returnPayment')}${canReverse && to('reverse', 'reverseAllocations')}</p>`
}

/** Builds the loans that a payment in suspense may be for, and the search for another one. */
async function whereTo(desk: Desk, view: PaymentView, query: Fields): Promise<Html> {
  const { deps, caller, say, language } = desk
  const { payment, candidates } = view
  const loans = await candidateLoans(deps, caller, view)
  const rows = candidates.flatMap(({ loanId, why }) => {
    const loan = loans.get(loanId)
    return loan ? [loanRow(desk, view, loan, nameIn(MATCH_WORDS, language, why))] : []
  })
  const text = textOf(query, 'q', LONGEST_SEARCH)
  const found = text === undefined ? undefined : await searchLoans(deps, caller, text)
  return html`${loanTable(desk, 'candidates', rows, 'noCandidate')}
<form class="search" action="/payments/${payment.id}" role="search" aria-label="${say('findLoan')}"><label><span>${say('findLoan')}</span> <input name="q" type="search" maxlength="${LONGEST_SEARCH}" value="${text ?? ''}" placeholder="${say('searchHint')}" required></label> <button>${say('findLoan')}</button></form>
${
  found &&
  loanTable(
    desk,
    'foundLoans',
    found.map((loan) => loanRow(desk, view, loan, '')),
    'foundNothing',
  )
}`
}

const loanRow = (desk: Desk, { payment }: PaymentView, loan: PayableLoan, why: string) => [
  loanLink(desk, payment, loan.id),
  html`<a href="/loans/${loan.id}">${loan.externalId ?? loan.id}</a>`,
  html`<a href="/customers/${loan.customerId}">${customerName(loan)}</a>`,
  sayName(desk.say, loan.status),
  loan.disbursedOn,
  loan.currency,
  money(loan.principal, loan.currency),
  why,
]

const loanTable = (
  { say }: Desk,
  caption: 'candidates' | 'foundLoans',
  rows: ReturnType<typeof loanRow>[],
  empty: 'noCandidate' | 'foundNothing',
): Html =>
  table(
    say(caption),
    [
      ...([[say('action')], [say('loan')], [say('customer'), 'words'], [say('status')], [say('disbursedOn')]] as const),
      ...([[say('currency')], [say('principal'), 'figure'], [say('why'), 'words']] as const),
    ],
    rows,
    say(empty),
  )

/** Builds the table of the repayments of a payment, reversed ones too. */
export function repaymentsTable({ say, may }: Desk, { payment, parts }: PaymentView): Html {
  const rows = parts.map(({ loanId, loanExternalId, transactionId, amount, valueDate, reversedAt }) => [
    transactionId,
    html`<a href="/loans/${loanId}">${loanExternalId ?? loanId}</a>`,
    valueDate,
    payment.currency,
    money(amount, payment.currency),
    reversedAt === null
      ? may(pageNeeds('/payments/:id/repayments/:transactionId/do/reverse')) &&
        html`<a href="/payments/${payment.id}/repayments/${transactionId}/do/reverse">${say('reverse')}</a>`
      : say('reversed'),
  ])
  return table(
    say('repaymentsOf'),
    [[say('id')], [say('loan')], [say('valueDate')], [say('currency')], [say('amount'), 'figure'], [say('actions')]],
    rows,
    say('noRepayment'),
  )
}

async function messages({ deps, caller, say, language }: Desk, { payment }: PaymentView): Promise<Html> {
  const rows = (await messagesOf(deps, caller, payment)).map(({ id, receivedAt, state, outcome }) => [
    id,
    timeText(receivedAt, deps.config.zone),
    nameIn(MESSAGE_WORDS, language, state),
    outcome ?? '',
  ])
  return table(
    say('messages'),
    [[say('id')], [say('time')], [say('state')], [say('outcome'), 'words']],
    rows,
    say('noMessage'),
  )
}

async function trail(desk: Desk, { payment }: PaymentView): Promise<Html> {
  const { deps, caller } = desk
  const filter = { entity: 'payment', entityId: String(payment.id) }
  const { items } = await listAudit(deps, caller, filter, { rows: MOST_TRAIL })
  return trailTable(desk, items)
}
