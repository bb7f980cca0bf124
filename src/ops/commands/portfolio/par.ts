import { type Command, InvalidArgumentError } from 'commander'
import { currencyOf, minorToText } from '../../../domain/money.ts'
import { AT_RISK_DAYS, type Sums } from '../../../domain/portfolio/cells.ts'
import { DIVISIONS, type Division, type Group } from '../../../domain/portfolio/groups.ts'
import { shareOf } from '../../../domain/portfolio/share.ts'
import { portfolioCsv } from '../../../services/portfolio/csv.ts'
import { getPortfolioAtRisk } from '../../../services/portfolio/portfolioAtRisk.ts'
import { calendarDate } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { type Column, toSecond } from '../../terminal/format.ts'
import {
  addOptions,
  dayOrInstant,
  instantOf,
  type PortfolioOptions,
  policyOption,
  policyText,
  policyView,
  requireOneFormat,
  writeCsv,
} from './asked.ts'

interface Options extends PortfolioOptions {
  readonly asOf?: string
  readonly knownAt?: string
  readonly by?: readonly Division[]
  readonly policy?: string
}

/** Adds `portfolio par`. */
export function portfolioAtRiskCommand(portfolio: Command, shell: Shell): void {
  addOptions(portfolio.command('par'))
    .description('print the open loans of a day by bucket, and the principal at risk')
    .option('--as-of <date>', 'the day; that of --known-at, or today, when left out', calendarDate)
    .option('--known-at <time>', 'answer by what was known then; a date stands for its last instant', dayOrInstant)
    .option('--by <words>', `divide by ${DIVISIONS.join(', ')}; the currency always divides`, divisions)
    .addOption(policyOption())
    .action((options: Options, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const { deps, printer, by: byOperator, organization } = task
        const { asOf, by, policy, knownAt: known } = options
        const { id } = await organization(options.organization)
        const knownAt = known === undefined ? undefined : instantOf(known, deps, id)
        const caller = byOperator(id)
        const found = await getPortfolioAtRisk(deps, caller, { asOf, knownAt, policy, by })
        if (options.csv) return writeCsv(task, portfolioCsv(found))
        const at = knownAt === undefined ? null : toSecond(knownAt, deps.config.zone)
        const { asOf: day, policy: named, groups } = found
        if (printer.json)
          return printer.done({ asOf: day, knownAt: at, ...policyView(named), groups: groups.map(toView) }, '')
        printer.note(`as of ${day}${at === null ? '' : `, as known at ${at}`}, ${policyText(named)}`)
        return printer.list(groups.flatMap(rowsOf), columnsOf(by ?? []))
      }),
    )
}

/** Reads `product,month`. */
function divisions(text: string): Division[] {
  return text.split(',').map((word) => {
    const known = DIVISIONS.find((one) => one === word)
    if (!known) throw new InvalidArgumentError(`It must be of ${DIVISIONS.join(', ')}, separated by commas.`)
    return known
  })
}

function toView({ currency: code, productId, month, total, buckets }: Group) {
  const text = (amount: bigint) => minorToText(amount, currencyOf(code))
  return {
    currencyCode: code,
    productId,
    month,
    loans: total.loans,
    principalOutstanding: text(total.principal),
    atRisk: AT_RISK_DAYS.map((days, place) => {
      const amount = total.atRisk[place]!
      return { days, principal: text(amount), percent: shareOf(amount, total.principal) }
    }),
    buckets: buckets.map(({ bucket, loans, principal }) => ({
      bucket: bucket.name,
      loans,
      principalOutstanding: text(principal),
    })),
  }
}

/** A row of the table: a bucket, or all buckets of a group. */
interface Row {
  readonly group: Group
  readonly bucket: string
  readonly sums: Sums
  readonly isTotal: boolean
}

const rowsOf = (group: Group): Row[] => [
  ...group.buckets.map(({ bucket, ...sums }) => ({ group, bucket: bucket.name, sums, isTotal: false })),
  { group, bucket: 'all', sums: group.total, isTotal: true },
]

const percent = (part: bigint, whole: bigint): string => `${shareOf(part, whole).toFixed(2)}%`

const columnsOf = (by: readonly Division[]): Column<Row>[] => [
  ['currency', ({ group }) => group.currency],
  ...(by.includes('product') ? [['product', ({ group }) => group.productId, 'right'] as Column<Row>] : []),
  ...(by.includes('month') ? [['month', ({ group }) => group.month] as Column<Row>] : []),
  ['bucket', ({ bucket }) => bucket],
  ['loans', ({ sums }) => sums.loans, 'right'],
  ['principal', ({ sums, group }) => minorToText(sums.principal, currencyOf(group.currency)), 'right'],
  ['share', ({ sums, group }) => percent(sums.principal, group.total.principal), 'right'],
  ...AT_RISK_DAYS.map((days, place): Column<Row> => {
    const cell = ({ isTotal, sums }: Row) => (isTotal ? percent(sums.atRisk[place]!, sums.principal) : '')
    return [`par ${days}`, cell, 'right']
  }),
]
