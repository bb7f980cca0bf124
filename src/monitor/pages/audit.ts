import { html } from '../../api/http/html.ts'
import { addPeriods, startOfDay } from '../../domain/dates.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import { type AuditEntry, listAudit } from '../../services/audit/audit.ts'
import { type Desk, timeText } from '../desk.ts'
import { linkOf, page, table } from '../layout/page.ts'
import { dayOf, type Fields, textOf } from '../query.ts'

const ROWS = 100
const LONGEST_NAME = 100
/** Characters of what was before or after that a row shows; the file and the API have all. */
const LONGEST_SHOWN = 600

/** Builds the page of the audit trail, newest first. */
export async function auditPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const { zone } = deps.config
  const [from, to] = [dayOf(query, 'from'), dayOf(query, 'to')]
  const [entity, entityId, action, after] = [
    ...(['entity', 'entityId', 'action'] as const).map((name) => textOf(query, name, LONGEST_NAME)),
    textOf(query, 'after'),
  ]
  const filter = {
    ...{ entity, entityId, action },
    since: from === undefined ? undefined : startOfDay(from, zone),
    until: to === undefined ? undefined : startOfDay(addPeriods(to, 1, 'days'), zone),
  }
  const range = after === undefined ? { rows: ROWS } : { rows: ROWS, after }
  const { items, next } = await listAudit(deps, caller, filter, range)
  const accounts = await listAccounts(deps, caller.organizationId)
  const emails = new Map(accounts.map(({ id, email }) => [id, email]))
  const field = (name: string, label: string, value: string | undefined) =>
    html`<label>${label} <input name="${name}" maxlength="${LONGEST_NAME}" size="12" value="${value ?? ''}"></label> `
  const more = linkOf('/audit', { from, to, entity, entityId, action, after: next })
  const body = html`<h1>${say('audit')}</h1>
<form action="/audit">
<label>${say('from')} <input name="from" type="date" value="${from ?? ''}"></label>
<label>${say('to')} <input name="to" type="date" value="${to ?? ''}"></label>
${field('entity', say('thing'), entity)}${field('entityId', say('id'), entityId)}${field('action', say('action'), action)}<button>${say('show')}</button></form>
${table(
  say('trail'),
  [
    ...([[say('id')], [say('time')], [say('by')], [say('action')], [say('thing')]] as const),
    ...([
      [say('before'), 'words'],
      [say('after'), 'words'],
      [say('request'), 'words'],
    ] as const),
  ],
  items.map((entry) => rowOf(desk, entry, emails)),
  say('noTrail'),
)}
${next !== undefined && items.length === ROWS && html`<p><a href="${more}">${say('more')}</a></p>`}`
  return page(desk, say('audit'), body)
}

function rowOf({ deps, say }: Desk, entry: AuditEntry, emails: ReadonlyMap<number, string>) {
  const { entity, entityId } = entry
  const path = entity === 'loan' ? 'loans' : entity === 'customer' ? 'customers' : undefined
  const thing = `${entity} ${entityId}`
  return [
    entry.id,
    timeText(entry.at, deps.config.zone),
    entry.accountId === null ? say('commandLine') : (emails.get(entry.accountId) ?? entry.accountId),
    entry.action,
    path === undefined ? thing : html`<a href="/${path}/${entityId}">${thing}</a>`,
    shortened(jsonText(entry.before)),
    shortened(jsonText(entry.after)),
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
