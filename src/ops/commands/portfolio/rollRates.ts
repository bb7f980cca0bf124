import type { Command } from 'commander'
import { type Currency, currencyOf, minorToText } from '../../../domain/money.ts'
import type { Moved, RollRates, RollRow } from '../../../domain/portfolio/rolls.ts'
import { shareOf } from '../../../domain/portfolio/share.ts'
import { rollsCsv } from '../../../services/portfolio/csv.ts'
import { readRollRates } from '../../../services/portfolio/portfolio.ts'
import { calendarDate } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import type { Column } from '../../terminal/format.ts'
import {
  addOptions,
  type PortfolioOptions,
  policyOption,
  policyText,
  policyView,
  requireOneFormat,
  writeCsv,
} from './asked.ts'

interface Options extends PortfolioOptions {
  readonly from: string
  readonly to?: string
  readonly policy?: string
}

/** Adds `portfolio roll-rates`. */
export function rollRatesCommand(portfolio: Command, shell: Shell): void {
  addOptions(portfolio.command('roll-rates'))
    .description('print where the loans of each bucket are on a later day')
    .requiredOption('--from <date>', 'the first day, at its end', calendarDate)
    .option('--to <date>', 'the last day; today when left out', calendarDate)
    .addOption(policyOption())
    .action((options: Options, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const { deps, printer, by, organization } = task
        const { from, to, policy } = options
        const caller = by((await organization(options.organization)).id)
        const found = await readRollRates(deps, caller, { from, to, policy })
        if (options.csv) return writeCsv(task, rollsCsv(found))
        const days = { from: found.from, to: found.to }
        const currencies = found.rates.map(toView)
        if (printer.json) return printer.done({ ...days, ...policyView(found.policy), currencies }, '')
        printer.note(
          `from ${days.from} to ${days.to}, ${policyText(found.policy)}; percent of the principal of the row`,
        )
        const names = found.policy.policy.buckets.map(({ name }) => name)
        return printer.list(found.rates.flatMap(rowsOf), columnsOf(names))
      }),
    )
}

function toView({ currency: code, from, lent, reopened }: RollRates) {
  const currency = currencyOf(code)
  return {
    currencyCode: code,
    rows: from.map(({ bucket, ...row }) => ({ bucket: bucket.name, ...rowView(row, currency) })),
    lent: rowView(lent, currency),
    reopened: rowView(reopened, currency),
  }
}

const movedView = ({ loans, principal }: Moved, currency: Currency) => ({
  loans,
  principal: minorToText(principal, currency),
})

const rowView = (row: RollRow, currency: Currency) => ({
  ...movedView(row, currency),
  to: row.to.map(({ bucket, ...moved }) => ({ bucket: bucket.name, ...movedView(moved, currency) })),
  closed: movedView(row.closed, currency),
  writtenOff: movedView(row.writtenOff, currency),
})

interface Row {
  readonly currency: Currency
  readonly name: string
  readonly row: RollRow
}

function rowsOf({ currency: code, from, lent, reopened }: RollRates): Row[] {
  const currency = currencyOf(code)
  return [
    ...from.map(({ bucket, ...row }) => ({ currency, name: bucket.name, row })),
    { currency, name: '(lent)', row: lent },
    { currency, name: '(reopened)', row: reopened },
  ]
}

/** Writes a share of the principal of a row; nothing where no loan moved there. */
const rate = ({ loans, principal }: Moved, row: RollRow): string =>
  loans === 0 ? '' : `${shareOf(principal, row.principal).toFixed(2)}%`

const columnsOf = (buckets: readonly string[]): Column<Row>[] => [
  ['currency', ({ currency }) => currency.code],
  ['from', ({ name }) => name],
  ['loans', ({ row }) => row.loans, 'right'],
  ['principal', ({ row, currency }) => minorToText(row.principal, currency), 'right'],
  ...buckets.map((name, index): Column<Row> => [`to ${name}`, ({ row }) => rate(row.to[index]!, row), 'right']),
  ['closed', ({ row }) => rate(row.closed, row), 'right'],
  ['written off', ({ row }) => rate(row.writtenOff, row), 'right'],
]
