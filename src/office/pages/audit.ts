import { type Html, html } from '../../api/http/html.ts'
import { addPeriods, fromRfc3339, startOfDay } from '../../domain/dates.ts'
import { currencyCodes, rateToNumber } from '../../domain/money.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import { type AuditEntry, currenciesOf, listAudit } from '../../services/audit/audit.ts'
import { BUCKET_WORDS, PAYMENT_STATUS_WORDS, PRESET_WORDS, STATE_WORDS } from '../../words/names.ts'
import { statusWords, typeWords } from '../../words/pages.ts'
import { TRAIL_ACTIONS, TRAIL_FIELDS, TRAIL_THINGS } from '../../words/trail.ts'
import { type Language, nameIn, type Words } from '../../words/words.ts'
import { causeIn, type Desk, dayOf, type Fields, textOf, timeText } from '../desk.ts'
import { linkOf, money, page, table } from '../layout/page.ts'

const ROWS = 100
const LONGEST_NAME = 100
/** Characters of what was before or after that a row shows; the file and the API have all. */
const LONGEST_SHOWN = 600

/** What was done: a change, or the type of the transaction that was posted. */
const ACTIONS: Words = { ...TRAIL_ACTIONS, ...typeWords }

/** How the rows of a page are written. */
interface Written {
  readonly emails: ReadonlyMap<number, string>
  readonly currencyOf: (entry: AuditEntry) => string
}

/** Builds the page of the audit trail in words, newest first. */
export async function auditPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const { zone } = deps.config
  const [from, to] = [dayOf(query, 'from'), dayOf(query, 'to')]
  const [entity, entityId, action, after] = [
    ...(['entity', 'entityId', 'action'] as const).map((name) => textOf(query, name, LONGEST_NAME)),
    textOf(query, 'after'),
  ]
  const filter = {
    entity,
    entityId,
    action,
    since: from === undefined ? undefined : startOfDay(from, zone),
    until: to === undefined ? undefined : startOfDay(addPeriods(to, 1, 'days'), zone),
  }
  const range = after === undefined ? { rows: ROWS } : { rows: ROWS, after }
  const { items, next } = await listAudit(deps, caller, filter, range)
  const field = (name: string, label: string, value: string | undefined) =>
    html`<label>${label} <input name="${name}" maxlength="${LONGEST_NAME}" size="12" value="${value ?? ''}"></label> `
  const more = linkOf('/audit', { from, to, entity, entityId, action, after: next })
  const body = html`<h1>${say('audit')}</h1>
<form action="/audit">
<label>${say('from')} <input name="from" type="date" value="${from ?? ''}"></label>
<label>${say('to')} <input name="to" type="date" value="${to ?? ''}"></label>
${choice(desk, 'entity', [say('thing'), TRAIL_THINGS], entity)}${field('entityId', say('id'), entityId)}${choice(desk, 'action', [say('action'), ACTIONS], action)}<button>${say('show')}</button></form>
${await trailTable(desk, items)}
${next !== undefined && items.length === ROWS && html`<p><a href="${more}">${say('more')}</a></p>`}`
  return page(desk, say('audit'), body)
}

/** Builds the table of entries of the trail in words. */
export async function trailTable(desk: Desk, items: readonly AuditEntry[]): Promise<Html> {
  const { deps, caller, say } = desk
  const accounts = await listAccounts(deps, caller.organizationId)
  const written = {
    emails: new Map(accounts.map(({ id, email }) => [id, email])),
    currencyOf: await currenciesOf(deps, caller, items),
  }
  return table(
    say('trail'),
    [
      ...([[say('id')], [say('time')], [say('by')], [say('action')], [say('thing')]] as const),
      ...([
        [say('before'), 'words'],
        [say('after'), 'words'],
        [say('request'), 'words'],
      ] as const),
    ],
    items.map((entry) => rowOf(desk, entry, written)),
    say('noTrail'),
  )
}

/** Builds the choice of a name of the trail by its word. A name that has no word, of a later version, stays chosen. */
function choice(
  { say, language }: Desk,
  name: string,
  [label, words]: readonly [label: string, words: Words],
  chosen: string | undefined,
): Html {
  const names = [...new Set([...Object.keys(words), ...(chosen === undefined ? [] : [chosen])])]
  const options = names
    .map((one) => [one, nameIn(words, language, one)] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b, language))
    .map(([one, word]) => html`<option value="${one}"${one === chosen && html` selected`}>${word}</option>`)
  return html`<label>${label} <select name="${name}"><option value="">${say('all')}</option>${options}</select></label> `
}

/** The pages of the things that have one, by their names in the trail. */
const PATHS: Readonly<Record<string, string>> = {
  loan: 'loans',
  delinquency: 'loans',
  reminder: 'loans',
  customer: 'customers',
  payment: 'payments',
  reconciliation: 'reconciliations',
}

function rowOf({ deps, say, language }: Desk, entry: AuditEntry, { emails, currencyOf }: Written) {
  const { entity, entityId, action } = entry
  const { zone } = deps.config
  const path = Object.hasOwn(PATHS, entity) ? PATHS[entity] : undefined
  const thing = `${nameIn(TRAIL_THINGS, language, entity)} ${entityId}`
  const [before, after] = changeTexts(entry.before, entry.after, { language, zone, currency: currencyOf(entry) })
  return [
    entry.id,
    timeText(entry.at, zone),
    entry.accountId === null ? say('commandLine') : (emails.get(entry.accountId) ?? entry.accountId),
    nameIn(ACTIONS, language, action),
    path === undefined ? thing : html`<a href="/${path}/${entityId}">${thing}</a>`,
    shortened(before),
    shortened(after),
    entry.requestId ?? '',
  ]
}

