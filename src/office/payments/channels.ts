import { html } from '../../api/http/html.ts'
import { type ChannelNow, listChannelsNow } from '../../services/office/payments.ts'
import { STATE_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, timeText } from '../desk.ts'
import { ago, type Column, figures, linkOf, money, page, table } from '../layout/page.ts'

/** Builds the page of the channels of payments: what came in today, what waits, since when each is silent, where its money is. */
export async function channelsPage(desk: Desk): Promise<string> {
  const { deps, caller, say } = desk
  const all = await listChannelsNow(deps, caller)
  const body = html`<h1>${say('channels')}</h1>
${table(say('channelsNow'), columns(desk), all.map(rowOf(desk)), say('noChannel'))}
${table(
  say('positions'),
  [
    [say('channel'), 'words'],
    [say('currency')],
    ...figures(say('received'), say('allocated'), say('suspense'), say('returned'), say('takenBack')),
  ],
  all.map(({ channel: { id, name, currency }, received, allocated, suspense, returned, reversed }) => [
    linkTo(id, name, 'all'),
    currency,
    ...[received, allocated, suspense, returned, reversed].map((amount) => money(amount, currency)),
  ]),
  say('noChannel'),
)}
<p>${say('positionMeans')}</p>`
  return page(desk, say('channels'), body)
}

const linkTo = (id: number, name: string | number, status: 'all' | 'waiting') =>
  html`<a href="${linkOf('/payments', { channel: String(id), status })}">${name}</a>`

const columns = ({ say }: Desk): Column[] => [
  [say('channel'), 'words'],
  [say('adapter')],
  [say('shortCode')],
  [say('state')],
  [say('account')],
  [say('currency')],
  ...figures(say('paymentsOfToday'), say('amountToday'), say('waitingPayments'), say('suspense')),
  [say('lastMessage')],
  [say('lastPaymentIn')],
  [say('silentSince')],
  [say('reconciliations')],
]

const rowOf =
  ({ deps, caller, say, language }: Desk) =>
  ({ channel, todayCount, todayAmount, waitingCount, suspense, lastMessageAt, lastPaymentAt }: ChannelNow) => {
    const { id, name, currency } = channel
    const at = (instant: number | null) => (instant === null ? '' : timeText(instant, deps.config.zone))
    // Messages come by the clock of the machine, payments by that of the organization.
    const silences = [
      ...(lastMessageAt === null ? [] : [{ since: lastMessageAt, now: deps.machineNow() }]),
      ...(lastPaymentAt === null ? [] : [{ since: lastPaymentAt, now: deps.now(caller.organizationId) }]),
    ]
    const [shortest] = silences.toSorted((a, b) => a.now - a.since - (b.now - b.since))
    return [
      linkTo(id, name, 'all'),
      channel.adapter,
      channel.shortCode ?? '',
      nameIn(STATE_WORDS, language, channel.disabledAt === null ? 'active' : 'disabled'),
      channel.account ?? '',
      currency,
      todayCount,
      money(todayAmount, currency),
      linkTo(id, waitingCount, 'waiting'),
      money(suspense, currency),
      at(lastMessageAt),
      at(lastPaymentAt),
      shortest ? `${at(shortest.since)} (${ago(shortest.since, shortest.now)})` : '',
      html`<a href="${linkOf('/reconciliations', { channel: String(id) })}">${say('reconciliations')}</a>`,
    ]
  }
