import { Readable } from 'node:stream'
import { type Html, html, type Part } from '../../api/http/html.ts'
import { DIFFERENCE_KINDS, LINE_KINDS, type LineKind } from '../../domain/payments/reconciliation.ts'
import { csvHead, csvRows } from '../../services/csv.ts'
import { channelOf } from '../../services/payments/channelCache.ts'
import type { Channel } from '../../services/payments/channels.ts'
import { lineColumns } from '../../services/payments/csv.ts'
import { type LineAmounts, listLineAmounts } from '../../services/payments/reconciliation/lineAmounts.ts'
import { getReconciliation, type Reconciliation } from '../../services/payments/reconciliation/reconcile.ts'
import { LAYOUT_WORDS, LINE_KIND_WORDS } from '../../words/reconciliations.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, type Fields, idOf, textOf, timeText, wordOf } from '../desk.ts'
import { type Column, done, figures, linkOf, money, page, table, tile, tiles } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'
import { daysText, outcomeText } from './reconciliations.ts'

const ROWS = 50
/** Rows of the file that are read at once. */
const FILE_ROWS = 1_000

/** Lines that are shown together, by the name in an address. */
const GROUPS = { differences: DIFFERENCE_KINDS, rest: ['reversal', 'other'], all: LINE_KINDS } as const
const SHOWN = ['differences', 'rest', 'all', ...LINE_KINDS] as const
type Shown = (typeof SHOWN)[number]

const isGroup = (shown: Shown): shown is keyof typeof GROUPS => Object.hasOwn(GROUPS, shown)
const kindsOf = (shown: Shown): readonly LineKind[] => (isGroup(shown) ? GROUPS[shown] : [shown])

/** A comparison, and the channel whose statement it is of. */
export interface Compared {
  readonly run: Reconciliation
  readonly channel: Channel
}

/** Returns a comparison with its channel. @throws LendingError `permission_denied`, `not_found` */
export async function comparedOf({ deps, caller }: Desk, text: string): Promise<Compared> {
  const run = await getReconciliation(deps, caller, idOf(text, 'reconciliation'))
  return { run, channel: await channelOf(deps, run) }
}

/** Returns how many lines are of kinds that an ADMIN can take in. */
export const missingLines = ({ figures: { missing_here, reversal_missing } }: Reconciliation): number =>
  missing_here.lines + reversal_missing.lines

/**
 * Builds the page of one comparison: its figures, its differences and what else is not in both; or the lines of the kinds that are
 * asked for.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`
 */
export async function reconciliationPage(desk: Desk, text: string, query: Fields): Promise<string> {
  const { say, may } = desk
  const compared = await comparedOf(desk, text)
  const { run } = compared
  const shown = wordOf(SHOWN, query, 'kind') ?? 'differences'
  const after = textOf(query, 'after')
  const title = `${say('reconciliation')} ${run.id}`
  const file = (kind: Shown) =>
    html`<a href="${linkOf(`/reconciliations/${run.id}/lines.csv`, { kind })}">${say('csv')}: ${shownText(desk, kind)}</a>`
  const canTakeIn = may(pageNeeds('/reconciliations/:id/do/apply')) && missingLines(run) > 0
  const withRest = shown === 'differences' && after === undefined && linesOf(run, 'rest') > 0
  const body = html`<h1>${title}</h1>
${done(desk, query)}
${canTakeIn && html`<p class="actions">${say('actions')}: <a href="/reconciliations/${run.id}/do/apply">${say('applyStatement')}</a></p>`}
${comparedTables(desk, compared)}
<p>${file(shown)}${shown !== 'all' && html` · ${file('all')}`}</p>
${await linesTable(desk, compared, shown, after)}
${withRest && (await linesTable(desk, compared, 'rest'))}`
  return page(desk, title, body)
}

function shownText({ say, language }: Desk, shown: Shown): string {
  if (!isGroup(shown)) return nameIn(LINE_KIND_WORDS, language, shown)
  return say(({ differences: 'differences', rest: 'restOfLines', all: 'allLines' } as const)[shown])
}

const linesOf = ({ figures: own }: Reconciliation, shown: Shown): number =>
  kindsOf(shown).reduce((sum, kind) => sum + own[kind].lines, 0)

