import type { Command } from 'commander'
import { type AccessEntry, readAccess } from '../../services/access/accessTrail.ts'
import { momentBefore, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { toSecond } from '../terminal/format.ts'

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
