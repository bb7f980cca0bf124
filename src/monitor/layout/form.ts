import { type Html, html } from '../../api/http/html.ts'
import type { Desk } from '../desk.ts'
import type { Field } from '../loan/actions.ts'
import type { Fields } from '../query.ts'
import { tokenField } from './page.ts'

/** Builds a field of a form, with the value that it had. */
function fieldOf({ say }: Desk, field: Field, values: Fields): Html {
  const value = String(values[field.name] ?? '')
  const required = field.isRequired && html` required`
  const label = say(field.word)
  if (field.kind === 'choice') {
    const options = field.choices?.map(
      ([one, word]) => html`<option value="${one}"${one === value && html` selected`}>${say(word)}</option>`,
    )
    return html`<label>${label} <select name="${field.name}">${options}</select></label>`
  }
  if (field.kind === 'date')
    return html`<label>${label} <input name="${field.name}" type="date" value="${value}"${required}></label>`
  if (field.kind === 'amount')
    return html`<label>${label} <input name="${field.name}" inputmode="decimal" autocomplete="off" maxlength="32" value="${value}"${required}></label>`
  return html`<label>${label} <input name="${field.name}" autocomplete="off" maxlength="${field.longest ?? 200}" value="${value}"${required}></label>`
}

/** A form of an action: its address, its fields with their values, and the word on its button. */
export interface ActionForm {
  readonly action: string
  readonly fields: readonly Field[]
  readonly values: Fields
  readonly submit: string
}

/** Builds the form of an action, whose answer is a preview. */
export const actionForm = (desk: Desk, { action, fields, values, submit }: ActionForm): Html =>
  html`<form class="fields" method="post" action="${action}">${tokenField(desk)}<input type="hidden" name="step" value="preview">
${fields.map((field) => html`${fieldOf(desk, field, values)}\n`)}<button>${submit}</button></form>`

/** A question before a change: its address, the values that are sent again, and those that belong to the question. */
export interface Question {
  readonly action: string
  readonly fields: readonly Field[]
  readonly values: Fields
  readonly hidden: Readonly<Record<string, string>>
}

/** Builds the question whether a change is to be made, which sends the same values again. */
export function questionForm(desk: Desk, { action, fields, values, hidden }: Question): Html {
  const { say } = desk
  const sent = [
    ...fields.map(({ name }) => [name, String(values[name] ?? '')] as const),
    ...Object.entries({ ...hidden, step: 'confirm' }),
  ]
  return html`<form class="question" method="post" action="${action}">${tokenField(desk)}
${sent.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}<p>${say('askAgain')}</p>
<button>${say('confirm')}</button></form>`
}
