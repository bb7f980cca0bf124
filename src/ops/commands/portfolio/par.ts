import { type Command, InvalidArgumentError, Option } from 'commander'
import { dateIn, dayAfter, fromRfc3339, type Instant, isCalendarDate, startOfDay } from '../../../domain/dates.ts'
import { PRESETS } from '../../../domain/delinquency/policy.ts'
import { currencyOf, minorToText } from '../../../domain/money.ts'
import {
  AT_RISK_DAYS,
  DIVISIONS,
  type Division,
  type Group,
  type Sums,
  shareOf,
} from '../../../domain/portfolio/cells.ts'
import type { NamedPolicy } from '../../../services/delinquency/policies.ts'
import { type LateLoan, listArrears, MOST_ARREARS } from '../../../services/portfolio/arrears.ts'
import { arrearsCsv, portfolioCsv } from '../../../services/portfolio/csv.ts'
import { getPortfolioAtRisk } from '../../../services/portfolio/portfolio.ts'
import { calendarDate, organizationOption } from '../../options.ts'
import { perform, type Shell, type Task } from '../../perform.ts'
import { type Column, toSecond, visibleCsv } from '../../terminal/format.ts'
import { UsageError } from '../../terminal/terminalIo.ts'

/** The options of each command of the portfolio. */
export interface PortfolioOptions {
  readonly organization?: number
  readonly csv?: boolean
}

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

function toView({ currency: code, productId, month, isRestructured: restructured, officerId, total, buckets }: Group) {
  const text = (amount: bigint) => minorToText(amount, currencyOf(code))
  return {
    currencyCode: code,
    productId,
    month,
    restructured,
    officerId,
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
  ...(by.includes('restructured')
    ? [['restructured', ({ group }) => (group.isRestructured ? 'yes' : 'no')] as Column<Row>]
    : []),
  ...(by.includes('officer') ? [['officer', ({ group }) => group.officerId, 'right'] as Column<Row>] : []),
  ['bucket', ({ bucket }) => bucket],
  ['loans', ({ sums }) => sums.loans, 'right'],
  ['principal', ({ sums, group }) => minorToText(sums.principal, currencyOf(group.currency)), 'right'],
  ['share', ({ sums, group }) => percent(sums.principal, group.total.principal), 'right'],
  ...AT_RISK_DAYS.map((days, place): Column<Row> => {
    const cell = ({ isTotal, sums }: Row) => (isTotal ? percent(sums.atRisk[place]!, sums.principal) : '')
    return [`par ${days}`, cell, 'right']
  }),
]

/** Adds the options of each command of the portfolio. */
export const addOptions = (command: Command): Command =>
  command.addOption(organizationOption()).option('--csv', 'write a CSV file for spreadsheets to stdout')

/** Makes the option that names a policy. */
export const policyOption = () =>
  new Option(
    '--policy <policy>',
    `a published policy (${PRESETS.map(({ name }) => name).join(', ')}), or the number of a version; the policy in force when left out`,
  )

/** Reads a day or an instant, as `instantOf` takes it. */
function dayOrInstant(text: string): string {
  if (!isCalendarDate(text) && fromRfc3339(text) === undefined)
    throw new InvalidArgumentError('It must be a date, or a time such as 2026-11-20T14:30:00+03:00.')
  return text
}

/** Returns the instant of a text of `dayOrInstant`; of a day the last one, of today the present one of an organization. */
function instantOf(text: string, { config: { zone }, now }: Task['deps'], organizationId: number): Instant {
  const instant = fromRfc3339(text)
  if (instant !== undefined) return instant
  const at = now(organizationId)
  return text === dateIn(zone, at) ? at : startOfDay(dayAfter(text), zone) - 1
}

/** Writes a CSV file to stdout; a terminal that acts on control characters gets none. */
export const writeCsv = ({ io }: Pick<Task, 'io'>, text: string): void => io.out(visibleCsv(text))

/** Refuses two formats at once. */
export function requireOneFormat(
  { printer: { json } }: Pick<Task, 'printer'>,
  { csv = false }: PortfolioOptions,
): void {
  if (json && csv) throw new UsageError('say --json or --csv, not both')
}

/** Returns the members of an answer that name its policy. */
export const policyView = ({ version, name, source }: NamedPolicy) => ({ policyVersion: version, policy: name, source })

/** Names a policy for people. */
export const policyText = ({ version, name }: NamedPolicy): string =>
  version === null ? `by the policy ${name}` : `by version ${version} of the policy${name === null ? '' : `, ${name}`}`

const ROWS = 100

interface ArrearsOptions extends PortfolioOptions {
  readonly bucket?: string
  readonly rows: number
  readonly after?: string
}

const COLUMNS: readonly Column<LateLoan>[] = [
  ['loan', ({ id }) => String(id), 'right'],
  ['external id', ({ externalId }) => externalId],
  ['customer', ({ customerName }) => customerName],
  ['phone', ({ phone }) => phone],
  ['product', ({ productName }) => productName],
  ['days', ({ daysPastDue }) => daysPastDue, 'right'],
  ['bucket', ({ bucket }) => bucket.name],
  ['currency', ({ currency }) => currency.code],
  ['overdue', ({ overdue, currency }) => minorToText(overdue, currency), 'right'],
  ['principal', ({ principal, currency }) => minorToText(principal, currency), 'right'],
  ['last payment', ({ lastPaidOn }) => lastPaidOn],
]

/** Adds `portfolio arrears`. */
export function arrearsCommand(portfolio: Command, shell: Shell): void {
  addOptions(portfolio.command('arrears'))
    .description('list the overdue loans, those with the oldest unpaid instalment first')
    .option('--bucket <name>', 'only loans in this bucket of the policy in force')
    .option('--rows <number>', `the most loans, up to ${MOST_ARREARS}`, rowCount, ROWS)
    .option('--after <place>', 'go on where the answer before ended')
    .action((options: ArrearsOptions, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const { deps, printer, io, by, organization } = task
        const { bucket, rows, after } = options
        const caller = by((await organization(options.organization)).id)
        const { asOf, policy, loans, next } = await listArrears(deps, caller, { bucket, rows, after })
        if (printer.json)
          return printer.done({ asOf, ...policyView(policy), loans: loans.map(arrearsView), next: next ?? null }, '')
        if (options.csv) writeCsv(task, arrearsCsv(loans))
        else {
          printer.note(`as of ${asOf}, ${policyText(policy)}`)
          printer.list(loans, COLUMNS)
        }
        if (next !== undefined) io.err(`The list goes on with --after ${next}\n`)
      }),
    )
}

function rowCount(text: string): number {
  const rows = Number(text)
  if (!/^\d{1,4}$/.test(text) || rows < 1 || rows > MOST_ARREARS)
    throw new InvalidArgumentError(`It must be a whole number, 1 to ${MOST_ARREARS}.`)
  return rows
}

const arrearsView = ({ currency, bucket, overdue, principal, ...loan }: LateLoan) => ({
  ...loan,
  bucket: bucket.name,
  currencyCode: currency.code,
  overdue: minorToText(overdue, currency),
  principalOutstanding: minorToText(principal, currency),
})
