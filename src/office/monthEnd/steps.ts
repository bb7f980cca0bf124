import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { html } from '../../api/http/html.ts'
import { lastDayOf } from '../../domain/accounting/months.ts'
import { checkClose, closePeriod } from '../../services/accounting/closePeriod.ts'
import { getClosingText } from '../../services/accounting/trialBalance.ts'
import { areLeft, begunMonth, readProvisions } from '../../services/monthEnd/monthEnd.ts'
import { bookPortfolioProvisions, getProvisions, type Provisions } from '../../services/portfolio/provisions.ts'
import type { Desk } from '../desk.ts'
import { figures, linkOf, money, table, tile, tiles } from '../layout/page.ts'
import type { Step } from '../routes/flow.ts'

type Request = Pick<FastifyRequest<{ Params: Readonly<Record<'id', string>> }>, 'desk' | 'params'>

/**
 * Returns the steps of closing a month. What is shown is what is closed: where the books of the month have changed
 * since, the question is asked again.
 * @throws LendingError `invalid_argument`
 */
export async function closeMonthStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const { month, firstDay } = begunMonth(deps, caller, params.id)
  const lastDay = lastDayOf(firstDay)
  return {
    title: say('closeMonth', { month }),
    means: say('meansCloseMonth'),
    fields: [],
    values: {},
    back: linkOf('/month-end', { period: month }),
    asksFirst: true,
    async show() {
      await checkClose(deps, caller, month)
      const text = await getClosingText(deps, caller, lastDay)
      const hash = createHash('sha256').update(text).digest('hex')
      const isLeft = areLeft(await readProvisions(deps, caller, lastDay))
      const view = html`${tiles([tile(say('month'), month)])}
<p>${say('hash')}: ${hash}</p>
${isLeft && html`<p class="notice">${say('provisionsLeft', { day: lastDay })}</p>`}`
      return { view, mark: text }
    },
    async run(by) {
      await closePeriod(deps, by, month)
      return 'doneCloseMonth'
    },
  }
}

/**
 * Returns the steps of booking the provisions of the last day of a month, of the current month today.
 * @throws LendingError `invalid_argument`
 */
export async function bookProvisionsStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const { month, end } = begunMonth(deps, caller, params.id)
  return {
    title: say('bookProvisions', { day: end }),
    means: say('meansBookProvisions'),
    fields: [],
    values: {},
    back: linkOf('/month-end', { period: month }),
    asksFirst: true,
    async show() {
      const { groups } = await getProvisions(deps, caller, { asOf: end })
      const mark = groups.map(({ currency, productId, total, booked }) =>
        [currency, productId, total.provision, booked].join(' '),
      )
      return {
        view: provisionsTable(desk, groups),
        mark: `${end}\n${mark.join('\n')}`,
      }
    },
    async run(by) {
      await bookPortfolioProvisions(deps, by, { asOf: end })
      return 'doneBookProvisions'
    },
  }
}

const provisionsTable = ({ say }: Desk, groups: Provisions['groups']) =>
  html`${table(
    say('provisionDifference'),
    [
      [say('product')],
      [say('currency')],
      ...figures(say('provisionComputed'), say('provisionBooked'), say('provisionDifference')),
    ],
    groups.map(({ currency, productId, total, booked }) => [
      productId ?? '',
      currency,
      money(total.provision, currency),
      money(booked, currency),
      money(total.provision - booked, currency),
    ]),
    say('noneOpen'),
  )}`
