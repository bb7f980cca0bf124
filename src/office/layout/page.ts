import { type Html, html, type Part } from '../../api/http/html.ts'
import { type Currency, currencyOf, minorToText } from '../../domain/money.ts'
import { shareOf } from '../../domain/portfolio/cells.ts'
import { doneWords } from '../../words/actions.ts'
import { type Desk, type Fields, type Frame, type PageWord, textOf } from '../desk.ts'
import { pageNeeds } from '../permissions.ts'

/** The pages of the menu: the address, the word, and who sees the page. */
const MENU: readonly (readonly [path: string, word: PageWord])[] = [
  ['/', 'today'],
  ['/worklist', 'workList'],
  ['/customers', 'customers'],
  ['/arrears', 'arrears'],
  ['/portfolio-at-risk', 'portfolioAtRisk'],
  ['/growth', 'growth'],
  ['/payments', 'paymentsToMatch'],
  ['/channels', 'channels'],
  ['/reconciliations', 'reconciliations'],
  ['/bureau-files', 'bureauFiles'],
  ['/pending', 'pending'],
  ['/data-requests', 'dataRequests'],
  ['/products', 'products'],
  ['/documents', 'verify'],
  ['/journal', 'journal'],
  ['/trial-balance', 'trialBalance'],
  ['/month-end', 'monthEnd'],
  ['/webhooks', 'webhooks'],
  ['/audit', 'audit'],
  ['/exports', 'exports'],
  ['/book', 'book'],
]

/** The parts of a page besides its title and its body. */
export interface PageOptions {
  readonly search?: string
}

/** Builds a page for a person who has signed in: the menu, the search, and the body. */
export const page = (desk: Desk, title: string, body: Html, { search = '' }: PageOptions = {}): string =>
  document(desk, title, {
    header: html`${searchForm(desk, search)}${menu(desk)}`,
    body: html`${desk.testClock !== undefined && html`<p class="notice">${desk.say('testOrganization', { now: desk.testClock })}</p>`}${body}`,
    footer: html`<span>${desk.say('signedInAs', { email: desk.caller.email })}</span> <a href="/second-factor">${desk.say('secondFactor')}</a> ${button(desk, '/sign-out', 'signOut')}`,
  })

/** Builds a page for nobody in particular, such as the sign-in or a refusal. */
export const plainPage = (frame: Frame, title: string, body: Html): string => document(frame, title, { body })

/** Builds a page of one sentence for nobody in particular. */
export const messagePage = (frame: Frame, message: string): string =>
  plainPage(frame, frame.say('office'), html`<h1>${frame.say('refused')}</h1><p class="message">${message}</p>`)

interface Parts {
  readonly header?: Html
  readonly body: Html
  readonly footer?: Html
}

