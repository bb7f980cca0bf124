import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { policyToJson } from '../../domain/credit/policyJson.ts'
import { getCreditPolicy, setCreditPolicy } from '../../services/credit/creditPolicies.ts'
import { organizationOption } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { UsageError } from '../terminal/terminalIo.ts'

export function creditPolicyCommands(program: Command, shell: Shell): void {
  const policies = program.command('credit-policy').description('how an organization scores, and what limits it gives')

  policies
    .command('show')
    .description('print the policy in force, as JSON that `set` takes')
    .addOption(organizationOption())
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, organization }) => {
        const { id } = await organization(options.organization)
        const policy = policyToJson((await getCreditPolicy(deps, id)).policy) as object
        printer.done(policy, JSON.stringify(policy, null, 2))
      }),
    )

  policies
    .command('set')
    .description('put a policy in force, from the next request on; a change of any figure takes a new version')
    .argument('<file>', 'the policy, JSON')
    .addOption(organizationOption())
    .action((file: string, options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id } = await organization(options.organization)
        const json = await readJson(file)
        await confirm(`Score the customers of organization ${id} by ${file} from now on?`)
        const { version } = await setCreditPolicy(deps, by(id), json)
        printer.done({ organizationId: id, version }, `Credit policy ${version} of organization ${id} is in force.`)
      }),
    )
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`the policy cannot be read: ${error.message}`)
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`)
  }
}
