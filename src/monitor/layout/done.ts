import { type Html, html } from '../../api/http/html.ts'
import { doneWords } from '../../words/actions.ts'
import type { Desk } from '../desk.ts'
import { type Fields, textOf } from '../query.ts'

/** The names of what was done, as they stand in an address. */
export type Done = keyof typeof doneWords

const isDone = (text: string): text is Done => Object.hasOwn(doneWords, text)

/** Builds the notice of what was done on the page before; nothing where nothing was. */
export function done({ say }: Desk, query: Fields): Html | false {
  const name = textOf(query, 'done')
  return name !== undefined && isDone(name) && html`<p class="notice" role="status">${say(name)}</p>`
}
