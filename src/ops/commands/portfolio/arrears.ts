import { type Command, InvalidArgumentError } from 'commander'
import { minorToText } from '../../../domain/money.ts'
import { type LateLoan, listArrears, MOST_ARREARS } from '../../../services/portfolio/arrears.ts'
import { arrearsCsv } from '../../../services/portfolio/csv.ts'
import { perform, type Shell } from '../../perform.ts'
import type { Column } from '../../terminal/format.ts'
import { addOptions, type PortfolioOptions, policyText, policyView, requireOneFormat, writeCsv } from './asked.ts'

const ROWS = 100

interface Options extends PortfolioOptions {
  readonly bucket?: string
  readonly rows: number
  readonly after?: string
}

/** Adds `portfolio arrears`. */
export function arrearsCommand(portfolio: Command, shell: Shell): void {
  addOptions(portfolio.command('arrears'))
    .description('list the overdue loans, those with the oldest unpaid instalment first')
    .option('--bucket <name>', 'only loans in this bucket of the policy in force')
    .option('--rows <number>', `the most loans, up to ${MOST_ARREARS}`, rowCount, ROWS)
    .option('--after <place>', 'go on where the answer before ended')
    .action((options: Options, command: Command) =>
      perform(shell, command, async (task) => {
        requireOneFormat(task, options)
        const { deps, printer, io, by, organization } = task
        const { bucket, rows, after } = options
        const caller = by((await organization(options.organization)).id)
        const { asOf, policy, loans, next } = await listArrears(deps, caller, { bucket, rows, after })
        if (printer.json)
          return printer.done({ asOf, ...policyView(policy), loans: loans.map(toView), next: next ?? null }, '')
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

const toView = ({ currency, bucket, overdue, principal, ...loan }: LateLoan) => ({
  ...loan,
  bucket: bucket.name,
  currencyCode: currency.code,
  overdue: minorToText(overdue, currency),
  principalOutstanding: minorToText(principal, currency),
})

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