/** Builds the tiles of a comparison, and the figures of each kind of lines, which lead to them. */
export function comparedTables(desk: Desk, { run, channel }: Compared): Html {
  const { deps, say, language } = desk
  const { currency } = channel
  const amount = (minor: bigint) => `${money(minor, currency)} ${currency}`
  const named: readonly (readonly [string, Part])[] = [
    [say('channel'), channel.name],
    [say('daysOfStatement'), daysText(run)],
    [say('outcomeOf'), outcomeText(desk, run)],
    [say('difference'), amount(run.difference)],
    [say('balanceBefore'), run.opening === null ? '' : amount(run.opening)],
    [say('balanceAfter'), run.closing === null ? '' : amount(run.closing)],
    [say('layout'), nameIn(LAYOUT_WORDS, language, run.layout)],
    [say('firstCompared'), timeText(run.createdAt, deps.config.zone)],
    [say('lastCompared'), timeText(run.updatedAt, deps.config.zone)],
  ]
  const rows = LINE_KINDS.map((kind) => {
    const { lines, amount: sum } = run.figures[kind]
    const word = shownText(desk, kind)
    const link = html`<a href="${linkOf(`/reconciliations/${run.id}`, { kind })}">${word}</a>`
    return [lines === 0 ? word : link, lines, money(BigInt(sum), currency)]
  })
  return html`${tiles(named.flatMap(([name, value]) => (value === '' ? [] : [tile(name, value)])))}
${table(say('linesByKind'), [[say('kind'), 'words'], ...figures(say('lines'), `${say('amount')}, ${currency}`)], rows, say('nothing'))}
<p>${say('differenceMeans')}</p>`
}

async function linesTable(desk: Desk, { run, channel }: Compared, shown: Shown, after?: string): Promise<Html> {
  const { deps, caller, say } = desk
  const request = { kinds: kindsOf(shown), range: { rows: ROWS, after } }
  const { items, next } = await listLineAmounts(deps, caller, run, request)
  const more = linkOf(`/reconciliations/${run.id}`, { kind: shown, after: next })
  return html`${table(
    shownText(desk, shown),
    columns(desk, channel),
    items.map((line) => rowOf(desk, line, channel)),
    say(shown === 'differences' ? 'noDifference' : 'noLine'),
  )}
${next !== undefined && items.length === ROWS && html`<p><a href="${more}">${say('more')}</a></p>`}`
}

const columns = ({ say }: Desk, { currency }: Channel): Column[] => [
  [say('providerReceipt')],
  [say('kind')],
  [say('time')],
  ...figures(`${say('amountThere')}, ${currency}`, `${say('amountHere')}, ${currency}`),
  [say('reference'), 'words'],
  [say('takesBack')],
  [say('payment')],
]

/** Builds the row of a line; its time is in the zone of the channel, as the days of the statement are. */
function rowOf(desk: Desk, line: LineAmounts, { currency, zone }: Channel) {
  const amount = (minor: bigint | null) => (minor === null ? '' : money(minor, currency))
  const { receipt, kind, at, there, here, reference, reverses, paymentId } = line
  return [
    receipt,
    shownText(desk, kind),
    timeText(at, zone),
    amount(there),
    amount(here),
    reference ?? '',
    reverses ?? '',
    paymentId === null ? '' : html`<a href="/payments/${paymentId}">${paymentId}</a>`,
  ]
}

/**
 * Writes the lines of a comparison as a CSV file: of the kinds that are asked for, or all.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`
 */
export async function linesFile(desk: Desk, text: string, query: Fields) {
  const shown = wordOf(SHOWN, query, 'kind') ?? 'all'
  const compared = await comparedOf(desk, text)
  const name = `reconciliation-${compared.run.id}-${shown.replaceAll('_', '-')}.csv`
  return { name, content: Readable.from(fileParts(desk, compared, shown)) }
}

async function* fileParts({ deps, caller }: Desk, { run, channel }: Compared, shown: Shown): AsyncGenerator<string> {
  const own = lineColumns(channel)
  yield csvHead(own)
  let after: string | undefined
  do {
    const request = { kinds: kindsOf(shown), range: { rows: FILE_ROWS, after } }
    const { items, next } = await listLineAmounts(deps, caller, run, request)
    if (items.length > 0) yield csvRows(own, items)
    after = items.length === FILE_ROWS ? next : undefined
  } while (after !== undefined)
}
