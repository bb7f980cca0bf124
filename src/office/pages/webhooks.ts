import { type Html, html } from '../../api/http/html.ts'
import { listAttempts } from '../../services/webhooks/attempts.ts'
import { type EndpointView, getEndpoint, listEndpoints, MOST_ENDPOINTS } from '../../services/webhooks/endpoints.ts'
import { STATE_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, type Fields, idOf, textOf, timeText } from '../desk.ts'
import { linkOf, page, table } from '../layout/page.ts'

const ROWS = 100

/** Builds the page of the webhook endpoints, with the events that each is behind. */
export async function webhooksPage(desk: Desk): Promise<string> {
  const { deps, caller, say } = desk
  const { items } = await listEndpoints(deps, caller, { rows: MOST_ENDPOINTS })
  const body = html`<h1>${say('webhooks')}</h1>
${endpoints(desk, items)}`
  return page(desk, say('webhooks'), body)
}

/** Builds the page of one endpoint, with its attempts. @throws LendingError `not_found` */
export async function endpointPage(desk: Desk, text: string, query: Fields): Promise<string> {
  const { deps, caller, say, language } = desk
  const id = idOf(text, 'webhook endpoint')
  const after = textOf(query, 'after')
  const endpoint = await getEndpoint(deps, caller, id)
  const range = after === undefined ? { rows: ROWS } : { rows: ROWS, after }
  const { items, next } = await listAttempts(deps, caller, { id }, range)
  const at = (instant: number | null) => (instant === null ? '' : timeText(instant, deps.config.zone))
  const rows = items.map((attempt) => [
    attempt.sequence,
    attempt.type,
    attempt.attempt,
    at(attempt.at),
    nameIn(STATE_WORDS, language, attempt.state),
    attempt.status ?? '',
    attempt.error ?? '',
    at(attempt.nextAttemptAt),
  ])
  const body = html`<h1>${say('webhooks')} ${id}</h1>
${endpoints(desk, [endpoint])}
${table(
  say('attempts'),
  [
    ...([[say('event')], [say('type')], [say('attempt'), 'figure'], [say('time')], [say('state')]] as const),
    ...([[say('answer')], [say('error'), 'words'], [say('next')]] as const),
  ],
  rows,
  say('noAttempt'),
)}
${next !== undefined && items.length === ROWS && html`<p><a href="${linkOf(`/webhooks/${id}`, { after: next })}">${say('more')}</a></p>`}`
  return page(desk, `${say('webhooks')} ${id}`, body)
}

function endpoints({ deps, say, language }: Desk, all: readonly EndpointView[]): Html {
  const rows = all.map((endpoint) => [
    html`<a href="/webhooks/${endpoint.id}">${endpoint.id}</a>`,
    endpoint.url,
    endpoint.types.join(', '),
    `${nameIn(STATE_WORDS, language, endpoint.state)}${endpoint.stateReason === null ? '' : `: ${endpoint.stateReason}`}`,
    endpoint.behind,
    endpoint.oldestUndeliveredAt === null ? '' : timeText(endpoint.oldestUndeliveredAt, deps.config.zone),
    endpoint.description,
  ])
  return table(
    say('endpoints'),
    [
      ...([[say('id')], ['URL', 'words'], [say('type')], [say('state'), 'words']] as const),
      ...([[say('behind'), 'figure'], [say('oldest')], [say('note'), 'words']] as const),
    ],
    rows,
    say('noEndpoint'),
  )
}
