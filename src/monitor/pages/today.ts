import { type Html, html } from '../../api/http/html.ts'
import { readId } from '../../api/wire.ts'
import { currencyOf } from '../../domain/money.ts'
import { getToday, type Today } from '../../services/office/today.ts'
import type { Desk, PageWord } from '../desk.ts'
import { money } from '../layout/figures.ts'
import { linkOf, page, table, tile, tiles } from '../layout/page.ts'
import { type Fields, textOf } from '../query.ts'
import { movedByDay, type Seen } from './book.ts'

/** Builds the page of the day: what was disbursed and collected, and which loans have an instalment that is due. */
export async function todayPage(desk: Desk, query: Fields, { totals }: Pick<Seen, 'totals'>): Promise<string> {
  const { deps, caller, say } = desk
  const given = textOf(query, 'after') ?? ''
  const found = await getToday(deps, caller, readId(given) ?? 0n)
  const book = totals.latest().find(({ organizationId }) => organizationId === caller.organizationId)
  const body = html`<h1>${say('today')}, ${found.today}</h1>
${moved(desk, found)}
${dueLoans(desk, found)}
${book && movedByDay(desk, book)}
${found.next !== undefined && html`<p><a href="${linkOf('/', { after: String(found.next) })}">${say('moreLoans')}</a></p>`}`
  return page(desk, say('today'), body)
}

/** The parts of the day, with their words. */
const PARTS = [
  ['dueToday', 'due'],
  ['collectedToday', 'collected'],
  ['collectedEarlier', 'collectedEarlier'],
  ['disbursedToday', 'disbursed'],
] as const satisfies readonly (readonly [PageWord, keyof Today])[]

function moved({ say }: Desk, found: Today): Html {
  const parts = PARTS.map(([word, part]) => {
    const sums = found[part].map(({ currency, count, amount }) => {
      const { code } = currencyOf(currency)
      return html`<span>${say('counted', { count, amount: money(amount, currency), currency: code })}</span> `
    })
    return tile(say(word), sums.length === 0 ? '0' : sums)
  })
  return tiles(parts)
}

function dueLoans({ say }: Desk, { dueLoans: loans }: Today): Html {
  const rows = loans.map((loan) => [
    html`<a href="/loans/${loan.id}">${loan.id}</a>`,
    html`<a href="/customers/${loan.customerId}">${loan.customerName}</a>`,
    loan.phone ?? '',
    loan.currency.code,
    money(loan.dueToday, loan.currency),
    money(loan.due, loan.currency),
    money(loan.outstanding, loan.currency),
  ])
  return table(
    say('dueLoans'),
    [
      [say('loan')],
      [say('customer'), 'words'],
      [say('phone')],
      [say('currency')],
      [say('dueOfToday'), 'figure'],
      [say('dueNow'), 'figure'],
      [say('outstanding'), 'figure'],
    ],
    rows,
    say('nobodyDue'),
  )
}
