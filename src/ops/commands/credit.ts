import { type Command, Option } from 'commander'
import { policyToJson } from '../../domain/credit/policyJson.ts'
import type { CustomerNames } from '../../services/credit/credit.ts'
import { getCreditPolicy, setCreditPolicy } from '../../services/credit/credit.ts'
import { type KeptDecision, pageDecisions, type Replayed, replayDecision } from '../../services/credit/creditBoosts.ts'
import { readGivenJson } from '../files/givenFile.ts'
import { longNumber, numberIn, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { toSecond } from '../terminal/format.ts'
import { UsageError } from '../terminal/terminalIo.ts'

interface ListOptions {
  readonly organization?: number
  readonly external?: boolean
  readonly rows: number
}

export function creditDecisionCommands(program: Command, shell: Shell): void {
  const decisions = program
    .command('credit-decisions')
    .description('scores and boosts as they were decided: on which facts, by which policy')

  decisions
    .command('list')
    .description('list what was decided of a customer, newest first')
    .argument('<customer>', 'its number; with --external, your own id of it')
    .addOption(new Option('--external', 'the customer is named by its externalId'))
    .option('-n, --rows <number>', 'the latest so many', wholeNumber, 50)
    .addOption(organizationOption())
    .action((named: string, options: ListOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const caller = by((await organization(options.organization)).id)
        const { items } = await pageDecisions(deps, caller, namesOf(named, options), { page: 1, rows: options.rows })
        const { zone } = deps.config
        printer.list(
          items,
          [
            ['id', ({ id }) => String(id), 'right'],
            ['at', ({ at }) => toSecond(at, zone)],
            ['kind', ({ kind }) => kind],
            ['policy', ({ policyVersion }) => policyVersion],
            ['decided', inShort],
          ],
          (decision) => view(decision, zone),
        )
      }),
    )

  decisions
    .command('show')
    .description('show a decision with its facts, and decide it again by the policy of then; exit code 1 if it differs')
    .argument('<decision>', 'its number', longNumber)
    .addOption(organizationOption())
    .action((id: bigint, options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const replayed = await replayDecision(deps, by((await organization(options.organization)).id), id)
        const shown = { ...view(replayed.kept, deps.config.zone), same: replayed.same, again: replayed.again }
        printer.done(shown, inFull(replayed, deps.config.zone))
        return replayed.same ? 0 : 1
      }),
    )
}

const view = (decision: KeptDecision, zone: string) => ({
  ...decision,
  id: String(decision.id),
  customerId: String(decision.customerId),
  at: toSecond(decision.at, zone),
})

function inShort({ kind, result }: KeptDecision): string {
  const scored = result as Readonly<Record<string, string | number>>
  return kind === 'score'
    ? `score ${scored.score}, grade ${scored.grade}, limit ${scored.creditLimit}`
    : `${scored.boostStatus}, limit ${scored.creditLimit}`
}

function inFull({ kept, again, same }: Replayed, zone: string): string {
  const { inputs, result, ...rest } = view(kept, zone)
  const verdict = same
    ? `Decided again on these facts by policy ${kept.policyVersion}: the same.`
    : `Decided again on these facts by policy ${kept.policyVersion}, it differs: ${JSON.stringify(again, null, 2)}`
  return `${JSON.stringify({ ...rest, inputs, result }, null, 2)}\n${verdict}`
}

function namesOf(named: string, { external = false }: ListOptions): CustomerNames {
  if (external) return { externalId: named, id: null }
  const id = numberIn(named)
  if (id === undefined) throw new UsageError(`${named} is no customer's number; say --external for your own id`)
  return { externalId: null, id }
}

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
        const json = await readGivenJson(file, 'policy')
        await confirm(`Score the customers of organization ${id} by ${file} from now on?`)
        const { version } = await setCreditPolicy(deps, by(id), json)
        printer.done({ organizationId: id, version }, `Credit policy ${version} of organization ${id} is in force.`)
      }),
    )
}