/** Writes a value of the trail as JSON; nothing for none. */
export const jsonText = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one))

/** Cuts a text that is long. */
const shortened = (text: string): string => (text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)} …` : text)

/** How the values of a row are written. */
interface Writing {
  readonly language: Language
  readonly zone: string
  /** The currency of amounts; a value that names a currency has its own. */
  readonly currency: string
}

type State = Readonly<Record<string, unknown>>

/** Fields that are kept in minor units, in millionths of a percent, and as instants. */
const AMOUNTS = new Set([
  'amount',
  'principal',
  'principalMin',
  'principalMax',
  'totalMultipleOf',
  'approvalAbove',
  'totalOutstanding',
  'totalPaid',
  'totalOverpaid',
  'totalWrittenOff',
  'totalRecovered',
  'creditLimit',
  'availableLimit',
  'confirmAbove',
  'allocated',
  'returned',
  'reversed',
  'difference',
  'opening',
  'closing',
])
const RATES = new Set([
  'ratePerPeriod',
  'interestRate',
  'maxRatePerMonth',
  'penaltyRate',
  'totalChargeCap',
  'capOfPrincipal',
  'percentOfPrincipal',
  'provisionRate',
])
const INSTANTS = new Set([
  'tokensFrom',
  'previousUntil',
  'now',
  'paidAt',
  'reversedAt',
  'disabledAt',
  'givenAt',
  'withdrawnAt',
])

/** Fields whose values are names of the contract. Other texts are what somebody has set, and stay as they are. */
const NAMED: Readonly<Record<string, Words>> = {
  status: { ...statusWords, ...PAYMENT_STATUS_WORDS },
  state: STATE_WORDS,
  kind: STATE_WORDS,
  mode: STATE_WORDS,
  boostStatus: STATE_WORDS,
  repayUnit: STATE_WORDS,
  bucket: BUCKET_WORDS,
  class: BUCKET_WORDS,
}

/** Names of the contract by the object that they are in. */
const NAMED_WITHIN: Readonly<Record<string, Readonly<Record<string, Words>>>> = {
  posted: { type: typeWords },
  reversed: { type: typeWords },
  buckets: { name: BUCKET_WORDS },
}

const ANSWERS: Words = { true: ['yes', 'ndiyo'], false: ['no', 'hapana'], encrypted: ['encrypted', 'kwa siri'] }

interface Place {
  readonly state: State
  /** The name of the object that the value is in. */
  readonly within: string
  readonly writing: Writing
}

const isState = (value: unknown): value is State =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

/**
 * Writes the state of a thing before and after a change in words, amounts in their currency. What the change has left as it
 * was is left out of both.
 */
export function changeTexts(
  before: unknown,
  after: unknown,
  writing: Writing,
): readonly [before: string, after: string] {
  if (!isState(before)) return ['', stateText(after, writing)]
  if (!isState(after)) return [stateText(before, writing), '']
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  const own = (state: State) => writingOf(state, writingOf(after, writingOf(before, writing)))
  const text = (state: State) =>
    fieldTexts(Object.fromEntries(Object.entries(state).filter(([name]) => differs(name))), '', own(state))
  return [text(before), text(after)]
}

const stateText = (state: unknown, writing: Writing): string =>
  isState(state) ? fieldTexts(withoutNulls(state), '', writingOf(state, writing)) : ''

const withoutNulls = (state: State): State =>
  Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null))

const writingOf = ({ currency }: State, writing: Writing): Writing =>
  typeof currency === 'string' && currencyCodes.includes(currency) ? { ...writing, currency } : writing

const fieldTexts = (state: State, within: string, writing: Writing): string =>
  Object.entries(state)
    .map(
      ([name, value]) =>
        `${nameIn(TRAIL_FIELDS, writing.language, name)}: ${valueText(name, value, { state, within, writing })}`,
    )
    .join('; ')

function valueText(name: string, value: unknown, { state, within, writing }: Place): string {
  const { language, zone, currency } = writing
  if (value === null || value === undefined) return '–'
  // Nobody reads the text of an identity, or of what is collateral.
  if (name === 'identity' || name === 'details') return nameIn(ANSWERS, language, 'encrypted')
  if (Array.isArray(value))
    return value.length === 0 ? '–' : value.map((one) => valueText(name, one, { state, within, writing })).join(', ')
  if (isState(value)) return `(${fieldTexts(withoutNulls(value), name, writingOf(value, writing))})`
  if (typeof value === 'boolean') return nameIn(ANSWERS, language, String(value))
  const text = JSON.isRawJSON(value) ? JSON.stringify(value) : String(value)
  const isWhole = /^-?\d+$/.test(text)
  const isAmount = AMOUNTS.has(name) || (name === 'value' && (state.base === 'fixed' || 'valuedOn' in state))
  if (isWhole && isAmount) return `${money(BigInt(text), currency)} ${currency}`
  if (isWhole && (RATES.has(name) || (name === 'value' && 'base' in state))) return `${rateToNumber(BigInt(text))} %`
  const instant = INSTANTS.has(name) ? fromRfc3339(text) : undefined
  if (instant !== undefined) return timeText(instant, zone)
  if (name === 'cause') return causeIn(language, text)
  if (name === 'name' && 'rules' in state) return nameIn(PRESET_WORDS, language, text)
  return nameIn(NAMED_WITHIN[within]?.[name] ?? NAMED[name] ?? {}, language, text)
}
