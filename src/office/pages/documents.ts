import { type Html, html } from '../../api/http/html.ts'
import { LendingError } from '../../domain/errors.ts'
import {
  DOCUMENT_FORMATS,
  renderReceipt,
  renderStatement,
  type VerifiedDocument,
  verifyDocument,
} from '../../services/documents/documents.ts'
import { codeText } from '../../services/documents/texts.ts'
import { LANGUAGES } from '../../words/words.ts'
import { type Desk, dayOf, type Fields, idOf, textOf, timeText, wordOf } from '../desk.ts'
import { money, page, tile, tiles } from '../layout/page.ts'

const LONGEST_CODE = 64

/** Builds the form that asks for the statement of a loan. */
export function statementForm({ say, language }: Desk, loanId: bigint): Html {
  const languages = { en: 'English', sw: 'Kiswahili' }
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === language && html` selected`}>${text}</option>`
  return html`<form action="/loans/${loanId}/statement"><fieldset><legend>${say('statement')}</legend>
<label>${say('from')} <input name="from" type="date"></label>
<label>${say('to')} <input name="to" type="date"></label>
<label>${say('documentLanguage')} <select name="language">${LANGUAGES.map((one) => option(one, languages[one]))}</select></label>
<label>${say('file')} <select name="format">${DOCUMENT_FORMATS.map((one) => option(one, one.toUpperCase()))}</select></label>
<button>${say('open')}</button></fieldset></form>`
}

const formatOf = (query: Fields) => ({
  format: wordOf(DOCUMENT_FORMATS, query, 'format') ?? ('pdf' as const),
  language: wordOf(LANGUAGES, query, 'language'),
})

/** Writes the statement of a loan as a file. @throws LendingError as `renderStatement` does */
export const statementFile = ({ deps, caller, language }: Desk, loanId: string, query: Fields) =>
  renderStatement(
    deps,
    caller,
    { id: idOf(loanId, 'loan') },
    { language, ...withoutUndefined(formatOf(query)), from: dayOf(query, 'from'), to: dayOf(query, 'to') },
  )

/** Writes the receipt of a transaction as a file. @throws LendingError as `renderReceipt` does */
export const receiptFile = ({ deps, caller, language }: Desk, loanId: string, transactionId: string, query: Fields) =>
  renderReceipt(
    deps,
    caller,
    { ref: { id: idOf(loanId, 'loan') }, transactionId: idOf(transactionId, 'transaction') },
    { language, ...withoutUndefined(formatOf(query)) },
  )

const withoutUndefined = ({ format, language }: ReturnType<typeof formatOf>) =>
  language === undefined ? { format } : { format, language }

/** Builds the page that says what the document with a code says, and whether it still holds. */
export async function documentsPage(desk: Desk, query: Fields): Promise<string> {
  const { say } = desk
  const code = textOf(query, 'code', LONGEST_CODE)
  const body = html`<h1>${say('verify')}</h1>
<form action="/documents"><label>${say('verifyHint')} <input name="code" maxlength="${LONGEST_CODE}" size="24" value="${code ?? ''}" required></label> <button>${say('show')}</button></form>
${code !== undefined && (await answerOf(desk, code))}`
  return page(desk, say('verify'), body)
}

async function answerOf(desk: Desk, code: string): Promise<Html> {
  const { deps, caller, say } = desk
  try {
    return verified(desk, await verifyDocument(deps, caller, code))
  } catch (error) {
    if (!(error instanceof LendingError) || error.code !== 'not_found') throw error
    return html`<p class="bad" role="alert">${say('noDocument')}</p>`
  }
}

function verified({ deps, say }: Desk, document: VerifiedDocument): Html {
  const { kind, currency, transactionId, fromDate, toDate } = document
  return html`<p class="notice" role="status">${say(document.current ? 'documentHolds' : 'documentIsOld')}</p>
${tiles([
  tile(say('document'), `${say(kind)} ${codeText(document.code)}`),
  tile(say('loan'), html`<a href="/loans/${document.loanId}">${document.loanId}</a>`),
  transactionId === null ? tile(say('from'), fromDate ?? '') : tile(say('transactions'), String(transactionId)),
  tile(say('to'), toDate),
  tile(say(kind === 'statement' ? 'closingBalance' : 'amount'), `${money(document.amount, currency)} ${currency}`),
  tile(say('status'), document.reversed ? say('reversed') : '–'),
  tile(say('customer'), document.borrower),
  tile(say('lender'), document.lender),
  tile(say('madeAt'), timeText(document.madeAt, deps.config.zone)),
])}`
}
