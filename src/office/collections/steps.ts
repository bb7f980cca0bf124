import type { FastifyRequest } from 'fastify'
import { html } from '../../api/http/html.ts'
import { readId } from '../../api/wire.ts'
import { CONTACT_CHANNELS, CONTACT_OUTCOMES } from '../../domain/collections/contact.ts'
import { HOLD_KINDS } from '../../domain/collections/hold.ts'
import { requirePromise } from '../../domain/collections/promise.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { toMinor } from '../../domain/money.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import { assignLoan, getAssignment } from '../../services/collections/assignments.ts'
import { latestContacts, recordContact } from '../../services/collections/contacts.ts'
import { holdLoan, listHolds, releaseHold } from '../../services/collections/holds.ts'
import { cancelPromise, listPromises, makePromise } from '../../services/collections/promises.ts'
import { getLoan } from '../../services/loans/loans.ts'
import { type Desk, dayOf, type Fields, idOf, textOf, wordOf } from '../desk.ts'
import { tile, tiles } from '../layout/page.ts'
import { amountOf, type Field, NOTE, noteOf, REASON } from '../loan/actions.ts'
import type { Step } from '../routes/flow.ts'
import { contactTable, holdTable, promiseTable } from './shown.ts'

type Request = Pick<
  FastifyRequest<{ Params: Readonly<Record<'id' | 'partId', string>>; Querystring: Fields }>,
  'desk' | 'params' | 'query'
>

/** The most rows that a question shows, and by which it knows whether something has changed. */
const MOST = 100
const FIRST = { rows: MOST, page: 1 } as const

const markOf = (...parts: readonly unknown[]): string => parts.join(' ')

const dayIn = (fields: Fields, name: string): LocalDate => {
  const day = dayOf(fields, name)
  if (day === undefined) throw invalidArgument('until', 'must be a day')
  return day
}

const CONTACT: readonly Field[] = [
  {
    name: 'channel',
    word: 'contactWay',
    kind: 'choice',
    choices: CONTACT_CHANNELS.map((one) => [one, `way_${one}`] as const),
  },
  {
    name: 'outcome',
    word: 'contactCame',
    kind: 'choice',
    choices: CONTACT_OUTCOMES.map((one) => [one, `came_${one}`] as const),
  },
  { name: 'next', word: 'nextAction', kind: 'date' },
  NOTE,
]

/** Returns the steps of recording a contact with a customer; about one loan, where the address names it. */
export async function contactStep({ desk, params, query }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'customer')
  const loanId = readId(textOf(query, 'loan', 20) ?? '') ?? undefined
  return {
    query: loanId === undefined ? '' : `?loan=${loanId}`,
    title: say('titleContact', { id }),
    means: say('meansContact'),
    fields: CONTACT,
    values: {},
    back: loanId === undefined ? `/customers/${id}` : `/loans/${loanId}`,
    async show(fields) {
      requestOf(fields)
      const contacts = await latestContacts(deps, caller, { customerId: id, loanId: loanId ?? null, most: MOST })
      return { view: contactTable(desk, contacts), mark: markOf(contacts.length, contacts[0]?.id) }
    },
    async run(by, fields) {
      await recordContact(deps, by, { id }, { ...requestOf(fields), loanId })
      return 'doneContact'
    },
  }
}

const requestOf = (fields: Fields) => ({
  channel: wordOf(CONTACT_CHANNELS, fields, 'channel') ?? 'call',
  outcome: wordOf(CONTACT_OUTCOMES, fields, 'outcome') ?? 'reached',
  nextOn: dayOf(fields, 'next'),
  note: noteOf(fields) ?? undefined,
})

const PROMISE: readonly Field[] = [
  { name: 'amount', word: 'promisedAmount', kind: 'amount', isRequired: true },
  { name: 'until', word: 'promisedDay', kind: 'date', isRequired: true },
  NOTE,
]

/** Shows the promises on a loan as they are, by which a form knows whether they have changed. */
async function promisesNow(desk: Desk, loanId: bigint) {
  const { items, total } = await listPromises(desk.deps, desk.caller, { id: loanId }, FIRST)
  const mark = markOf(total, ...items.map(({ id, state, received }) => `${id} ${state} ${received}`))
  return { view: promiseTable({ ...desk, may: () => false }, items.toReversed()), mark }
}

/** Returns the steps of recording a promise on a loan. */
export async function promiseStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'loan')
  return {
    title: say('titlePromise', { id }),
    means: say('meansPromise'),
    fields: PROMISE,
    values: {},
    back: `/loans/${id}`,
    async show(fields) {
      const { loan, state, at } = await getLoan(deps, caller, { id })
      const amount = toMinor(amountOf(fields), loan.terms.currency, 'promisedAmount')
      const facts = { outstanding: state.totalOutstanding, open: 0, today: dateIn(deps.config.zone, at) }
      requirePromise({ amount, by: dayIn(fields, 'until') }, facts)
      return promisesNow(desk, id)
    },
    async run(by, fields) {
      const note = noteOf(fields) ?? undefined
      await makePromise(deps, by, { id }, { amount: amountOf(fields), by: dayIn(fields, 'until'), note })
      return 'donePromise'
    },
  }
}

