import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import {
  type AccountRecord,
  createAccount,
  createApiKey,
  disableAccount,
  enableAccount,
  listAccounts,
  listApiKeys,
  resetPassword,
  resetSecondFactor,
  revokeApiKey,
  revokeTokens,
  setRoles,
  unlockAccount,
  unlockAddress,
} from '../../../services/access/accounts.ts'
import { nameGiven, organizationOption, role, takeName, wholeNumber } from '../../options.ts'
import { perform, performAdding, type Shell } from '../../perform.ts'
import { toSecond } from '../../terminal/format.ts'
import { type Io, UsageError } from '../../terminal/terminalIo.ts'

export const GENERATE = [
  '--generate',
  'make a password and show it, once; else it is asked for, or read from stdin',
] as const

/** The author belongs to no organization: the change is in the trail of the account's organization. */
const ANY = 0

export function accountCommands(program: Command, shell: Shell): void {
  const accounts = program.command('accounts').description('who may sign in')
  for (const add of [
    addCreate,
    addList,
    addDisableAndEnable,
    addResetPassword,
    addUnlock,
    addRevokeTokens,
    addRoles,
    addResetFactor,
  ])
    add(accounts, shell)
}

function addCreate(accounts: Command, shell: Shell): void {
  accounts
    .command('create')
    .description('make an account')
    .argument('<email>')
    .addOption(organizationOption())
    .option(
      '--role <role>',
      'USER (an integrator), ADMIN (an operator), AUDITOR (reads alone) or a role of the organization, with PROPOSER (an agent: whatever it asks for waits); may be given twice',
      role,
    )
    .option(...GENERATE)
    .action((email: string, options: CreateOptions, command: Command) =>
      performAdding(shell, command, async ({ io, deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { password, generated } = await passwordFrom(io, options)
        const roles = options.role ?? ['USER']
        const made = await createAccount(deps, by(id), { email, password, roles })
        const view = { id: made.id, organizationId: id, email: made.email, roles: made.roles }
        const shown = generated ? `\nIts password, shown only now: ${password}` : ''
        printer.done(
          generated ? { ...view, password } : view,
          `Account ${made.id}, ${made.email}, ${roles.join(' and ')} of organization ${id}.${shown}`,
        )
      }),
    )
}

function addList(accounts: Command, shell: Shell): void {
  accounts
    .command('list')
    .description('list the accounts')
    .addOption(organizationOption())
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer }) => {
        const at = (instant: number | null) => toSecond(instant, deps.config.zone)
        printer.list<AccountRecord>(
          await listAccounts(deps, options.organization),
          [
            ['organization', (one) => one.organizationId, 'right'],
            ['id', (one) => one.id, 'right'],
            ['email', (one) => one.email],
            ['roles', (one) => one.roles.join(' ')],
            ['disabled', (one) => at(one.disabledAt)],
            ['created', (one) => at(one.createdAt)],
          ],
          ({ disabledAt, createdAt, tokensFrom, known, ...one }) => ({
            ...one,
            ...known,
            disabledAt: at(disabledAt) || null,
            tokensFrom: at(tokensFrom) || null,
            createdAt: at(createdAt),
          }),
        )
      }),
    )
}

function addDisableAndEnable(accounts: Command, shell: Shell): void {
  for (const [name, description, change] of [
    ['disable', 'refuse the account and its tokens, within 5 s on every instance', disableAccount],
    ['enable', 'take a disabled account again', enableAccount],
  ] as const)
    accounts
      .command(name)
      .description(description)
      .argument('<email>')
      .action((email: string, _options: object, command: Command) =>
        perform(shell, command, async ({ deps, printer, by }) => {
          const { id, disabled } = await change(deps, by(ANY), email)
          printer.done({ id, email, disabled }, `The account ${email} is ${name}d.`)
        }),
      )
}

function addResetPassword(accounts: Command, shell: Shell): void {
  accounts
    .command('reset-password')
    .description('set another password, and revoke the tokens issued so far')
    .argument('<email>')
    .option(...GENERATE)
    .action((email: string, options: { generate?: boolean }, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, by, confirm }) => {
        await confirm(`Set another password for ${email}, and revoke its tokens?`)
        const { password, generated } = await passwordFrom(io, options)
        const { id } = await resetPassword(deps, by(ANY), email, password)
        const shown = generated ? `\nIt is, shown only now: ${password}` : ''
        printer.done(
          generated ? { id, email, password } : { id, email },
          `The account ${email} has another password.${shown}`,
        )
      }),
    )
}

function addUnlock(accounts: Command, shell: Shell): void {
  accounts
    .command('unlock')
    .description('let an account or an address sign in again that failed too often')
    .argument('[email]')
    .option('--address <ip>', 'an address in place of an account')
    .action((email: string | undefined, { address }: { address?: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by }) => {
        if ((email === undefined) === (address === undefined))
          throw new UsageError('say which: an e-mail, or --address')
        if (address !== undefined) {
          await unlockAddress(deps, address)
          return printer.done({ address }, `The address ${address} may sign in again.`)
        }
        const { id } = await unlockAccount(deps, by(ANY), String(email))
        return printer.done({ id, email }, `The account ${email} may sign in again.`)
      }),
    )
}

