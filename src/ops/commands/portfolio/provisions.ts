import type { Command } from 'commander'
import { currencyOf, minorToText, rateToNumber } from '../../../domain/money.ts'
import type { Sums } from '../../../domain/portfolio/cells.ts'
import { provisionsCsv } from '../../../services/portfolio/csv.ts'
import { getProvisions, type ProvisionGroup } from '../../../services/portfolio/provisions.ts'
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
  readonly asOf?: string
  readonly policy?: string
}

/** Adds `portfolio provisions`. */
export function provisionsCommand(portfolio: Command, shell: Shell): void {
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

/** A row of the table: a bucket, or all buckets of a product. */
interface Row {
  readonly group: ProvisionGroup
  readonly bucket: string
  readonly rate: bigint | null
  readonly sums: Sums
  readonly isTotal: boolean
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