/** The style of the pages: light or dark as the reader's system, and wide enough for a table of figures. */
export const style = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1b2430, #e6eaf0); --soft: light-dark(#5b6775, #9aa6b4); --paper: light-dark(#fff, #12171e);
  --raised: light-dark(#f5f7f9, #1a212a); --rule: light-dark(#dde3e9, #2b3540);
  --first: light-dark(#1f6feb, #58a6ff); --second: light-dark(#2da44e, #4ac26b); --bad: light-dark(#b3261e, #ff8a80);
  --third: light-dark(#b35900, #f0a35e); --fourth: light-dark(#8250df, #bc8cff);
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
.skip { position: absolute; left: -9999px }
.skip:focus { left: 8px; top: 8px; padding: 6px 12px; background: var(--raised); z-index: 1 }
:focus-visible { outline: 3px solid var(--first); outline-offset: 2px }
main:focus { outline: none }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 24px; padding: 12px 24px; border-bottom: 1px solid var(--rule); color: var(--soft) }
.home { color: var(--ink); font-weight: 600; text-decoration: none; padding: 4px 0 }
header .search { margin: 0; flex: 1 1 320px; display: flex; gap: 8px }
.search label { flex: 1; display: flex; align-items: center; gap: 8px }
.search input { flex: 1; min-width: 0 }
nav { flex-basis: 100% }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 4px; margin: 0; padding: 0; list-style: none }
nav a { display: inline-block; padding: 4px 10px; border-radius: 6px; color: var(--ink); text-decoration: none }
nav a:hover, nav a[aria-current] { background: var(--raised) }
nav a[aria-current] { font-weight: 600; box-shadow: inset 0 -2px var(--first) }
footer { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding: 12px 24px; border-top: 1px solid var(--rule); color: var(--soft) }
main { max-width: 1180px; margin: 0 auto; padding: 8px 24px 48px }
h1 { font-size: 22px; margin: 20px 0 4px; overflow-wrap: anywhere }
h2 { font-size: 17px; margin: 0 }
p { overflow-wrap: anywhere }
p { margin: 4px 0; color: var(--soft) }
a { color: var(--first) }
section, figure { margin: 24px 0 0; overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 14px }
caption, figcaption { text-align: left; font-weight: 600; padding: 0 0 6px; color: var(--ink) }
caption, figcaption { position: sticky; left: 0; max-width: calc(100vw - 48px) }
th, td { padding: 6px 10px; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top }
th { font-weight: 500; color: var(--soft); white-space: nowrap }
.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tbody tr:hover, tbody tr:hover td { background: var(--raised) }
.empty, .message { color: var(--soft) }
.message { font-size: 18px; margin-top: 32px }
.bad { color: var(--bad) }
form { margin: 12px 0 0 }
fieldset { border: 1px solid var(--rule); border-radius: 8px; padding: 8px 14px 12px; margin: 0; min-width: 0 }
fieldset label { display: inline-block; margin: 4px 8px 4px 0 }
legend { font-weight: 600; padding: 0 4px }
form.inline { display: inline; margin: 0 }
.fields { display: grid; gap: 12px; max-width: 420px }
.fields label { display: grid; gap: 4px }
.fields, .fields label { grid-template-columns: minmax(0, 1fr) }
.fields button, .question button { justify-self: start; background: var(--first); border-color: var(--first); color: var(--paper); padding: 6px 16px }
.question { padding: 12px 16px; border: 1px solid var(--rule); border-radius: 8px; margin-top: 16px }
.question p { margin: 0 0 8px }
.notice { padding: 8px 14px; border-left: 4px solid var(--second); background: var(--raised); color: var(--ink); border-radius: 4px }
.actions a { margin-right: 12px }
td { unicode-bidi: isolate; white-space: nowrap }
.words { white-space: normal; overflow-wrap: anywhere; min-width: 160px }
input, select, button { font: inherit; padding: 4px 10px; border: 1px solid var(--rule); border-radius: 6px; background: var(--raised); color: var(--ink) }
select, input { max-width: 100% }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0 0; padding: 0 }
.tiles div { background: var(--raised); border-radius: 8px; padding: 12px 16px }
.tiles dt { color: var(--soft); font-size: 13px }
.tiles dd { margin: 0; font-size: 19px; font-variant-numeric: tabular-nums }
.plot { width: 100%; height: auto; display: block }
.grid { stroke: var(--rule) }
.axis { fill: var(--soft); font-size: 12px; text-anchor: middle }
.axis.value, .axis.end { text-anchor: end }
.axis.start { text-anchor: start }
.bar0, .line0 { fill: var(--first); background: var(--first) }
.bar1 { fill: var(--second); background: var(--second) }
.line { fill: none; stroke: var(--first); stroke-width: 2 }
.dot { fill: var(--first) }
.series { fill: none; stroke: var(--line); stroke-width: 2 }
.series0 { --line: var(--first) }
.series1 { --line: var(--second) }
.series2 { --line: var(--third) }
.series3 { --line: var(--fourth) }
.key[class*="series"] { background: var(--line) }
.point { fill: var(--line); stroke: var(--line) }
.point.faint { fill: var(--paper) }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 6px 0 0 }
.key ~ .key, .note { margin-left: 16px }
.note { color: var(--soft); font-weight: 400 }
.fold, .unfold { display: none }
/* On a phone each row of a table is a card, and the menu is folded. */
@media (max-width: 700px) {
  header, main, footer { padding-left: 16px; padding-right: 16px }
  caption, figcaption { max-width: calc(100vw - 32px) }
  thead { position: absolute; left: -9999px }
  table, tbody, caption { display: block }
  tr { display: block; padding: 8px 12px; margin: 0 0 10px; border: 1px solid var(--rule); border-radius: 8px }
  td, td.figure, td.words { display: flex; justify-content: space-between; gap: 16px; padding: 3px 0; border: 0; min-width: 0; white-space: normal; text-align: right; overflow-wrap: anywhere }
  td::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; max-width: 55% }
  td:empty, td.empty::before { display: none }
  td:first-child { font-weight: 600 }
  td a { padding: 2px 0 }
  .fold { display: block; position: absolute; opacity: 0 }
  .unfold { display: inline-block; padding: 4px 12px; border: 1px solid var(--rule); border-radius: 6px; color: var(--ink) }
  .fold:focus-visible + .unfold { outline: 3px solid var(--first); outline-offset: 2px }
  .fold:not(:checked) ~ nav { display: none }
  header .search { flex-basis: 60% }
  header .search label span { display: none }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)) }
  .tiles dd { font-size: 17px; overflow-wrap: anywhere }
  .axis { font-size: 24px }
  .axis.minor { display: none }
}
`

/** The sign of the pages in the tab of a browser. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f6feb"/><path d="M7 24V8l9 9 9-9v16" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round" stroke-linecap="round"/></svg>`

