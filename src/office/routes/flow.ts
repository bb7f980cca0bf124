import { createHash, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { STATUSES } from '../../api/http/failure.ts'
import { type Html, html } from '../../api/http/html.ts'
import { inNames, LendingError } from '../../domain/errors.ts'
import type { Caller } from '../../services/access/caller.ts'
import type { Idempotency } from '../../services/access/idempotency.ts'
import type { Desk, PageWord } from '../desk.ts'
import { type Fields, textOf } from '../desk.ts'
import type { Done } from '../layout/page.ts'
import { linkOf, page, tokenField } from '../layout/page.ts'
import type { Field } from '../loan/actions.ts'

const HTML = 'text/html; charset=utf-8'

/** What a change makes of something: a part of a page, and a text that is another once the thing has changed; its digest is in the form. */
export interface Shown {
  readonly view: Html
  readonly mark: string
}

/** A change that a person makes in three steps: a form, a preview that asks again, and the change. */
export interface Step {
  /** The query of the address of the form, which says more of what the change is about; none when left out. */
  readonly query?: string
  readonly title: string
  readonly means: string
  readonly fields: readonly Field[]
  readonly values: Fields
  /** The page to go on to. */
  readonly back: string
  /** Whether the question comes first, for the values with which the form begins; the form is below it. */
  readonly asksFirst?: true
  /** What is said where the thing has changed since the question. */
  readonly changed?: PageWord
  /** Shows what the change is about as it is now, also where the change is refused. @throws LendingError */
  about?(): Promise<Html>
  /** Shows what the change makes, and changes nothing. @throws LendingError */
  show(fields: Fields): Promise<Shown>
  /** Makes the change. @returns what was done, and the page to go on to where the change has made one. @throws LendingError */
  run(caller: Caller, fields: Fields): Promise<Done | { readonly done: Done; readonly back: string }>
}

/** A change, with the address of its form. */
interface PlacedStep extends Step {
  readonly action: string
}

/** Returns what a form has of a mark, in a hidden field: no page has there the words of a person. */
const digestOf = (mark: string): string => createHash('sha256').update(mark).digest('base64url')

/** Answers a request for a step of a change: the form, its preview, or the change itself. @throws LendingError */
export async function takeStep(
  idempotency: Idempotency,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Step,
): Promise<FastifyReply> {
  const { desk } = request
  const step = { ...asked, action: `${request.url.split('?')[0]}${asked.query ?? ''}` }
  const isSent = request.method === 'POST'
  if (!isSent && !step.asksFirst) return sendForm(reply, desk, step, { values: step.values })
  const sent = isSent ? (request.body as Fields) : step.values
  try {
    if (!isSent || textOf(sent, 'step') !== 'confirm')
      return await sendQuestion(reply, desk, step, { sent, fresh: true })
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
  readonly step: PlacedStep
  readonly sent: Fields
}

/**
 * Makes the change, once for a preview: its key is stored with the change, so that a second click makes none. Where the
 * thing has changed since the preview, the question is asked again.
 */
async function confirm(idempotency: Idempotency, { desk, reply, step, sent }: Confirmed): Promise<FastifyReply> {
  const key = textOf(sent, 'key', 64) ?? randomUUID()
  const values = step.fields.map(({ name }) => [name, String(sent[name] ?? '')])
  const hash = digestOf(JSON.stringify([step.action, values]))
  const begun = await idempotency.begin(desk.caller, `page-${key}`, hash)
  if ('kept' in begun) return reply.redirect(step.back, 303)
  try {
    const shown = await step.show(sent)
    if (digestOf(shown.mark) !== textOf(sent, 'mark'))
      return await sendQuestion(reply, desk, step, { sent, fresh: false })
    const result = await step.run({ ...desk.caller, claim: begun.turn.claim }, sent)
    const { done, back } = typeof result === 'string' ? { done: result, back: step.back } : result
    return reply.redirect(linkOf(back, { done }), 303)
  } finally {
    begun.turn.end()
  }
}

async function sendForm(
  reply: FastifyReply,
  desk: Desk,
  step: PlacedStep,
  { values, message }: { readonly values: Fields; readonly message?: string },
): Promise<FastifyReply> {
  const { say } = desk
  const { action, title, means, fields, back } = step
  const form = actionForm(desk, { action, fields, values, submit: say('preview') })
  const body = html`<h1>${title}</h1>
<p>${means}</p>
${message !== undefined && html`<p class="bad" role="alert">${message}</p>`}
${await step.about?.()}
${form}
<p><a href="${back}">${say('back')}</a></p>`
  return reply.type(HTML).send(page(desk, title, body))
}

async function sendQuestion(
  reply: FastifyReply,
  desk: Desk,
  step: PlacedStep,
  { sent, fresh }: { readonly sent: Fields; readonly fresh: boolean },
): Promise<FastifyReply> {
  const { say } = desk
  const { action, fields, title, means, back } = step
  const { view, mark } = await step.show(sent)
  const question = questionForm(desk, {
    action,
    fields,
    values: sent,
    hidden: { mark: digestOf(mark), key: randomUUID() },
  })
  const said = fields.flatMap(({ name, word }) => {
    const value = String(sent[name] ?? '')
    return value === '' ? [] : [html`<li>${say(word)}: ${value}</li>`]
  })
  const body = html`<h1>${title}</h1>
<p>${means}</p>
${!fresh && html`<p class="notice" role="alert">${say(step.changed ?? 'changedMeanwhile')}</p>`}
${said.length > 0 && html`<ul>${said}</ul>`}
${view}
${question}
${step.asksFirst && fields.length > 0 && actionForm(desk, { action, fields, values: sent, submit: say('preview') })}
${await step.about?.()}
<p><a href="${back}">${say('back')}</a></p>`
  return reply.type(HTML).send(page(desk, title, body))
}

/** A form of an action: its address, its fields with their values, and the word on its button. */
interface ActionForm {
  readonly action: string
  readonly fields: readonly Field[]
  readonly values: Fields
  readonly submit: string
}

/** A question before a change: its address, the values that are sent again, and those that belong to the question. */
interface Question {
  readonly action: string
  readonly fields: readonly Field[]
  readonly values: Fields
  readonly hidden: Readonly<Record<string, string>>
}

/** Builds a field of a form, with the value that it had. */
function fieldOf({ say }: Desk, field: Field, values: Fields): Html {
  const value = String(values[field.name] ?? '')
  const required = field.isRequired && html` required`
  const label = say(field.word)
  if (field.kind === 'choice') {
    const named = field.names?.map((one) => html`<option${one === value && html` selected`}>${one}</option>`)
    const options = field.choices?.map(
      ([one, word]) => html`<option value="${one}"${one === value && html` selected`}>${say(word)}</option>`,
    )
    return html`<label>${label} <select name="${field.name}">${named}${options}</select></label>`
  }
  if (field.kind === 'date')
    return html`<label>${label} <input name="${field.name}" type="date" value="${value}"${required}></label>`
  if (field.kind === 'amount')
    return html`<label>${label} <input name="${field.name}" inputmode="decimal" autocomplete="off" maxlength="32" value="${value}"${required}></label>`
  return html`<label>${label} <input name="${field.name}" autocomplete="off" maxlength="${field.longest ?? 200}" value="${value}"${required}></label>`
}

/** Builds the form of an action, whose answer is a preview. */
const actionForm = (desk: Desk, { action, fields, values, submit }: ActionForm): Html =>
  html`<form class="fields" method="post" action="${action}">${tokenField(desk)}<input type="hidden" name="step" value="preview">
${fields.map((field) => html`${fieldOf(desk, field, values)}\n`)}<button>${submit}</button></form>`

/** Builds the question whether a change is to be made, which sends the same values again. */
function questionForm(desk: Desk, { action, fields, values, hidden }: Question): Html {
  const { say } = desk
  const sent = [
    ...fields.map(({ name }) => [name, String(values[name] ?? '')] as const),
    ...Object.entries({ ...hidden, step: 'confirm' }),
  ]
  return html`<form class="question" method="post" action="${action}">${tokenField(desk)}
${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}<p>${say('askAgain')}</p>
<button>${say('confirm')}</button></form>`
}
