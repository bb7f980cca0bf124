import { type Command, Option } from 'commander'
import { type AccessEntry, readAccess } from '../../services/access/accessTrail.ts'
import { followTrail, readTrail, type TrailFilter, type TrailRow } from '../../services/audit/audit.ts'
import { momentBefore, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { type Printer, toSecond, visible, visibleJson } from '../terminal/format.ts'
import type { Io } from '../terminal/terminalIo.ts'

interface AuditOptions extends Omit<TrailFilter, 'organizationId' | 'accountId' | 'requestId' | 'above'> {
  readonly organization?: number
  readonly account?: number
  readonly request?: string
  readonly rows: number
  readonly follow?: boolean
}

/** The kinds of things that the trail has changes of. */
const ENTITIES = [
  'customer',
  'loan',
  'loan product',
  'account',
  'api key',
  'role',
  'office sign-in',
  'signing key',
  'organization',
  'webhook endpoint',
  'accounting chart',
  'accounting period',
  'accounting provisions',
  'delinquency',
  'delinquency policy',
  'pending action',
  'data request',
  'payment',
  'payment channel',
  'payment reversal',
  'reconciliation',
  'listing notice',
  'dispute',
  'export format',
  'export file',
  'consent',
  'guarantor',
  'collateral',
  'contact',
  'promise',
  'loan hold',
  'loan assignment',
  'reminder',
  'reporting role',
]

export function auditCommand(program: Command, shell: Shell): void {
  const moment = momentBefore(Date.now)
  program
    .command('audit')
    .description('read and follow the audit trail: who changed what, in every organization or in one')
    .option('-o, --organization <id>', 'only of this one; 0 is the service itself', (text) =>
      text === '0' ? 0 : wholeNumber(text),
    )
    .addOption(new Option('--entity <kind>', 'only changes of these').choices(ENTITIES))
    .option('--entity-id <id>', 'the number of one of them')
    .option('--account <id>', 'only what this account, or API key, changed', wholeNumber)
    .option('--action <action>', 'create, Repayment, reverse, …')
    .option('--request <id>', 'one request, or one run of this command line')
    .option('--since <time>', '2026-11-20T14:30:00+03:00, or an age: 15m, 36h, 7d', moment)
    .option('--until <time>', 'the same', moment)
    .option('-n, --rows <number>', 'the latest so many', wholeNumber, 50)
    .option('-f, --follow', 'go on with each change as it is made, until Ctrl-C; with --json, a line each')
    .action((options: AuditOptions, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, organization }) => {
        // The service itself is no organization, and needs no look-up.
        if (options.organization) await organization(options.organization)
        const { organization: organizationId, account: accountId, request: requestId, rows, follow, ...rest } = options
        const filter = { ...rest, organizationId, accountId, requestId }
        const { zone } = deps.config
        if (follow) {
          for await (const row of followTrail(deps, filter, { most: rows, stopping: io.stopping }))
            printRow(io, printer, row, zone)
          return
        }
        printer.list(
          await readTrail(deps, filter, rows),
          [
            ['at', (row) => toSecond(row.at, zone)],
            ['org', (row) => row.organizationId, 'right'],
            ['who', who],
            ['action', (row) => row.action],
            ['of', (row) => `${row.entity} ${row.entityId}`],
            ['became', became],
          ],
          (row) => view(row, zone),
        )
      }),
    )
}

const view = (row: TrailRow, zone: string) => ({ ...row, id: String(row.id), at: toSecond(row.at, zone) })

function printRow(io: Io, printer: Printer, row: TrailRow, zone: string): void {
  const { organizationId, action, entity, entityId } = row
  io.out(
    printer.json
      ? `${visibleJson(JSON.stringify(view(row, zone)))}\n`
      : `${visible(`${toSecond(row.at, zone)}  ${organizationId}  ${who(row)}  ${action}  ${entity} ${entityId}  ${became(row)}`)}\n`,
  )
}

/** Returns the author of a change: an account, a run of the command line, or the service. */
const who = ({ accountId, requestId }: TrailRow): string =>
  accountId === null ? (requestId ?? 'the service') : `account ${accountId}`

const LONGEST = 120

function became({ after }: TrailRow): string {
  const text = after === null ? '' : JSON.stringify(after)
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

interface AccessOptions {
  readonly organization?: number
  readonly account?: number
  readonly outcome?: string
  readonly since?: number
  readonly rows: number
}

export function accessCommand(program: Command, shell: Shell): void {
  program
    .command('access')
    .description('read the access trail: who signed in and who was refused, of every organization unless one is named')
    .option('-o, --organization <id>', 'only of this one; 0 has callers that were not identified', (text) =>
      text === '0' ? 0 : wholeNumber(text),
    )
    .option('--account <id>', 'only of this account, or API key', wholeNumber)
    .option('--outcome <outcome>', 'signed in, unauthenticated, permission_denied, resource_exhausted')
    .option('--since <time>', '2026-11-20T14:30:00+03:00, or an age: 15m, 36h, 7d', momentBefore(Date.now))
    .option('-n, --rows <number>', 'the latest so many', wholeNumber, 50)
    .action((options: AccessOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, organization }) => {
        const { organization: organizationId, account: accountId, outcome, since, rows } = options
        if (organizationId) await organization(organizationId)
        const { zone } = deps.config
        printer.list<AccessEntry>(
          await readAccess(deps, { organizationId, accountId, outcome, since }, rows),
          [
            ['at', (one) => toSecond(one.at, zone)],
            ['org', (one) => one.organizationId, 'right'],
            ['account', (one) => one.accountId, 'right'],
            ['outcome', (one) => one.outcome],
            ['route', (one) => one.route],
            ['address', (one) => one.address],
            ['request', (one) => one.requestId],
          ],
          (one) => ({ ...one, at: toSecond(one.at, zone) }),
        )
      }),
    )
}
