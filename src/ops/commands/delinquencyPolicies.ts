import { type Command, Option } from 'commander'
import { policyToJson, readNewPolicy } from '../../domain/delinquency/newPolicy.ts'
import { PRESETS } from '../../domain/delinquency/policy.ts'
import { currencyOf } from '../../domain/money.ts'
import { getPolicy, listPolicies, type PolicyVersion, setPolicy } from '../../services/delinquency/policies.ts'
import { readGivenJson } from '../files/givenFile.ts'
import { type OfOrganization, organizationOption, versionNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { toSecond } from '../terminal/format.ts'
import { UsageError } from '../terminal/terminalIo.ts'

/** Adds the commands of the policy by which an organization says how late its loans are. */
export function delinquencyPolicyCommands(program: Command, shell: Shell): void {
  const policies = program
    .command('delinquency-policy')
    .description('by which rules an organization says how late its loans are')
  showCommand(policies, shell)
  setCommand(policies, shell)
  versionsCommand(policies, shell)
}

function showCommand(policies: Command, shell: Shell): void {
  policies
    .command('show')
    .description('print the policy in force, as JSON that `set` takes')
    .addOption(organizationOption())
    .option('--at <version>', 'an earlier version; 0 is that of an organization that has set none', versionNumber)
    .action((options: OfOrganization & { at?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id, currency } = await organization(options.organization)
        const found = await getPolicy(deps, by(id), options.at)
        printer.note(`version ${found.version}, ${nameOf(found)}${found.source === null ? '' : `: ${found.source}`}`)
        const policy = policyToJson(found.policy, currencyOf(currency))
        printer.done(policy, JSON.stringify(policy, null, 2))
      }),
    )
}

const nameOf = ({ name }: PolicyVersion): string => (name === null ? 'its own' : `the preset ${name}`)

function setCommand(policies: Command, shell: Shell): void {
  policies
    .command('set')
    .description('put a policy in force, from the next request on: a file, or a preset')
    .argument('[file]', 'the policy, JSON')
    .addOption(
      new Option('--preset <name>', 'a policy by its name, in place of a file').choices(
        PRESETS.map(({ name }) => name),
      ),
    )
    .addOption(organizationOption())
    .action((file: string | undefined, options: OfOrganization & { preset?: string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { preset } = options
        if ((file === undefined) === (preset === undefined))
          throw new UsageError('say which policy: a file, or --preset')
        const { id } = await organization(options.organization)
        const asked = file === undefined ? { preset } : readNewPolicy(await readGivenJson(file, 'policy'))
        await confirm(`Say by ${preset ?? file} from now on how late the loans of organization ${id} are?`)
        const set = await setPolicy(deps, by(id), asked)
        printer.done(
          { organizationId: id, version: set.version, preset: set.name },
          `The delinquency policy of organization ${id} is version ${set.version}, ${nameOf(set)}.`,
        )
      }),
    )
}

function versionsCommand(policies: Command, shell: Shell): void {
  policies
    .command('versions')
    .description('list the versions, newest first; the first line is in force')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const at = ({ setAt }: PolicyVersion) => toSecond(setAt, deps.config.zone)
        const namesOf = ({ policy }: PolicyVersion) => policy.buckets.map(({ name }) => name)
        printer.list(
          await listPolicies(deps, by(id)),
          [
            ['version', (one) => one.version, 'right'],
            ['set at', at],
            ['preset', (one) => one.name],
            ['buckets', (one) => namesOf(one).join(', ')],
          ],
          (one) => ({ version: one.version, setAt: at(one) || null, preset: one.name, buckets: namesOf(one) }),
        )
      }),
    )
}
