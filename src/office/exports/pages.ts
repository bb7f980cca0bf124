import { html } from '../../api/http/html.ts'
import { LINE_KINDS } from '../../domain/exports/vocabulary.ts'
import {
  countErased,
  type ExportFile,
  getExport,
  listExceptions,
  listNewestExports,
} from '../../services/exports/exports.ts'
import { type Desk, type Fields, idOf, sayName, textOf, timeText } from '../desk.ts'
import { type Column, done, figures, linkOf, money, page, table, tile, tiles } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

/** The page of the files for bureaux. */
export const FILES = '/bureau-files'

const ROWS = 50

/**
 * Builds the page of the files, the newest first; for an ADMIN.
 * @throws LendingError `permission_denied`
 */
export async function exportFilesPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say, may } = desk
  const before = textOf(query, 'before', 20)
  const files = await listNewestExports(deps, caller, {
    before: before === undefined ? undefined : idOf(before, 'export'),
    rows: ROWS,
  })
  const last = files.at(-1)
  const body = html`<h1>${say('bureauFiles')}</h1>
${done(desk, query)}
${may(pageNeeds('/bureau-files/do/create')) && html`<p class="actions">${say('actions')}: <a href="${FILES}/do/create">${say('askForFile')}</a></p>`}
${table(
  say('bureauFilesNewest'),
  columns(desk),
  files.map((file) => rowOf(desk, file)),
  say('noBureauFile'),
)}
${last && files.length === ROWS && html`<p><a href="${linkOf(FILES, { before: String(last.id) })}">${say('more')}</a></p>`}`
  return page(desk, say('bureauFiles'), body)
}

const columns = ({ say }: Desk): Column[] => [
  [say('bureauFile')],
  [say('format'), 'words'],
  [say('asOf')],
  [say('modeOfFile')],
  [say('state')],
  ...figures(say('kind_accepted'), say('kind_excluded'), say('kind_exception')),
]

function rowOf(desk: Desk, file: ExportFile) {
  const { say } = desk
  return [
    html`<a href="${FILES}/${file.id}">${file.id}</a>`,
    `${file.format}@${file.formatVersion}`,
    file.asOf,
    sayName(say, `mode_${file.mode}`),
    stateOf(desk, file),
    ...LINE_KINDS.map((kind) => countOf(file, kind)),
  ]
}

/** Writes the state of a file, with a bar while it is made. */
const stateOf = ({ say }: Desk, { state, done: made, total }: ExportFile) =>
  state === 'running'
    ? html`${say('export_running')} <progress max="${Math.max(1, total)}" value="${made}">${say('loansDone', { done: made, total })}</progress>`
    : sayName(say, `export_${state}`)

const sumsOf = (file: ExportFile) => file.figures ?? file.sums

const countOf = (file: ExportFile, kind: (typeof LINE_KINDS)[number]): number =>
  Object.values(sumsOf(file)[kind] ?? {}).reduce((all, { loans }) => all + loans, 0)

/** Builds the page of a file: how far it is, its totals, and what is wrong with loans; for an ADMIN. @throws LendingError */
export async function exportFilePage(desk: Desk, id: string, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const file = await getExport(deps, caller, idOf(id, 'export'))
  const erased = await countErased(deps, caller, file.id)
  const here = `${FILES}/${file.id}`
  const title = `${say('bureauFile')} ${file.id}`
  const body = html`<h1>${title}</h1>
${done(desk, query)}
${
  file.state !== 'running' &&
  html`<p class="actions">${say('actions')}: <a href="${here}/file">${say('downloadFile')}</a>${
    file.state === 'ready' &&
    desk.may(pageNeeds('/bureau-files/:id/do/accept')) &&
    html` <a href="${here}/do/accept">${say('acceptFile')}</a>`
  }</p>`
}
${factTiles(desk, file, erased)}
${totalsTable(desk, file)}
${reasonsTable(desk, file)}
${await exceptionsTable(desk, file, query)}
<p><a href="${FILES}">${say('back')}</a></p>`
  return page(desk, title, body)
}

function factTiles(desk: Desk, file: ExportFile, erased: number) {
  const { say, deps } = desk
  return tiles([
    tile(say('format'), `${file.format}@${file.formatVersion}`),
    tile(say('asOf'), file.asOf),
    tile(say('modeOfFile'), sayName(say, `mode_${file.mode}`)),
    tile(say('state'), stateOf(desk, file)),
    ...LINE_KINDS.map((kind) => tile(say(`kind_${kind}`), countOf(file, kind))),
    ...(erased > 0 ? [tile(say('erasedLines'), erased)] : []),
    ...(file.finishedAt === null ? [] : [tile(say('export_ready'), timeText(file.finishedAt, deps.config.zone))]),
    ...(file.sha256 === null
      ? []
      : [tile('SHA-256', html`<small>${Buffer.from(file.sha256).toString('hex')}</small>`)]),
  ])
}

function totalsTable({ say }: Desk, file: ExportFile) {
  const rows = LINE_KINDS.flatMap((kind) =>
    Object.entries(sumsOf(file)[kind] ?? {}).map(([currency, sum]) => [
      say(`kind_${kind}`),
      currency,
      sum.loans,
      ...[sum.principal, sum.principalOutstanding, sum.outstanding, sum.overdue].map((one) =>
        money(BigInt(one), currency),
      ),
    ]),
  )
  const heads: Column[] = [
    [say('modeOfFile')],
    [say('currency')],
    ...figures(say('loans'), say('lentOut'), say('principalLeft'), say('outstanding'), say('overdue')),
  ]
  return table(say('controlTotals'), heads, rows, say('noneExcluded'))
}

function reasonsTable({ say }: Desk, file: ExportFile) {
  const rows = Object.entries(sumsOf(file).reasons ?? {}).map(([reason, loans]) => [
    sayName(say, `reason_${reason}`),
    loans,
  ])
  return table(say('excludedOf'), [[say('reason'), 'words'], ...figures(say('loans'))], rows, say('noneExcluded'))
}

/** Builds the table of what is wrong with loans, each with a link to the loan. */
async function exceptionsTable({ deps, caller, say }: Desk, file: ExportFile, query: Fields) {
  const after = textOf(query, 'after')
  const { items, next } = await listExceptions(deps, caller, file.id, { rows: ROWS, after })
  const rows = items.map(({ loanId, field, rule, value }) => [
    html`<a href="/loans/${loanId}">${loanId}</a>`,
    field,
    sayName(say, `rule_${rule}`),
    value ?? '',
  ])
  const heads: Column[] = [
    [say('loan')],
    [say('fieldOfFile'), 'words'],
    [say('ruleOfField'), 'words'],
    [say('valueOfField'), 'words'],
  ]
  const more = next !== undefined && new Set(items.map(({ loanId }) => loanId)).size === ROWS
  return html`${table(say('exceptionsOf'), heads, rows, say('noException'))}
${more && html`<p><a href="${linkOf(`${FILES}/${file.id}`, { after: next })}">${say('more')}</a></p>`}`
}
