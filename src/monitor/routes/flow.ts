import { createHash, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { STATUSES } from '../../api/http/failure.ts'
import { type Html, html } from '../../api/http/html.ts'
import { inNames, LendingError } from '../../domain/errors.ts'
import { type Caller, requireAdmin } from '../../services/access/caller.ts'
import type { Idempotency } from '../../services/access/idempotency.ts'
import type { Desk } from '../desk.ts'
import type { Done } from '../layout/done.ts'
import { actionForm, questionForm } from '../layout/form.ts'
import { linkOf, page } from '../layout/page.ts'
import type { Field } from '../loan/actions.ts'
import { type Fields, textOf } from '../query.ts'

const HTML = 'text/html; charset=utf-8'

/** What a change makes of something: a part of a page, and a mark that is another once the thing has changed. */
export interface Shown {
  readonly view: Html
  readonly mark: string
}

/** A change that a person makes in three steps: a form, a preview that asks again, and the change. */
export interface Step {
  readonly path: string
  readonly title: string
  readonly means: string
  readonly fields: readonly Field[]
  readonly values: Fields
  /** The page to go on to. */
  readonly back: string
  /** Shows what the change makes, and changes nothing. @throws LendingError */
  show(fields: Fields): Promise<Shown>
  /** Makes the change. @throws LendingError */
  run(caller: Caller, fields: Fields): Promise<Done>
}

/** Answers a request for a step of a change: the form, its preview, or the change itself. @throws LendingError */
export async function takeStep(
  idempotency: Idempotency,
  request: FastifyRequest,
  reply: FastifyReply,
  step: Step,
): Promise<FastifyReply> {
  const { desk } = request
  requireAdmin(desk.caller)
  if (request.method !== 'POST') return sendForm(reply, desk, step, { values: step.values })
  const sent = request.body as Fields
  try {
    if (textOf(sent, 'step') !== 'confirm') return await sendQuestion(reply, desk, step, { sent, fresh: true })
    return await confirm(idempotency, { desk, reply, step, sent })
  } catch (error) {
    if (!(error instanceof LendingError)) throw error
    const { message } = inNames(error, {})
    return sendForm(reply.code(STATUSES[error.code]), desk, step, { values: sent, message })
  }
}

interface Confirmed {
  readonly desk: Desk
  readonly reply: FastifyReply
  readonly step: Step
  readonly sent: Fields
}

/**
 * Makes the change, once for a preview: its key is stored with the change, so that a second click makes none. Where the
 * thing has changed since the preview, the question is asked again.
 */
async function confirm(idempotency: Idempotency, { desk, reply, step, sent }: Confirmed): Promise<FastifyReply> {
  const key = textOf(sent, 'key', 64) ?? randomUUID()
  const values = step.fields.map(({ name }) => [name, String(sent[name] ?? '')])
  const hash = createHash('sha256')
    .update(JSON.stringify([step.path, values]))
    .digest('base64url')
  const begun = await idempotency.begin(desk.caller, `page-${key}`, hash)
  if ('kept' in begun) return reply.redirect(step.back, 303)
  try {
    const shown = await step.show(sent)
    if (shown.mark !== textOf(sent, 'mark')) return await sendQuestion(reply, desk, step, { sent, fresh: false })
    const done = await step.run({ ...desk.caller, claim: begun.turn.claim }, sent)
    return reply.redirect(linkOf(step.back, { done }), 303)
  } finally {
    begun.turn.end()
  }
}

function sendForm(
  reply: FastifyReply,
  desk: Desk,
  { path, title, means, fields, back }: Step,
  { values, message }: { readonly values: Fields; readonly message?: string },
): FastifyReply {
  const { say } = desk
  const form = actionForm(desk, { action: path, fields, values, submit: say('preview') })
  const body = html`<h1>${title}</h1>
<p>${means}</p>
${message !== undefined && html`<p class="bad" role="alert">${message}</p>`}
${form}
<p><a href="${back}">${say('back')}</a></p>`
  return reply.type(HTML).send(page(desk, title, body))
}

async function sendQuestion(
  reply: FastifyReply,
  desk: Desk,
  step: Step,
  { sent, fresh }: { readonly sent: Fields; readonly fresh: boolean },
): Promise<FastifyReply> {
  const { say } = desk
  const { path: action, fields, title, means, back } = step
  const { view, mark } = await step.show(sent)
  const question = questionForm(desk, { action, fields, values: sent, hidden: { mark, key: randomUUID() } })
  const said = fields.flatMap(({ name, word }) => {
    const value = String(sent[name] ?? '')
    return value === '' ? [] : [html`<li>${say(word)}: ${value}</li>`]
  })
  const body = html`<h1>${title}</h1>
<p>${means}</p>
${!fresh && html`<p class="notice" role="alert">${say('changedMeanwhile')}</p>`}
${said.length > 0 && html`<ul>${said}</ul>`}
${view}
${question}
<p><a href="${back}">${say('back')}</a></p>`
  return reply.type(HTML).send(page(desk, title, body))
}
