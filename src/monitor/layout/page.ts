import { type Html, html, type Part } from '../../api/http/html.ts'
import { type Currency, currencyOf, minorToText } from '../../domain/money.ts'
import { shareOf } from '../../domain/portfolio/cells.ts'
import { doneWords } from '../../words/actions.ts'
import type { Desk, Frame, PageWord } from '../desk.ts'
import { type Fields, textOf } from '../query.ts'

/** The pages of the menu: the address, the word, and who sees the page. */
const MENU: readonly (readonly [path: string, word: PageWord, who: 'all' | 'readers'])[] = [
  ['/', 'today', 'all'],
  ['/customers', 'customers', 'all'],
  ['/arrears', 'arrears', 'all'],
  ['/portfolio-at-risk', 'portfolioAtRisk', 'readers'],
  ['/pending', 'pending', 'readers'],
  ['/products', 'products', 'all'],
  ['/documents', 'verify', 'all'],
  ['/journal', 'journal', 'readers'],
  ['/trial-balance', 'trialBalance', 'readers'],
  ['/webhooks', 'webhooks', 'readers'],
  ['/audit', 'audit', 'readers'],
  ['/exports', 'exports', 'readers'],
  ['/book', 'book', 'readers'],
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
    footer: html`<span>${desk.say('signedInAs', { email: desk.caller.email })}</span> ${button(desk, '/sign-out', 'signOut')}`,
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
  html`<form class="search" action="/search" role="search"><label><span>${say('search')}</span> <input name="q" type="search" maxlength="100" value="${search}" placeholder="${say('searchHint')}" required></label> <button>${say('search')}</button></form>`

function menu({ say, isReader, here }: Desk): Html {
  const [path] = here.split('?')
  const items = MENU.filter(([, , who]) => who === 'all' || isReader)
  const link = (to: string, word: PageWord) =>
    html`<li><a href="${to}"${to === path && html` aria-current="page"`}>${say(word)}</a></li>`
  return html`<nav aria-label="${say('menu')}"><ul>${items.map(([to, word]) => link(to, word))}</ul></nav>`
}

/** Builds a form that is one button, for something that changes. */
export const button = (desk: Desk, action: string, word: PageWord): Html =>
  html`<form class="inline" method="post" action="${action}">${tokenField(desk)}<button>${desk.say(word)}</button></form>`

/** Builds the field that shows that a form is of the session. */
export const tokenField = (desk: Desk): Html => html`<input type="hidden" name="_token" value="${desk.formToken()}">`

/** Returns a path with a query; a parameter without a value is left out. */
export function linkOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as [string, string]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
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
<tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td${kind(index)}>${cell}</td>`)}</tr>\n`)}${
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
