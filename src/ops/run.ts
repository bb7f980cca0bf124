import { Command, CommanderError } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { explain } from '../app/explain.ts'
import { isWorthRepeating } from '../db/postgres/errors.ts'
import { type FaultNames, inNames, LendingError, ledByField } from '../domain/errors.ts'
import { MOST_FEES } from '../domain/product/newCharges.ts'
import { accountCommands, apiKeyCommands } from './commands/access/accounts.ts'
import { roleCommands } from './commands/access/roles.ts'
import { secretCommands } from './commands/access/secret.ts'
import { signInCommands } from './commands/access/signIn.ts'
import { signingKeyCommands } from './commands/access/signingKeys.ts'
import { approvalCommands } from './commands/approvals.ts'
import { accessCommand, auditCommand } from './commands/audit.ts'
import { bookCommands } from './commands/book/index.ts'
import { reportingCommands } from './commands/book/reporting.ts'
import { bookPlacesCommands } from './commands/books.ts'
import { creditDecisionCommands, creditPolicyCommands } from './commands/credit.ts'
import { delinquencyPolicyCommands } from './commands/delinquencyPolicies.ts'
import { exportCommands, exportFormatCommands } from './commands/exports.ts'
import { journalCommands } from './commands/journal.ts'
import { loanCommands } from './commands/loans.ts'
import { organizationCommands } from './commands/organizations.ts'
import { paymentCommands } from './commands/payments.ts'
import { dataRequestCommands } from './commands/people/dataRequests.ts'
import { portfolioCommands } from './commands/portfolio/index.ts'
import { FEE_FIELDS, PENALTY_FIELDS, TAX_FIELDS } from './commands/products/create.ts'
import { productCommands } from './commands/products/index.ts'
import { webhookCommands } from './commands/webhooks.ts'
import { mcpCommand } from './mcp/command.ts'
import { perform, type Shell } from './perform.ts'
import { visibleJson, visibleLines } from './terminal/format.ts'
import { type Io, UsageError } from './terminal/terminalIo.ts'

/** Exit codes of a run. */
const EXIT = { done: 0, refused: 1, usage: 2 } as const

const ABOUT = `Runs Mkopo from the command line, on the database that the service has by the same settings.

Exit codes: 0 done; 1 refused or failed; 2 the command was given wrongly.`

/**
 * Runs one command of the command line.
 * @returns its exit code
 */
export async function runOps(args: readonly string[], io: Io): Promise<number> {
  const shell: Shell = { io, exitCode: EXIT.done }
  try {
    await programOf(shell, args.includes('--json')).parseAsync(args, { from: 'user' })
    return shell.exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    io.err(
      args.includes('--json')
        ? `${visibleJson(JSON.stringify(inJson(error)))}\n`
        : `mkopo: ${visibleLines(inWords(error))}\n`,
    )
    return error instanceof UsageError ? EXIT.usage : EXIT.refused
  }
}

function programOf(shell: Shell, json: boolean): Command {
  const { io } = shell
  const program = new Command('mkopo')
    .description(ABOUT)
    .version(manifest.version)
    .option('--json', 'answer with JSON on stdout, and with errors as JSON on stderr')
    .option('-y, --yes', 'do not ask before what cannot be undone')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(json ? `${JSON.stringify({ code: 'usage', message: text.trim() })}\n` : text),
    })
    .showSuggestionAfterError()
    .exitOverride()
  for (const add of [
    organizationCommands,
    bookPlacesCommands,
    accountCommands,
    apiKeyCommands,
    roleCommands,
    signInCommands,
    signingKeyCommands,
    secretCommands,
    productCommands,
    creditPolicyCommands,
    creditDecisionCommands,
    delinquencyPolicyCommands,
    loanCommands,
    approvalCommands,
    dataRequestCommands,
    bookCommands,
    auditCommand,
    accessCommand,
    webhookCommands,
    paymentCommands,
    exportCommands,
    exportFormatCommands,
    journalCommands,
    portfolioCommands,
    reportingCommands,
    mcpCommand,
    migrateCommand,
  ])
    add(program, shell)
  return program
}

/** Names of roles on the command line: the options that give them a value. */
export const OPTION_NAMES: FaultNames = {
  valueDate: '--date',
  asOf: '--as-of',
  mode: '--corrections',
  knownAt: '--known-at',
  from: '--from',
  to: '--to',
  bucket: '--bucket',
  after: '--after',
  legalName: '--legal-name',
  licenceNumber: '--licence-number',
  logo: '--logo',
  approvalAbove: '--approval-above',
  principalMin: '--min',
  principalMax: '--max',
  numberOfRepayments: '--instalments',
  interestRate: '--rate',
  repayEvery: '--every',
  repayUnit: '--unit',
  totalMultipleOf: '--multiple-of',
  penaltyRate: '--penalty',
  interestMethod: '--method',
  ratePer: '--rate-per',
  dayCount: '--day-count',
  'grace.principalPeriods': '--grace-principal',
  'grace.interestPeriods': '--grace-interest',
  'grace.firstDueAfter.every': '--first-due-after',
  fees: '--fee',
  ...feeNames(),
  penalty: '--penalty-terms',
  ...Object.fromEntries(PENALTY_FIELDS.map((field) => [`penalty.${field}`, `${field} of --penalty-terms`])),
  earlySettlement: '--early-settlement',
  'afterDue.interest': '--days-after-due',
  'afterDue.maxDays': '--days-after-due',
  ...Object.fromEntries(TAX_FIELDS.map((field) => [`interestTax.${field}`, `${field} of --interest-tax`])),
  totalChargeCap: '--total-charge-cap',
  allocation: '--allocation',
  maxRatePerMonth: '--max-rate-per-month',
}

function inWords(error: unknown): string {
  if (!(error instanceof LendingError)) return explain(error)
  const { message, details } = inNames(error, OPTION_NAMES)
  return ledByField(message, details)
}

function inJson(error: unknown): object {
  if (error instanceof LendingError) {
    const { code } = error
    const { message, details } = inNames(error, OPTION_NAMES)
    return details.length > 0 ? { code, message, details } : { code, message }
  }
  const usage = error instanceof UsageError
  return { code: usage ? 'usage' : isWorthRepeating(error) ? 'unavailable' : 'failed', message: inWords(error) }
}

/** Returns the names of fees and of their members: fees are counted from 1, in the order in which they are given. */
function feeNames(): FaultNames {
  const fees = Array.from({ length: MOST_FEES }, (_, index) => [`fees[${index}]`, `--fee ${index + 1}`] as const)
  return Object.fromEntries(
    fees.flatMap(([role, name]) => [
      [role, name],
      ...FEE_FIELDS.map((field) => [`${role}.${field}`, `${field} of ${name}`]),
      [`${role}.tax.name`, `taxName of ${name}`],
      [`${role}.tax.percent`, `taxPercent of ${name}`],
    ]),
  )
}

export function migrateCommand(program: Command, shell: Shell): void {
  program
    .command('migrate')
    .description('bring the database to the schema of this program, as a start of the service does')
    .action((_options: object, command: Command) =>
      perform(shell, command, async ({ printer }) => printer.done({ migrated: true }, 'The database is up to date.'), {
        migrate: true,
        newDatabase: true,
      }),
    )
}