/** Returns the steps of cancelling a promise. */
export async function cancelStep({ desk, params }: Request): Promise<Step> {
  const { deps, say } = desk
  const [loanId, id] = [idOf(params.id, 'loan'), idOf(params.partId, 'promise')]
  return {
    title: say('titleCancelPromise', { id }),
    means: say('meansCancelPromise'),
    fields: [REASON],
    values: {},
    back: `/loans/${loanId}`,
    async show(fields) {
      noteOf(fields, 'reason')
      return promisesNow(desk, loanId)
    },
    async run(by, fields) {
      await cancelPromise(deps, by, { ref: { id: loanId }, id }, { reason: noteOf(fields, 'reason') ?? undefined })
      return 'doneCancelPromise'
    },
  }
}

const HOLD: readonly Field[] = [
  { name: 'what', word: 'heldKind', kind: 'choice', choices: HOLD_KINDS.map((one) => [one, `hold_${one}`] as const) },
  { name: 'until', word: 'heldUntil', kind: 'date', isRequired: true },
  { ...REASON, isRequired: true },
]

const reasonIn = (fields: Fields): string => {
  const reason = noteOf(fields, 'reason')
  if (reason === null) throw invalidArgument('reason', 'must be given')
  return reason
}

/** Shows the holds of a loan as they are, by which a form knows whether they have changed. */
async function holdsNow(desk: Desk, loanId: bigint) {
  const { items, total } = await listHolds(desk.deps, desk.caller, { id: loanId }, FIRST)
  const mark = markOf(total, ...items.map(({ id, releasedOn }) => `${id} ${releasedOn}`))
  return { view: holdTable({ ...desk, may: () => false }, items.toReversed()), mark }
}

/** Returns the steps of putting something of a loan on hold. */
export async function holdStep({ desk, params }: Request): Promise<Step> {
  const { deps, say } = desk
  const id = idOf(params.id, 'loan')
  return {
    title: say('titleHold', { id }),
    means: say('meansHold'),
    fields: HOLD,
    values: {},
    back: `/loans/${id}`,
    show(fields) {
      dayIn(fields, 'until')
      reasonIn(fields)
      return holdsNow(desk, id)
    },
    async run(by, fields) {
      const what = wordOf(HOLD_KINDS, fields, 'what') ?? 'reminders'
      await holdLoan(deps, by, { id }, { what, until: dayIn(fields, 'until'), reason: reasonIn(fields) })
      return 'doneHold'
    },
  }
}

/** Returns the steps of releasing a hold. */
export async function releaseHoldStep({ desk, params }: Request): Promise<Step> {
  const { deps, say } = desk
  const [loanId, id] = [idOf(params.id, 'loan'), idOf(params.partId, 'hold')]
  return {
    title: say('titleReleaseHold', { id }),
    means: say('meansReleaseHold'),
    fields: [{ ...REASON, isRequired: true }],
    values: {},
    back: `/loans/${loanId}`,
    show(fields) {
      reasonIn(fields)
      return holdsNow(desk, loanId)
    },
    async run(by, fields) {
      await releaseHold(deps, by, { ref: { id: loanId }, id }, { reason: reasonIn(fields) })
      return 'doneReleaseHold'
    },
  }
}

/** Returns the steps of giving a loan to an officer. */
export async function assignStep({ desk, params }: Request): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'loan')
  const accounts = (await listAccounts(deps, caller.organizationId)).filter(({ disabledAt }) => disabledAt === null)
  const officerOf = (fields: Fields): number | null => {
    const email = textOf(fields, 'officer')
    const account = accounts.find((one) => one.email === email)
    if (email !== undefined && !account) throw invalidArgument('assignedTo', 'must be an account that is enabled')
    return account?.id ?? null
  }
  const emailOf = (accountId: number | null) => accounts.find((one) => one.id === accountId)?.email
  const known = await getAssignment(deps, caller, { id })
  return {
    title: say('titleAssign', { id }),
    means: say('meansAssign'),
    fields: [{ name: 'officer', word: 'officer', kind: 'choice', names: ['', ...accounts.map(({ email }) => email)] }],
    values: { officer: emailOf(known.accountId) ?? '' },
    back: `/loans/${id}`,
    async show(fields) {
      const becomes = emailOf(officerOf(fields)) ?? say('nobody')
      const now = await getAssignment(deps, caller, { id })
      const view = tiles([tile(say('officer'), html`${emailOf(now.accountId) ?? say('nobody')} → ${becomes}`)])
      return { view, mark: markOf(now.accountId, now.assignedAt) }
    },
    async run(by, fields) {
      await assignLoan(deps, by, { id }, officerOf(fields))
      return 'doneAssign'
    },
  }
}
