import { type Command, Option } from 'commander'
import { eventIdOf } from '../../services/events/toldEvent.ts'
import { type Attempt, followAttempts, listAttempts, recoverEndpoint } from '../../services/webhooks/attempts.ts'
import {
  createEndpoint,
  type EndpointView,
  EVENT_STYLES,
  type EventStyle,
  listEndpoints,
  MOST_ENDPOINTS,
  rotateSecret,
} from '../../services/webhooks/endpoints.ts'
import { longNumber, momentBefore, type OfOrganization, organizationOption, wholeNumber } from '../options.ts'
import { perform, type Shell } from '../perform.ts'
import { toSecond, visible, visibleJson } from '../terminal/format.ts'

const USUAL_OVERLAP_HOURS = 24

/** Reads an age, an instant, or anything else as the text that it is. */
function sinceWhen(text: string): number | string {
  try {
    return momentBefore(Date.now)(text)
  } catch {
    return text
  }
}

/** Reads hours, of which 0 is one. */
const hours = (text: string): number => (text === '0' ? 0 : wholeNumber(text))

export function webhookCommands(program: Command, shell: Shell): void {
  const webhooks = program.command('webhooks').description('the endpoints to which events are sent')
  listCommand(webhooks, shell)
  createCommand(webhooks, shell)
  rotateCommand(webhooks, shell)
  recoverCommand(webhooks, shell)
  tailCommand(webhooks, shell)
}

function listCommand(webhooks: Command, shell: Shell): void {
  webhooks
    .command('list')
    .description('list the endpoints of an organization, and how far each is behind')
    .addOption(organizationOption())
    .action((options: OfOrganization, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const at = (instant: number | null) => toSecond(instant, deps.config.zone)
        const { items } = await listEndpoints(deps, by(id), { rows: MOST_ENDPOINTS })
        printer.list<EndpointView>(
          items,
          [
            ['id', (one) => String(one.id), 'right'],
            ['state', (one) => one.state],
            ['behind', (one) => one.behind, 'right'],
            ['oldest', (one) => at(one.oldestUndeliveredAt)],
            ['next attempt', (one) => at(one.nextAttemptAt)],
            ['style', (one) => one.style],
            ['types', (one) => one.types.join(' ')],
            ['url', (one) => one.url],
            ['why', (one) => one.stateReason],
          ],
          (one) => ({
            ...one,
            oldestUndeliveredAt: at(one.oldestUndeliveredAt) || null,
            nextAttemptAt: at(one.nextAttemptAt) || null,
            previousUntil: at(one.previousUntil) || null,
            createdAt: at(one.createdAt),
          }),
        )
      }),
    )
}

interface CreateOptions extends OfOrganization {
  readonly types?: string
  readonly style: EventStyle
  readonly description?: string
  readonly from?: string
}

function createCommand(webhooks: Command, shell: Shell): void {
  webhooks
    .command('create')
    .description('make an endpoint and show its secret, once')
    .argument('<url>', 'where events are sent')
    .addOption(organizationOption())
    .option('--types <types>', 'such as loan.*,repayment.posted; all when left out')
    .addOption(new Option('--style <style>', 'the words of the events').choices(EVENT_STYLES).default('partner'))
    .option('--description <text>', 'for people')
    .option('--from <place>', 'now, beginning, or a cursor of the list of events; now when left out')
    .action((url: string, options: CreateOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id: organizationId } = await organization(options.organization)
        const { types, style, description, from } = options
        const request = { url, types: types?.split(','), style, description, from }
        const { endpoint, secret } = await createEndpoint(deps, by(organizationId), request)
        printer.done(
          { id: endpoint.id, organizationId, url, secret },
          `Endpoint ${endpoint.id} of organization ${organizationId}: ${url}.\nIts secret, shown only now: ${secret}`,
        )
      }),
    )
}

function rotateCommand(webhooks: Command, shell: Shell): void {
  webhooks
    .command('rotate')
    .description('give an endpoint a new secret and show it, once; the one before signs, too, for some hours')
    .argument('<id>', 'its number', longNumber)
    .addOption(organizationOption())
    .option('--overlap <hours>', 'for which the secret before signs, too, 0 to 72', hours, USUAL_OVERLAP_HOURS)
    .action((id: bigint, options: OfOrganization & { readonly overlap: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        await confirm(`Give endpoint ${id} a new secret, and let the one before sign for ${options.overlap} hours?`)
        const { secret } = await rotateSecret(deps, by(organizationId), id, options.overlap)
        printer.done({ id, organizationId, secret }, `The new secret of endpoint ${id}, shown only now: ${secret}`)
      }),
    )
}

function recoverCommand(webhooks: Command, shell: Shell): void {
  webhooks
    .command('recover')
    .description('send events to an endpoint again, also those that it has taken')
    .argument('<id>', 'its number', longNumber)
    .requiredOption('--since <place>', '2026-11-20T14:30:00+03:00, an age such as 36h, or a cursor', sinceWhen)
    .addOption(organizationOption())
    .action((id: bigint, options: OfOrganization & { readonly since: number | string }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        const { since } = options
        const when = typeof since === 'number' ? toSecond(since, deps.config.zone) : since
        await confirm(`Send all events since ${when} to endpoint ${id} again?`)
        const queued = await recoverEndpoint(deps, by(organizationId), id, since)
        printer.done({ id, organizationId, queued }, `${queued} events will be sent to endpoint ${id} again.`)
      }),
    )
}

interface TailOptions extends OfOrganization {
  readonly rows: number
  readonly follow?: boolean
}

function tailCommand(webhooks: Command, shell: Shell): void {
  webhooks
    .command('tail')
    .description('read and follow the attempts at an endpoint')
    .argument('<id>', 'its number', longNumber)
    .addOption(organizationOption())
    .option('-n, --rows <number>', 'the latest so many', wholeNumber, 20)
    .option('-f, --follow', 'go on with each attempt as it is made, until Ctrl-C; with --json, a line each')
    .action((id: bigint, options: TailOptions, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, by, organization }) => {
        const { id: organizationId } = await organization(options.organization)
        const caller = by(organizationId)
        const { zone } = deps.config
        const view = (one: Attempt) => viewOf(one, organizationId, zone)
        if (options.follow) {
          for await (const one of followAttempts(deps, caller, id, { most: options.rows, stopping: io.stopping }))
            io.out(printer.json ? `${visibleJson(JSON.stringify(view(one)))}\n` : `${visible(lineOf(view(one)))}\n`)
          return
        }
        const { items } = await listAttempts(deps, caller, { id }, { rows: options.rows })
        printer.list(items.map(view).toReversed(), [
          ['at', (one) => one.at],
          ['event', (one) => one.eventId],
          ['type', (one) => one.type],
          ['attempt', (one) => one.attempt, 'right'],
          ['state', (one) => one.state],
          ['status', (one) => one.status, 'right'],
          ['ms', (one) => one.ms, 'right'],
          ['error', (one) => one.error],
        ])
      }),
    )
}

const viewOf = ({ id, sequence, ...attempt }: Attempt, organizationId: number, zone: string) => ({
  id: String(id),
  eventId: eventIdOf({ organizationId, sequence }),
  ...attempt,
  at: toSecond(attempt.at, zone),
  nextAttemptAt: toSecond(attempt.nextAttemptAt, zone) || null,
})

const lineOf = ({ at, eventId, type, attempt, state, status, ms, error }: ReturnType<typeof viewOf>): string =>
  [at, eventId, type, `attempt ${attempt}`, state, status, `${ms} ms`, error].filter((part) => part !== null).join('  ')
