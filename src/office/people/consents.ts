import type { FastifyRequest } from 'fastify'
import { type Html, html } from '../../api/http/html.ts'
import { CONSENT_CHANNELS, CONSENT_PURPOSES } from '../../domain/customer/consent.ts'
import { type Instant, startOfDay } from '../../domain/dates.ts'
import { type Consent, giveConsent, listConsents, withdrawConsent } from '../../services/customers/consents.ts'
import { type Desk, dayOf, type Fields, idOf, timeText, wordOf } from '../desk.ts'
import { table } from '../layout/page.ts'
import type { Field } from '../loan/actions.ts'
import { pageNeeds } from '../permissions.ts'
import type { Step } from '../routes/flow.ts'

/** The most consents on the page of a customer. */
const MOST_CONSENTS = 100

type Request = Pick<FastifyRequest<{ Params: Readonly<Record<'id' | 'partId', string>> }>, 'desk' | 'params'>

const read = ({ deps, caller }: Desk, id: bigint) =>
  listConsents(deps, caller, { id }, { rows: MOST_CONSENTS, page: 1 })

/** Builds what a customer agreed to, with the links by which an ADMIN changes it. */
export async function consentsOf(desk: Desk, id: bigint): Promise<Html> {
  const { say, may } = desk
  const { items, total = 0 } = await read(desk, id)
  return html`${consentTable(desk, id, items)}
${total > items.length && html`<p>${say('latestOf', { shown: items.length, all: total })}</p>`}
${may(pageNeeds('/customers/:id/do/consent')) && html`<p class="actions"><a href="/customers/${id}/do/consent">${say('giveConsent')}</a></p>`}`
}

function consentTable({ deps, say, may }: Desk, id: bigint, items: readonly Consent[]): Html {
  const { zone } = deps.config
  const rows = items.map((consent) => [
    consent.id,
    say(`purpose_${consent.purpose}`),
    say(`by_${consent.channel}`),
    timeText(consent.givenAt, zone),
    consent.withdrawnAt === null
      ? may(pageNeeds('/customers/:id/consents/:partId/do/withdraw')) &&
        html`<a href="/customers/${id}/consents/${consent.id}/do/withdraw">${say('withdraw')}</a>`
      : html`${timeText(consent.withdrawnAt, zone)}${consent.withdrawnBy !== null && html` (${say(`by_${consent.withdrawnBy}`)})`}`,
  ])
  return table(
    say('consents'),
    [[say('id')], [say('purpose'), 'words'], [say('said')], [say('givenAt')], [say('withdrawnAt')]],
    rows,
    say('noConsent'),
  )
}

const CHANNEL: Field = {
  name: 'channel',
  word: 'said',
  kind: 'choice',
  choices: CONSENT_CHANNELS.map((one) => [one, `by_${one}`] as const),
}

const GIVING: readonly Field[] = [
  {
    name: 'purpose',
    word: 'purpose',
    kind: 'choice',
    choices: CONSENT_PURPOSES.map((one) => [one, `purpose_${one}`] as const),
  },
  CHANNEL,
  { name: 'date', word: 'givenOn', kind: 'date' },
]

const WITHDRAWING: readonly Field[] = [
  { ...CHANNEL, choices: [['', 'by_none'], ...(CHANNEL.choices ?? [])] },
  { name: 'date', word: 'withdrawnOn', kind: 'date' },
]

/** Reads the day of a form as its first instant. */
function instantIn({ deps }: Desk, fields: Fields): Instant | undefined {
  const day = dayOf(fields, 'date')
  return day === undefined ? undefined : startOfDay(day, deps.config.zone)
}

/** Shows the consents as they are, by which a form knows whether they have changed. */
async function shownNow(desk: Desk, id: bigint) {
  const { items, total = 0 } = await read(desk, id)
  const mark = [total, ...items.map(({ updatedAt }) => updatedAt)].join(' ')
  return { view: consentTable({ ...desk, may: () => false }, id, items), mark }
}

/** Returns the steps of recording a consent. */
export async function giveConsentStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'customer')
  const purposeOf = (fields: Fields) => wordOf(CONSENT_PURPOSES, fields, 'purpose') ?? 'bureau'
  return {
    title: say('titleConsent', { id }),
    means: say('meansConsent'),
    fields: GIVING,
    values: {},
    back: `/customers/${id}`,
    show(fields) {
      purposeOf(fields)
      instantIn(desk, fields)
      return shownNow(desk, id)
    },
    async run(by, fields) {
      const channel = wordOf(CONSENT_CHANNELS, fields, 'channel') ?? 'other'
      const givenAt = instantIn(desk, fields) ?? deps.now(caller.organizationId)
      await giveConsent(deps, by, { id }, { purpose: purposeOf(fields), channel, givenAt })
      return 'doneConsent'
    },
  }
}

/** Returns the steps of withdrawing a consent. */
export async function withdrawConsentStep({ desk, params }: Request): Promise<Step> {
  const { deps, say } = desk
  const [customerId, id] = [idOf(params.id, 'customer'), idOf(params.partId, 'consent')]
  return {
    title: say('titleWithdrawConsent', { id }),
    means: say('meansWithdrawConsent'),
    fields: WITHDRAWING,
    values: {},
    back: `/customers/${customerId}`,
    show(fields) {
      instantIn(desk, fields)
      return shownNow(desk, customerId)
    },
    async run(by, fields) {
      const withdrawal = {
        channel: wordOf(CONSENT_CHANNELS, fields, 'channel'),
        withdrawnAt: instantIn(desk, fields),
      }
      await withdrawConsent(deps, by, { ref: { id: customerId }, id }, withdrawal)
      return 'doneWithdrawConsent'
    },
  }
}
