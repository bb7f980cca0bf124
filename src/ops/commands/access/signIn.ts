import type { Command } from 'commander'
import { getSignIn, type SignInView, updateSignIn } from '../../../services/signIn/settings.ts'
import { type OfOrganization, organizationOption } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { UsageError } from '../../terminal/terminalIo.ts'

/** Adds `mkopo sign-in`: how the people of an organization sign in at the office pages. */
export function signInCommands(program: Command, shell: Shell): void {
  const signIn = program.command('sign-in').description('how the people of an organization sign in at the office pages')
  for (const add of [addShow, addProvider, addRemove, addFactor]) add(signIn, shell)
}

function inWords({ secondFactorRequired, provider }: SignInView): string {
  const factor = secondFactorRequired ? 'A second factor is required.' : 'A second factor is as each person likes.'
  if (!provider) return `No provider. ${factor}`
  const roles = Object.entries(provider.roles).map(([value, role]) => `${value} is ${role}`)
  return `Provider ${provider.issuer}, client ${provider.clientId}; of ${provider.roleClaim}: ${roles.join(', ')}. ${factor}`
}

function addShow(signIn: Command, shell: Shell): void {
  signIn
    .command('show')
    .description('show the provider and whether a second factor is required')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const view = await getSignIn(deps, by((await organization(options.organization)).id))
        printer.done(view, inWords(view))
      }),
    )
}

interface ProviderOptions extends OfOrganization {
  readonly claim: string
  readonly role: readonly string[]
  readonly keepSecret?: boolean
}

/** Returns the roles of `value=role`, each given by an option. @throws UsageError */
function rolesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const at = one.lastIndexOf('=')
      if (at < 1) throw new UsageError('give each role as <value of the claim>=<role>')
      return [one.slice(0, at), one.slice(at + 1)]
    }),
  )
}

function addProvider(signIn: Command, shell: Shell): void {
  signIn
    .command('provider')
    .description(
      'let people sign in by a provider (OpenID Connect); the secret of the client is asked for, or read from stdin',
    )
    .argument('<issuer>')
    .argument('<client>', 'the id of the client at the provider')
    .requiredOption('--claim <claim>', 'the claim of userinfo that names roles: a name, or a path')
    .requiredOption('--role <value=role...>', 'the role for a value of the claim')
    .option('--keep-secret', 'the secret of before, of the same issuer and client')
    .addOption(organizationOption())
    .action((issuer: string, clientId: string, options: ProviderOptions, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const secretOf = async () =>
          io.interactive ? io.askPassword('Secret of the client:') : ((await io.readStdin()).split(/\r?\n/)[0] ?? '')
        const clientSecret = options.keepSecret ? undefined : await secretOf()
        const provider = { issuer, clientId, clientSecret, roleClaim: options.claim, roles: rolesOf(options.role) }
        const view = await updateSignIn(deps, by(id), { provider })
        printer.done(view, inWords(view))
      }),
    )
}

function addRemove(signIn: Command, shell: Shell): void {
  signIn
    .command('remove-provider')
    .description('let nobody sign in by the provider any more')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id } = await organization(options.organization)
        await confirm(`Let nobody of organization ${id} sign in by its provider any more?`)
        const view = await updateSignIn(deps, by(id), { provider: null })
        printer.done(view, inWords(view))
      }),
    )
}

function addFactor(signIn: Command, shell: Shell): void {
  for (const [name, description, secondFactorRequired] of [
    ['require-second-factor', 'let accounts with a password go on only with a second factor', true],
    ['allow-password-alone', 'leave a second factor to each person', false],
  ] as const)
    signIn
      .command(name)
      .description(description)
      .addOption(organizationOption())
      .action((options: OfOrganization, command: Command) =>
        perform(shell, command, async ({ deps, printer, by, organization }) => {
          const { id } = await organization(options.organization)
          const view = await updateSignIn(deps, by(id), { secondFactorRequired })
          printer.done(view, inWords(view))
        }),
      )
}
