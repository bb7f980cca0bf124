import { type Command, Option } from 'commander'
import {
  confirmErasure,
  DATA_REQUEST_STATES,
  type DataRequest,
  type DataRequestState,
  endRequest,
  getDataRequest,
  listDataRequests,
} from '../../../services/customers/dataRequests.ts'
import { decisionCommand } from '../../decision.ts'
import { type OfOrganization, organizationOption, wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { toSecond } from '../../terminal/format.ts'

interface ListOptions extends OfOrganization {
  readonly state?: DataRequestState
  readonly rows: number
  readonly after?: string
}

/** Adds the commands of what people ask for by the law of data protection. */
export function dataRequestCommands(program: Command, shell: Shell): void {
  const requests = program.command('data-requests').description('what people ask of what is known of them')
  listCommand(requests, shell)
  const decide = decisionCommand<DataRequest>(requests, shell, {
    get: ({ deps }, caller, id) => getDataRequest(deps, caller, id),
    nameOf: ({ kind, customerId }) => `the data request of the kind ${kind} of customer ${customerId}`,
    viewOf,
    endOf: ({ id, state }) => `The data request ${id} is ${state}.`,
  })
  decide(
    'confirm',
    'erase a person, as an account asked for it or the service proposes it; it cannot be undone',
    ({ deps }, caller, { id }) => confirmErasure(deps, caller, id),
  )
  decide('complete', 'complete a data request: what was asked for is done', ({ deps }, caller, { id, note = null }) =>
    endRequest(deps, caller, id, { state: 'done', note }),
  ).requiredOption('--note <text>', 'the answer to the person')
  decide('refuse', 'refuse a data request: nothing is done', ({ deps }, caller, { id, note = null }) =>
    endRequest(deps, caller, id, { state: 'refused', note }),
  ).requiredOption('--note <text>', 'why, for the person')
}

function listCommand(requests: Command, shell: Shell): void {
  requests
    .command('list')
    .description('list the data requests, oldest first')
    .addOption(new Option('--state <state>', 'only these').choices(DATA_REQUEST_STATES))
    .addOption(organizationOption())
    .option('-n, --rows <number>', 'at most so many', wholeNumber, 100)
    .option('--after <cursor>', 'those after an earlier list: its next')
    .action(({ organization: given, state, rows, after }: ListOptions, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(given)
        const { zone } = deps.config
        const range = after === undefined ? { rows } : { rows, after }
        const { items, next } = await listDataRequests(deps, by(id), { state }, range)
        if (next !== undefined && items.length === rows) printer.note(`more: --after ${next}`)
        printer.list(
          items,
          [
            ['id', (one) => String(one.id), 'right'],
            ['state', (one) => one.state],
            ['kind', (one) => one.kind],
            ['customer', (one) => String(one.customerId), 'right'],
            ['due', (one) => one.dueOn],
            ['asked', (one) => toSecond(one.askedAt, zone)],
            ['by', askerOf],
          ],
          (one) => viewOf(one, zone),
        )
      }),
    )
}

const askerOf = ({ proposed, askedBy }: DataRequest): string =>
  proposed ? 'the service' : askedBy === null ? 'the command line' : `account ${askedBy}`

const viewOf = (request: DataRequest, zone: string): object => {
  const { organizationId: _, id, customerId, askedAt, decidedAt, ...rest } = request
  const times = { askedAt: toSecond(askedAt, zone), decidedAt: toSecond(decidedAt, zone) || null }
  return { id: String(id), customerId: String(customerId), ...rest, ...times }
}
