import type { Command } from 'commander'
import { type Currency, currencyOf, minorToText, rateToNumber } from '../../../domain/money.ts'
import type { Sums } from '../../../domain/portfolio/cells.ts'
import { shareOf } from '../../../domain/portfolio/cells.ts'
import type { Moved, RollRates, RollRow } from '../../../domain/portfolio/rolls.ts'
import { provisionsCsv, rollsCsv } from '../../../services/portfolio/csv.ts'
import { readRollRates } from '../../../services/portfolio/portfolio.ts'
import { getProvisions, type ProvisionGroup } from '../../../services/portfolio/provisions.ts'
import { calendarDate } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import type { Column } from '../../terminal/format.ts'
import {
  addOptions,
  arrearsCommand,
  type PortfolioOptions,
  policyOption,
  policyText,
  policyView,
  portfolioAtRiskCommand,
  requireOneFormat,
  writeCsv,
} from './par.ts'

/** Adds the commands of the portfolio: what is at risk, how loans move between the buckets, and which are overdue. */
export function portfolioCommands(program: Command, shell: Shell): void {
  const portfolio = program.command('portfolio').description('all open loans together: what is overdue and at risk')
  portfolioAtRiskCommand(portfolio, shell)
  rollRatesCommand(portfolio, shell)
  provisionsCommand(portfolio, shell)
  arrearsCommand(portfolio, shell)
}

interface Options extends PortfolioOptions {
  readonly asOf?: string
  readonly policy?: string
}

interface RollOptions extends PortfolioOptions {
  readonly from: string
  readonly to?: string
  readonly policy?: string
}

interface RollLine {
  readonly currency: Currency
  readonly name: string
  readonly row: RollRow
}

/** Writes a share of the principal of a row; nothing where no loan moved there. */
const rate = ({ loans, principal }: Moved, row: RollRow): string =>
  loans === 0 ? '' : `${shareOf(principal, row.principal).toFixed(2)}%`

/** A row of the table: a bucket, or all buckets of a product. */
interface Row {
  readonly group: ProvisionGroup
  readonly bucket: string
  readonly rate: bigint | null
  readonly sums: Sums
  readonly isTotal: boolean
}

const amount = ({ group }: Row, minor: bigint): string => minorToText(minor, currencyOf(group.currency))

const COLUMNS: readonly Column<Row>[] = [
  ['currency', ({ group }) => group.currency],
  ['product', ({ group }) => group.productId, 'right'],
  ['bucket', ({ bucket }) => bucket],
  ['rate', ({ rate }) => (rate === null ? '' : `${rateToNumber(rate)}%`), 'right'],
  ['loans', ({ sums }) => sums.loans, 'right'],
  ['principal', (row) => amount(row, row.sums.principal), 'right'],
  ['provision', (row) => amount(row, row.sums.provision), 'right'],
  ['booked', (row) => (row.isTotal ? amount(row, row.group.booked) : ''), 'right'],
  ['difference', (row) => (row.isTotal ? amount(row, row.sums.provision - row.group.booked) : ''), 'right'],
]

/** Adds `portfolio provisions`. */
function provisionsCommand(portfolio: Command, shell: Shell): void {
  addOptions(portfolio.command('provisions'))
    .description('print the provisions of a day by product and bucket, and what of them is booked')
    .option('--as-of <date>', 'the day; today when left out', calendarDate)
    .addOption(policyOption())
    .action((options: Options, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const { deps, printer, by, organization } = task
        const caller = by((await organization(options.organization)).id)
        const found = await getProvisions(deps, caller, { asOf: options.asOf, policy: options.policy })
        const { asOf, policy, groups } = found
        if (options.csv) return writeCsv(task, provisionsCsv(found))
        if (printer.json) return printer.done({ asOf, ...policyView(policy), groups: groups.map(toView) }, '')
        printer.note(`as of ${asOf}, ${policyText(policy)}`)
        return printer.list(groups.flatMap(rowsOf), COLUMNS)
      }),
    )
}

function toView({ currency: code, productId, total, booked, buckets }: ProvisionGroup) {
  const text = (amount: bigint) => minorToText(amount, currencyOf(code))
  const sumsView = ({ loans, principal, provision }: Sums) => ({
    loans,
    principalOutstanding: text(principal),
    provision: text(provision),
  })
  return {
    currencyCode: code,
    productId,
    ...sumsView(total),
    booked: text(booked),
    difference: text(total.provision - booked),
    buckets: buckets.map(({ bucket: { name, provisionRate }, ...sums }) => ({
      bucket: name,
      provisionRate: provisionRate === null ? null : rateToNumber(provisionRate),
      ...sumsView(sums),
    })),
  }
}

const rowsOf = (group: ProvisionGroup): Row[] => [
  ...group.buckets.map(({ bucket: { name, provisionRate: rate }, ...sums }) => ({
    group,
    bucket: name,
    rate,
    sums,
    isTotal: false,
  })),
  { group, bucket: 'all', rate: null, sums: group.total, isTotal: true },
]

/** Adds `portfolio roll-rates`. */
function rollRatesCommand(portfolio: Command, shell: Shell): void {
  addOptions(portfolio.command('roll-rates'))
    .description('print where the loans of each bucket are on a later day')
    .requiredOption('--from <date>', 'the first day, at its end', calendarDate)
    .option('--to <date>', 'the last day; today when left out', calendarDate)
    .addOption(policyOption())
    .action((options: RollOptions, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const { deps, printer, by, organization } = task
        const { from, to, policy } = options
        const caller = by((await organization(options.organization)).id)
        const found = await readRollRates(deps, caller, { from, to, policy })
        if (options.csv) return writeCsv(task, rollsCsv(found))
        const days = { from: found.from, to: found.to }
        const currencies = found.rates.map(rollView)
        if (printer.json) return printer.done({ ...days, ...policyView(found.policy), currencies }, '')
        printer.note(
          `from ${days.from} to ${days.to}, ${policyText(found.policy)}; percent of the principal of the row`,
        )
        const names = found.policy.policy.buckets.map(({ name }) => name)
        return printer.list(found.rates.flatMap(rollRowsOf), columnsOf(names))
      }),
    )
}

function rollView({ currency: code, from, lent, reopened }: RollRates) {
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

function rollRowsOf({ currency: code, from, lent, reopened }: RollRates): RollLine[] {
  const currency = currencyOf(code)
  return [
    ...from.map(({ bucket, ...row }) => ({ currency, name: bucket.name, row })),
    { currency, name: '(lent)', row: lent },
    { currency, name: '(reopened)', row: reopened },
  ]
}

const columnsOf = (buckets: readonly string[]): Column<RollLine>[] => [
  ['currency', ({ currency }) => currency.code],
  ['from', ({ name }) => name],
  ['loans', ({ row }) => row.loans, 'right'],
  ['principal', ({ row, currency }) => minorToText(row.principal, currency), 'right'],
  ...buckets.map((name, index): Column<RollLine> => [`to ${name}`, ({ row }) => rate(row.to[index]!, row), 'right']),
  ['closed', ({ row }) => rate(row.closed, row), 'right'],
  ['written off', ({ row }) => rate(row.writtenOff, row), 'right'],
]
