import { type Html, html, type Part } from '../../api/http/html.ts'

/** Builds a whole page; the browser asks for it again after `renew` seconds. */
export const page = (title: string, body: Html, { renew }: { readonly renew?: number } = {}): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${renew !== undefined && html`<meta http-equiv="refresh" content="${renew}">`}
<title>${title} · Mkopo</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><a href="/">Mkopo</a> <span>read-only operator's view</span></header>
<main>${body}</main>
</body>
</html>
`.text

/** Builds a page of one sentence, such as a refusal. */
export const messagePage = (message: string): string => page('Mkopo', html`<p class="message">${message}</p>`)

/** A column: its head, and whether it holds figures, or words that may take several lines. */
export type Column = readonly [head: string, kind?: 'figure' | 'words']

/** Builds a table with its caption; `empty` replaces the rows where there are none. */
export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Part[])[],
  empty: string,
): Html {
  const kind = (index: number) => {
    const named = columns[index]?.[1]
    return named && html` class="${named}"`
  }
  return html`<section><table><caption>${caption}</caption>
<thead><tr>${columns.map(([head], index) => html`<th scope="col"${kind(index)}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td${kind(index)}>${cell}</td>`)}</tr>\n`)}${
    rows.length === 0 && html`<tr><td colspan="${columns.length}" class="empty">${empty}</td></tr>`
  }</tbody></table></section>`
}
