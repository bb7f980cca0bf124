import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptUploads, Upload } from '../../api/body/upload.ts'
import { STATUSES } from '../../api/http/failure.ts'
import { html } from '../../api/http/html.ts'
import { readId } from '../../api/wire.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, inNames, invalidArgument, LendingError, ledByField } from '../../domain/errors.ts'
import type { Decimal } from '../../domain/money.ts'
import { STATEMENT_LAYOUTS } from '../../domain/payments/statementLayouts.ts'
import { applyReconciliation, reconcile } from '../../services/payments/reconciliation/reconcile.ts'
import { LAYOUT_WORDS } from '../../words/reconciliations.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, dayOf, type Fields, textOf, wordOf } from '../desk.ts'
import { linkOf, money, page, tokenField } from '../layout/page.ts'
import { amountOf } from '../loan/actions.ts'
import { channelChoice } from '../payments/payments.ts'
import { comparedOf, comparedTables, missingLines } from '../payments/reconciliation.ts'
import type { Step } from './flow.ts'

/** The bytes of the largest file of a statement at the office pages. */
export const LONGEST_STATEMENT_FILE = 1_048_576

const PATH = '/reconciliations/new'

type Request = FastifyRequest<{ Querystring: Fields; Body: Fields }>

/** Adds the form by which an ADMIN sends the file of a statement, to be compared with the payments of its channel. */
export function addCompare(app: FastifyInstance): void {
  void app.register(async (scope) => {
    acceptUploads(scope, { bytes: LONGEST_STATEMENT_FILE })
    scope.get(PATH, async ({ desk, query }: Request, reply) => {
      return sendForm(reply, desk, query)
    })
    scope.post(PATH, compare)
  })
}

async function compare({ desk, body }: Request, reply: FastifyReply): Promise<FastifyReply> {
  const { deps, caller } = desk
  try {
    const { id } = await reconcile(deps, caller, requestOf(body))
    return await reply.redirect(linkOf(`/reconciliations/${id}`, { done: 'doneCompare' }), 303)
  } catch (error) {
    if (!(error instanceof LendingError)) throw error
    const { message, details } = inNames(error, namesOf(desk))
    return sendForm(reply.code(STATUSES[error.code]), desk, body, ledByField(message, details))
  }
}

/** Reads the form. @throws LendingError `invalid_argument` */
function requestOf(body: Fields) {
  const channel = textOf(body, 'channel', 20)
  const { statement } = body
  if (channel === undefined) throw invalidArgument('channelId', 'is required')
  const [from, to] = [requiredDay(body, 'from'), requiredDay(body, 'to')]
  const layout = wordOf(STATEMENT_LAYOUTS, body, 'layout')
  const [opening, closing] = [balanceOf(body, 'opening'), balanceOf(body, 'closing')]
  if (!(statement instanceof Upload) || statement.bytes.length === 0)
    throw invalidArgument('statement', 'is required: choose the file that the provider gave you')
  return { channelId: readId(channel) ?? 0n, from, to, layout, opening, closing, statement: statement.bytes }
}

function requiredDay(fields: Fields, name: 'from' | 'to'): LocalDate {
  const day = dayOf(fields, name)
  if (day === undefined) throw invalidArgument(name, 'is required')
  return day
}

/** Reads a balance, which may be below 0; undefined for none. @throws LendingError `invalid_argument` */
function balanceOf(fields: Fields, name: 'opening' | 'closing'): Decimal | undefined {
  const given = textOf(fields, name, 32)?.trim()
  if (given === undefined) return undefined
  const amount = amountOf({ [name]: given.replace(/^-/, '') }, name)
  return given.startsWith('-') ? { ...amount, units: -amount.units } : amount
}

/** Returns what the fields are called on the form. */
const namesOf = ({ say }: Desk) => ({
  channelId: say('channel'),
  from: say('firstDay'),
  to: say('lastDay'),
  opening: say('balanceBefore'),
  closing: say('balanceAfter'),
  statement: say('statementFile'),
})

/** Sends the form with the values that it had. A browser fills in no file: that is chosen again. */
async function sendForm(reply: FastifyReply, desk: Desk, values: Fields, message?: string): Promise<FastifyReply> {
  const { say, language } = desk
  const sent = (name: string) => (typeof values[name] === 'string' ? values[name] : '')
  const day = (name: 'from' | 'to', label: string) =>
    html`<label>${label} <input name="${name}" type="date" value="${sent(name)}" required></label>`
  const balance = (name: 'opening' | 'closing', label: string) =>
    html`<label>${label} <input name="${name}" autocomplete="off" maxlength="32" value="${sent(name)}"></label>`
  const layouts = STATEMENT_LAYOUTS.map(
    (one) =>
      html`<option value="${one}"${one === sent('layout') && html` selected`}>${nameIn(LAYOUT_WORDS, language, one)}</option>`,
  )
  const title = say('compareStatement')
  const body = html`<h1>${title}</h1>
<p>${say('meansCompare')}</p>
${message !== undefined && html`<p class="bad" role="alert">${message}</p>`}
<form class="fields" method="post" action="${PATH}" enctype="multipart/form-data">${tokenField(desk)}
${await channelChoice(desk, sent('channel'))}
${day('from', say('firstDay'))}
${day('to', say('lastDay'))}
<label>${say('layout')} <select name="layout">${layouts}</select></label>
${balance('opening', say('openingOrSaid'))}
${balance('closing', say('closingOrSaid'))}
<label>${say('statementFile')} <input name="statement" type="file" accept=".csv,.txt,.xml" required></label>
<button>${title}</button></form>
<p><a href="/reconciliations">${say('back')}</a></p>`
  return reply.type('text/html; charset=utf-8').send(page(desk, title, body))
}

/** Returns the steps of taking in what a statement has and the payments have not. @throws LendingError `not_found` */
export async function applyStep({
  desk,
  params,
}: Pick<FastifyRequest<{ Params: Readonly<Record<'id', string>> }>, 'desk' | 'params'>): Promise<Step> {
  const { deps, say } = desk
  const { run } = await comparedOf(desk, params.id)
  const back = `/reconciliations/${run.id}`
  return {
    title: say('titleApply', { id: run.id }),
    means: say('meansApply'),
    fields: [],
    values: {},
    back,
    asksFirst: true,
    changed: 'changedReconciliation',
    about: async () => comparedTables(desk, await comparedOf(desk, params.id)),
    async show() {
      const now = await comparedOf(desk, params.id)
      if (missingLines(now.run) === 0) throw failedPrecondition('nothing of the statement is missing here')
      const { currency } = now.channel
      const { missing_here, reversal_missing } = now.run.figures
      const asked = [
        ['askTakeIn', missing_here.lines, BigInt(missing_here.amount)],
        ['askTakeBack', reversal_missing.lines, -BigInt(reversal_missing.amount)],
      ] as const
      const view = asked
        .filter(([, count]) => count > 0)
        .map(([word, count, minor]) => {
          const text = say(word, { count, amount: money(minor, currency), currency })
          return html`<p><strong>${text}</strong></p>`
        })
      return { view: html`${view}`, mark: String(now.run.version) }
    },
    async run(by) {
      await applyReconciliation(deps, by, run.id)
      return 'doneApply'
    },
  }
}