function addRevokeTokens(accounts: Command, shell: Shell): void {
  accounts
    .command('revoke-tokens')
    .description('revoke every token issued to the account so far, within 5 s on every instance')
    .argument('<email>')
    .action((email: string, _options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, confirm }) => {
        await confirm(`Revoke every token issued to ${email} so far?`)
        const { id } = await revokeTokens(deps, by(ANY), email)
        printer.done({ id, email }, `Tokens issued to ${email} before now are revoked.`)
      }),
    )
}

function addRoles(accounts: Command, shell: Shell): void {
  accounts
    .command('roles')
    .description('give an account these roles, and no others')
    .argument('<email>')
    .argument('<roles...>', 'USER, ADMIN, AUDITOR, PROPOSER, and roles of the organization', role)
    .action((email: string, roles: string[], _options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by }) => {
        const { id } = await setRoles(deps, by(ANY), email, roles)
        printer.done({ id, email, roles }, `The account ${email} is ${roles.join(' and ')}.`)
      }),
    )
}

function addResetFactor(accounts: Command, shell: Shell): void {
  accounts
    .command('reset-second-factor')
    .description('let an account sign in by its password alone, until it sets up another second factor')
    .argument('<email>')
    .action((email: string, _options: object, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, confirm }) => {
        await confirm(`Take the second factor of ${email} away?`)
        const { id } = await resetSecondFactor(deps, by(ANY), { email })
        printer.done({ id, email, secondFactor: false }, `The account ${email} has no second factor.`)
      }),
    )
}

interface CreateOptions {
  readonly organization?: number
  readonly role?: string[]
  readonly generate?: boolean
}

/** A password that the operator gave, or a generated one. */
interface Given {
  readonly password: string
  /** True when the password has to be shown, once. */
  readonly generated: boolean
}

/**
 * Returns the password of an account: asked for at a terminal, else the first line of stdin, or generated from 144
 * random bits. It is never an argument, which other users of the machine could see.
 */
export async function passwordFrom(io: Io, { generate = false }: { generate?: boolean }): Promise<Given> {
  if (generate) return { password: randomBytes(18).toString('base64url'), generated: true }
  if (!io.interactive) {
    const [password = ''] = (await io.readStdin()).split(/\r?\n/)
    if (password === '') throw new UsageError('give the password as the first line of stdin, or say --generate')
    return { password, generated: false }
  }
  const password = await io.askPassword('Password:')
  if (password !== (await io.askPassword('The same again:'))) throw new UsageError('the two passwords differ')
  return { password, generated: false }
}

export function apiKeyCommands(program: Command, shell: Shell): void {
  const keys = program.command('api-keys').description('what record systems sign in with')

  takeName(keys.command('create'), 'what it is for')
    .description('make an API key and show it, once')
    .addOption(organizationOption())
    .option('--role <role>', 'USER, ADMIN, AUDITOR, PROPOSER or a role of the organization; may be given twice', role)
    .action((argument: string | undefined, options: { organization?: number; role?: string[] }, command: Command) => {
      const name = nameGiven(command, argument)
      return performAdding(shell, command, async ({ deps, printer, by, organization }) => {
        const { id: organizationId } = await organization(options.organization)
        const { key, apiKey } = await createApiKey(deps, by(organizationId), { name, roles: options.role ?? ['USER'] })
        const { id, roles } = apiKey
        printer.done(
          { id, organizationId, name, roles, key },
          `API key ${id}, ${name}, ${roles.join(' and ')} of organization ${organizationId}.\nIt is, shown only now: ${key}`,
        )
      })
    })

  keys
    .command('list')
    .description('list the API keys of an organization; never the keys themselves')
    .addOption(organizationOption())
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, organization }) => {
        const at = (instant: number | null) => toSecond(instant, deps.config.zone)
        printer.list(
          await listApiKeys(deps, (await organization(options.organization)).id),
          [
            ['id', (one) => one.id, 'right'],
            ['name', (one) => one.name],
            ['begins', (one) => one.prefix],
            ['roles', (one) => one.roles.join(' ')],
            ['created', (one) => at(one.createdAt)],
            ['revoked', (one) => at(one.revokedAt)],
          ],
          (one) => ({ ...one, createdAt: at(one.createdAt), revokedAt: at(one.revokedAt) || null }),
        )
      }),
    )

  keys
    .command('revoke')
    .description('refuse an API key for good, within 5 s on every instance')
    .argument('<id>', 'its number', wholeNumber)
    .addOption(organizationOption())
    .action((id: number, options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        await confirm(`Revoke API key ${id} of organization ${organizationId} for good?`)
        const { name } = await revokeApiKey(deps, by(organizationId), id)
        printer.done({ id, organizationId, name, revoked: true }, `API key ${id}, ${name}, is revoked.`)
      }),
    )
}
