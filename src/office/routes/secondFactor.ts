import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { encodeQR } from 'qr'
import { STATUSES } from '../../api/http/failure.ts'
import { Html, html } from '../../api/http/html.ts'
import { invariant, LendingError } from '../../domain/errors.ts'
import type { Deps } from '../../services/deps.ts'
import type { PageSessions } from '../../services/office/pageSessions.ts'
import {
  hasFactor,
  LONGEST_CODE,
  type Offered,
  offeredSecret,
  offerSecret,
  proveSecret,
} from '../../services/signIn/secondFactor.ts'
import { type Fields, textOf } from '../desk.ts'
import { button, page, tokenField } from '../layout/page.ts'

/** The page of a person's second factor, which a person has to set up where the organization requires one. */
export const SECOND_FACTOR = '/second-factor'

const HTML = 'text/html; charset=utf-8'

/** Adds the page on which a person sets up a second factor: a secret that is shown once, a code that proves it, and recovery codes. */
export function addSecondFactor(app: FastifyInstance, sessions: PageSessions, deps: Deps): void {
  const factor = { db: deps.db, config: deps.config, now: deps.machineNow }
  app.get(SECOND_FACTOR, async (request, reply) => send(request, reply, await shown(request)))

  app.post(SECOND_FACTOR, async (request: FastifyRequest<{ Body: Fields }>, reply) => {
    const { desk, pageSession, body } = request
    const { caller, say } = desk
    if (!pageSession.hasPassword) throw new LendingError('failed_precondition', say('factorOfProvider'))
    const whose = whoseOf(request)
    if (textOf(body, 'step') !== 'prove') {
      await offerSecret(factor, whose, caller.email)
      return send(request, reply, offerOf(request, (await offeredSecret(factor, whose, caller.email))!))
    }
    try {
      const codes = await proveSecret(factor, caller, whose, (textOf(body, 'code', LONGEST_CODE) ?? '').trim())
      sessions.forget(request.cookies[app.cookieNames.session] ?? '')
      const list = codes.map((code) => html`<li><code>${code}</code></li>`)
      return send(
        request,
        reply,
        html`<p class="notice" role="status">${say('factorDone')}</p><p>${say('recoveryMeans')}</p><ul>${list}</ul>
<p><a href="/">${say('goOn')}</a></p>`,
      )
    } catch (error) {
      if (!(error instanceof LendingError)) throw error
      // The secret was shown, and is not shown again: the app has it, or a new one is asked for.
      return send(
        request,
        reply.code(STATUSES[error.code]),
        html`<p class="bad" role="alert">${error.message}</p>
${proveForm(request)}${button(desk, SECOND_FACTOR, 'factorBegin')}`,
      )
    }
  })

  /** Builds what the page shows: that the factor is on, or the way to it. */
  async function shown(request: FastifyRequest): Promise<Html> {
    const { desk, pageSession } = request
    const { say } = desk
    if (!pageSession.hasPassword) return html`<p>${say('factorOfProvider')}</p>`
    if (await hasFactor(factor, whoseOf(request))) return html`<p>${say('factorIsOn')}</p>`
    return html`${pageSession.needsFactor && html`<p class="notice">${say('factorRequired')}</p>`}<p>${say('factorMeans')}</p>
${button(desk, SECOND_FACTOR, 'factorBegin')}`
  }
}

function whoseOf({ desk: { caller } }: FastifyRequest) {
  const { organizationId, accountId } = caller
  invariant(accountId !== null, 'an account that has signed in')
  return { organizationId, accountId }
}

const proveForm = ({ desk }: FastifyRequest): Html =>
  html`<form class="fields" method="post" action="${SECOND_FACTOR}">${tokenField(desk)}<input type="hidden" name="step" value="prove">
<label>${desk.say('factorCode')} <input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="${LONGEST_CODE}" required></label>
<button>${desk.say('factorProve')}</button></form>`

/** Builds the secret, as text, as an address and as a picture of it, and the form that proves it. */
function offerOf(request: FastifyRequest, { secret, uri }: Offered): Html {
  const { say } = request.desk
  return html`<p>${say('factorMeans')}</p>
${new Html(encodeQR(uri, 'svg', { scale: 4 }))}
<dl class="tiles"><div><dt>${say('factorSecret')}</dt><dd><code>${secret}</code></dd></div></dl>
<p><a href="${uri}">${uri}</a></p>
${proveForm(request)}`
}

function send({ desk }: FastifyRequest, reply: FastifyReply, body: Html): FastifyReply {
  const title = desk.say('secondFactor')
  return reply.type(HTML).send(page(desk, title, html`<h1>${title}</h1>${body}`))
}
