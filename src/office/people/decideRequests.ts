import type { FastifyRequest } from 'fastify'
import { displayName } from '../../domain/customer/customer.ts'
import { invalidArgument, notFound } from '../../domain/errors.ts'
import type { Caller } from '../../services/access/caller.ts'
import { getCustomer } from '../../services/customers/customers.ts'
import {
  askForData,
  confirmErasure,
  DATA_REQUEST_KINDS,
  type DataRequest,
  endRequest,
  getDataRequest,
  LONGEST_REASON,
  requireConfirmable,
} from '../../services/customers/dataRequests.ts'
import { type Desk, type Fields, idOf, type PageWord, sayName, wordOf } from '../desk.ts'
import { type Done, tile, tiles } from '../layout/page.ts'
import { type Field, noteOf } from '../loan/actions.ts'
import type { Step } from '../routes/flow.ts'

type Request = Pick<FastifyRequest<{ Params: Readonly<Record<'id' | 'action', string>> }>, 'desk' | 'params'>

const ASKING: readonly Field[] = [
  {
    name: 'kind',
    word: 'kind',
    kind: 'choice',
    choices: DATA_REQUEST_KINDS.map((one) => [one, `ask_${one}`] as const),
  },
  { name: 'reason', word: 'reasonInWords', kind: 'text', longest: LONGEST_REASON },
]

/** Returns the steps of keeping what a person asks for. @throws LendingError `not_found` */
export async function askStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'customer')
  const kindOf = (fields: Fields) => wordOf(DATA_REQUEST_KINDS, fields, 'kind') ?? 'access'
  const customer = await getCustomer(deps, caller, { id })
  return {
    title: say('titleAskForData', { id }),
    means: say('meansAskForData'),
    fields: ASKING,
    values: {},
    back: `/customers/${id}`,
    async show(fields) {
      noteOf(fields, 'reason')
      const view = tiles([tile(displayName(customer), say(`ask_${kindOf(fields)}`))])
      return { view, mark: (await getCustomer(deps, caller, { id })).status }
    },
    async run(by, fields) {
      await askForData(deps, by, { id }, { kind: kindOf(fields), reason: noteOf(fields, 'reason') ?? undefined })
      return 'doneAskForData'
    },
  }
}

/** What is done with a data request. */
interface Verb {
  readonly title: PageWord
  readonly means: PageWord
  readonly done: Done
  readonly fields: readonly Field[]
  /** Refuses what cannot be done. @throws LendingError */
  readonly require?: (request: DataRequest, caller: Caller) => void
  run(deps: Desk['deps'], caller: Caller, id: bigint, fields: Fields): Promise<DataRequest>
}

const NOTE: Field = { name: 'note', word: 'noteForPerson', kind: 'text', isRequired: true, longest: LONGEST_REASON }

/** Reads the answer to the person. @throws LendingError `invalid_argument` where there is none */
function answerOf(fields: Fields): string {
  const note = noteOf(fields)
  if (note === null) throw invalidArgument('note', `must be 1 to ${LONGEST_REASON} characters`)
  return note
}

const VERBS: Readonly<Record<string, Verb>> = {
  complete: {
    title: 'titleCompleteRequest',
    means: 'meansCompleteRequest',
    done: 'doneCompleteRequest',
    fields: [NOTE],
    run: (deps, caller, id, fields) => endRequest(deps, caller, id, { state: 'done', note: answerOf(fields) }),
  },
  refuse: {
    title: 'titleRefuseRequest',
    means: 'meansRefuseRequest',
    done: 'doneRefuseRequest',
    fields: [NOTE],
    run: (deps, caller, id, fields) => endRequest(deps, caller, id, { state: 'refused', note: answerOf(fields) }),
  },
  withdraw: {
    title: 'titleWithdrawRequest',
    means: 'meansWithdrawRequest',
    done: 'doneWithdraw',
    fields: [],
    run: (deps, caller, id) => endRequest(deps, caller, id, { state: 'withdrawn' }),
  },
  confirm: {
    title: 'titleErase',
    means: 'meansErase',
    done: 'doneErase',
    fields: [],
    require: (request, { accountId }) => requireConfirmable(request, accountId),
    run: confirmErasure,
  },
}

/** Returns the steps of deciding a data request. @throws LendingError `permission_denied`, `not_found` */
export async function requestStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'data request')
  const verb = Object.hasOwn(VERBS, params.action) ? VERBS[params.action] : undefined
  if (!verb) throw notFound('there is no such action')
  const { customerId } = await getDataRequest(deps, caller, id)
  return {
    title: say(verb.title, { id, customer: customerId }),
    means: say(verb.means),
    fields: verb.fields,
    values: {},
    back: `/data-requests/${id}`,
    async show(fields) {
      if (verb.fields.length > 0) answerOf(fields)
      const request = await getDataRequest(deps, caller, id)
      verb.require?.(request, caller)
      const customer = await getCustomer(deps, caller, { id: customerId })
      const view = tiles([
        tile(say('kind'), say(`ask_${request.kind}`)),
        tile(say('state'), say(`request_${request.state}`)),
        tile(displayName(customer), sayName(say, customer.status)),
      ])
      return { view, mark: request.state }
    },
    async run(by, fields) {
      await verb.run(deps, by, id, fields)
      return verb.done
    },
  }
}