function document(frame: Frame, title: string, { header, body, footer }: Parts): string {
  const { say, language, here } = frame
  const other = language === 'en' ? 'sw' : 'en'
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Mkopo</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
</head>
<body>
<a class="skip" href="#page">${say('skip')}</a>
<header><a class="home" href="/">Mkopo</a>${header}</header>
<main id="page" tabindex="-1">${body}</main>
<footer>${footer} <a href="${linkOf('/language', { to: other, next: here })}" lang="${other}">${say('language')}</a></footer>
</body>
</html>
`.text
}

const searchForm = ({ say }: Desk, search: string): Html =>
  html`<form class="search" action="/search" role="search"><label><span>${say('search')}</span> <input name="q" type="search" accesskey="s" maxlength="100" value="${search}" placeholder="${say('searchHint')}" required></label> <button>${say('search')}</button></form>`

function menu({ say, may, here }: Desk): Html {
  const [path] = here.split('?')
  const items = MENU.filter(([to]) => may(pageNeeds(to)))
  const link = (to: string, word: PageWord) =>
    html`<li><a href="${to}"${to === path && html` aria-current="page"`}>${say(word)}</a></li>`
  return html`<input class="fold" type="checkbox" id="menu"><label class="unfold" for="menu">${say('foldedMenu')}</label><nav aria-label="${say('menu')}"><ul>${items.map(([to, word]) => link(to, word))}</ul></nav>`
}

/** Builds a form that is one button, for something that changes. */
export const button = (desk: Desk, action: string, word: PageWord): Html =>
  html`<form class="inline" method="post" action="${action}">${tokenField(desk)}<button>${desk.say(word)}</button></form>`

/** Builds the field that shows that a form is of the session. */
export const tokenField = (desk: Desk): Html => html`<input type="hidden" name="_token" value="${desk.formToken()}">`

/** Returns a path with a query, or with more of the one that it has; a parameter without a value is left out. */
export function linkOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as [string, string]],
  )
  return given.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(given)}`
}

/** Builds a tile: a name and a figure. */
export const tile = (name: string, value: Part): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

/** Builds a row of tiles. */
export const tiles = (all: readonly Html[]): Html => html`<dl class="tiles">${all}</dl>`

/** A column: its head, and whether it holds figures, or words that may take several lines. */
export type Column = readonly [head: string, kind?: 'figure' | 'words']

/** Returns columns of figures. */
export const figures = (...heads: readonly string[]): Column[] => heads.map((head) => [head, 'figure'])

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
  return html`<section tabindex="0" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr>${columns.map(([head], index) => html`<th scope="col"${kind(index)}>${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td${kind(index)} data-label="${columns[index]?.[0] ?? ''}">${cell}</td>`)}</tr>\n`)}${
    rows.length === 0 && html`<tr><td colspan="${columns.length}" class="empty">${empty}</td></tr>`
  }</tbody></table></section>`
}

/** Writes an amount for people: thousands apart, with the decimals of its currency. */
export function money(minor: bigint, currency: Currency | string): string {
  const [whole = '', fraction] = minorToText(
    minor,
    typeof currency === 'string' ? currencyOf(currency) : currency,
  ).split('.')
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? apart : `${apart}.${fraction}`
}

/** Writes a share of a whole in percent, to one decimal; a dash when the whole is 0. */
export const percent = (part: bigint, whole: bigint): string =>
  whole === 0n ? '–' : `${(Number((part * 10_000n) / whole) / 100).toFixed(1)} %`

/** Writes a share of a whole in percent, to two decimals as the answers over HTTP have it. */
export const share = (part: bigint, whole: bigint): string =>
  whole === 0n ? '–' : `${shareOf(part, whole).toFixed(2)} %`

/** Writes a large number in few characters, for an axis: 1.2M. */
export function short(value: number): string {
  const [size, letter] = [
    [1e9, 'B'],
    [1e6, 'M'],
    [1e3, 'k'],
  ].find(([from]) => value >= Number(from)) ?? [1, '']
  return `${Number((value / Number(size)).toPrecision(3))}${letter}`
}

/** Writes the time since an instant, in the largest unit that fits. */
export function ago(then: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - then) / 1000))
  if (seconds < 90) return `${seconds} s ago`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3_600)} h ago`
}

/** The names of what was done, as they stand in an address. */
export type Done = keyof typeof doneWords

const isDone = (text: string): text is Done => Object.hasOwn(doneWords, text)

/** Builds the notice of what was done on the page before; nothing where nothing was. */
export function done({ say }: Desk, query: Fields): Html | false {
  const name = textOf(query, 'done')
  return name !== undefined && isDone(name) && html`<p class="notice" role="status">${say(name)}</p>`
}
