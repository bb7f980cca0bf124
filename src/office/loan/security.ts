import type { FastifyRequest } from 'fastify'
import { type Html, html } from '../../api/http/html.ts'
import { text as textSchema } from '../../api/wire.ts'
import { fullName, ID_TYPES, identityOf, LONGEST_IDENTITY } from '../../domain/customer/identity.ts'
import { LendingError } from '../../domain/errors.ts'
import {
  COLLATERAL_KINDS,
  LONGEST_COLLATERAL,
  LONGEST_RELATIONSHIP,
  LONGEST_RELEASE,
} from '../../domain/loan/security.ts'
import {
  addCollateral,
  type CollateralView,
  listCollateral,
  releaseCollateral,
} from '../../services/loans/security/collateral.ts'
import {
  addGuarantor,
  type GuarantorRequest,
  type GuarantorView,
  listGuarantors,
  releaseGuarantor,
} from '../../services/loans/security/guarantors.ts'
import { type Desk, dayOf, type Fields, idOf, textOf, wordOf } from '../desk.ts'
import { money, table } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'
import type { Step } from '../routes/flow.ts'
import { amountOf, type Field } from './actions.ts'

/** The most guarantors, and the most collateral, on the page of a loan. */
const MOST_SHOWN = 100

type Request = Pick<FastifyRequest<{ Params: Readonly<Record<'id' | 'partId', string>> }>, 'desk' | 'params'>

const RANGE = { rows: MOST_SHOWN, page: 1 }

/** Builds who answers for a loan and what it is secured by, with the links by which an ADMIN changes it. */
export async function securityOf(desk: Desk, loanId: bigint): Promise<Html> {
  const { deps, caller, say, may } = desk
  const [guarantors, collateral] = await Promise.all([
    listGuarantors(deps, caller, { id: loanId }, RANGE),
    listCollateral(deps, caller, { id: loanId }, RANGE),
  ])
  const link = (action: 'guarantor' | 'collateral', word: 'addGuarantor' | 'addCollateral') =>
    may(pageNeeds(`/loans/:id/add/${action}`)) &&
    html`<p class="actions"><a href="/loans/${loanId}/add/${action}">${say(word)}</a></p>`
  return html`${guarantorTable(desk, guarantors.items)}
${link('guarantor', 'addGuarantor')}
${collateralTable(desk, collateral.items)}
${link('collateral', 'addCollateral')}`
}

/** What the last column says of a guarantor or collateral: the release, or the link to it. */
const releaseIn = (
  { say, may }: Desk,
  path: string,
  { releasedOn, releaseReason }: { readonly releasedOn: string | null; readonly releaseReason: string | null },
) =>
  releasedOn === null
    ? may(pageNeeds('/loans/:id/guarantors/:partId/do/release')) && html`<a href="${path}">${say('release')}</a>`
    : `${releasedOn}: ${releaseReason}`

function guarantorTable(desk: Desk, items: readonly GuarantorView[]): Html {
  const { say } = desk
  const nameOf = ({ guarantor: { customerId }, identity }: GuarantorView) => {
    if (customerId !== null) return html`<a href="/customers/${customerId}">${say('customer')} ${customerId}</a>`
    return identity ? fullName(identity) || (identity.idNumber ?? '–') : '–'
  }
  const rows = items.map((view) => {
    const { guarantor, currency } = view
    return [
      guarantor.id,
      nameOf(view),
      guarantor.relationship,
      guarantor.amount === null ? say('guaranteedAll') : money(guarantor.amount, currency),
      guarantor.fromDate,
      guarantor.untilDate ?? '',
      releaseIn(desk, `/loans/${guarantor.loanId}/guarantors/${guarantor.id}/do/release`, guarantor),
    ]
  })
  return table(
    say('guarantors'),
    [
      [say('id')],
      [say('guarantor'), 'words'],
      [say('relationship'), 'words'],
      [say('amount'), 'figure'],
      [say('from')],
      [say('guaranteedUntil')],
      [say('releasedOn'), 'words'],
    ],
    rows,
    say('noGuarantor'),
  )
}

function collateralTable(desk: Desk, items: readonly CollateralView[]): Html {
  const { say } = desk
  const rows = items.map(({ collateral, currency, details }) => [
    collateral.id,
    say(`kind_${collateral.kind}`),
    details?.description ?? '–',
    details?.registration ?? '',
    details?.owner ?? '',
    money(collateral.value, currency),
    collateral.valuedOn,
    releaseIn(desk, `/loans/${collateral.loanId}/collateral/${collateral.id}/do/release`, collateral),
  ])
  return table(
    say('collateral'),
    [
      [say('id')],
      [say('kind')],
      [say('description'), 'words'],
      [say('registration')],
      [say('owner'), 'words'],
      [say('collateralValue'), 'figure'],
      [say('valuedOn')],
      [say('releasedOn'), 'words'],
    ],
    rows,
    say('noCollateral'),
  )
}

const IDENTITY_TEXTS = ['firstName', 'middleName', 'lastName', 'phone', 'idNumber'] as const

const textField = (name: (typeof IDENTITY_TEXTS)[number]): Field => ({
  name,
  word: name,
  kind: 'text',
  longest: LONGEST_IDENTITY[name],
})

const GUARANTOR_FIELDS: readonly Field[] = [
  { name: 'customer', word: 'guarantorCustomer', kind: 'text', longest: 100 },
  ...(['firstName', 'middleName', 'lastName', 'phone'] as const).map(textField),
  {
    name: 'idType',
    word: 'idType',
    kind: 'choice',
    choices: [['', 'person_unknown'], ...ID_TYPES.map((one) => [one, `person_${one}`] as const)],
  },
  textField('idNumber'),
  { name: 'relationship', word: 'relationship', kind: 'text', isRequired: true, longest: LONGEST_RELATIONSHIP },
  { name: 'amount', word: 'guaranteed', kind: 'amount' },
  { name: 'from', word: 'guaranteedFrom', kind: 'date' },
  { name: 'until', word: 'guaranteedUntil', kind: 'date' },
]

const COLLATERAL_FIELDS: readonly Field[] = [
  {
    name: 'kind',
    word: 'kind',
    kind: 'choice',
    choices: COLLATERAL_KINDS.map((one) => [one, `kind_${one}`] as const),
  },
  { name: 'description', word: 'description', kind: 'text', isRequired: true, longest: LONGEST_COLLATERAL.description },
  { name: 'value', word: 'collateralValue', kind: 'amount', isRequired: true },
  { name: 'date', word: 'valuedOnOrToday', kind: 'date' },
  { name: 'registration', word: 'registration', kind: 'text', longest: LONGEST_COLLATERAL.registration },
  { name: 'owner', word: 'owner', kind: 'text', longest: LONGEST_COLLATERAL.owner },
]

const RELEASE_FIELDS: readonly Field[] = [
  { name: 'reason', word: 'reason', kind: 'text', isRequired: true, longest: LONGEST_RELEASE },
  { name: 'date', word: 'releaseOn', kind: 'date' },
]

/** Reads a text of a form; undefined where it is empty. @throws LendingError `invalid_argument` */
function wordsIn(fields: Fields, name: string, max: number): string | undefined {
  const given = textOf(fields, name)?.trim()
  if (given === undefined) return undefined
  const read = textSchema({ max }).safeParse(given)
  if (read.success) return read.data
  throw new LendingError('invalid_argument', `${name}: ${read.error.issues[0]?.message ?? 'is not a text'}`)
}

/** Reads a text that a form must have. @throws LendingError `invalid_argument` */
function requiredIn(fields: Fields, name: string, max: number): string {
  const given = wordsIn(fields, name, max)
  if (given === undefined) throw new LendingError('invalid_argument', `${name} is required`)
  return given
}

const amountIn = (fields: Fields) => (textOf(fields, 'amount', 64) === undefined ? undefined : amountOf(fields))

/** Reads the form of a guarantor: a customer, or else a person. */
function guarantorIn(fields: Fields): GuarantorRequest {
  const externalId = wordsIn(fields, 'customer', 100)
  const texts = IDENTITY_TEXTS.map((name) => [name, wordsIn(fields, name, LONGEST_IDENTITY[name])] as const)
  const identity = identityOf({ ...Object.fromEntries(texts), idType: wordOf(ID_TYPES, fields, 'idType') })
  const isPerson = texts.some(([, value]) => value !== undefined)
  if (isPerson === (externalId !== undefined))
    throw new LendingError('invalid_argument', 'either a customer or a person has to be given')
  return {
    who: externalId === undefined ? { identity } : { customer: { externalId } },
    relationship: requiredIn(fields, 'relationship', LONGEST_RELATIONSHIP),
    amount: amountIn(fields),
    from: dayOf(fields, 'from'),
    until: dayOf(fields, 'until'),
  }
}

/** Reads the form of collateral. */
const collateralIn = (fields: Fields) => ({
  kind: wordOf(COLLATERAL_KINDS, fields, 'kind') ?? 'other',
  description: requiredIn(fields, 'description', LONGEST_COLLATERAL.description),
  registration: wordsIn(fields, 'registration', LONGEST_COLLATERAL.registration) ?? null,
  owner: wordsIn(fields, 'owner', LONGEST_COLLATERAL.owner) ?? null,
  value: amountOf(fields, 'value'),
  valuedOn: dayOf(fields, 'date'),
})

const releaseOf = (fields: Fields) => ({
  reason: requiredIn(fields, 'reason', LONGEST_RELEASE),
  releasedOn: dayOf(fields, 'date'),
})

/** Shows the guarantors or the collateral as they are, by which a form knows whether they have changed. */
async function shownNow(desk: Desk, loanId: bigint, things: 'guarantors' | 'collateral') {
  const { deps, caller } = desk
  const plain = { ...desk, may: () => false }
  if (things === 'guarantors') {
    const { items } = await listGuarantors(deps, caller, { id: loanId }, RANGE)
    const mark = [items.length, ...items.map(({ guarantor }) => `${guarantor.id} ${guarantor.updatedAt}`)].join(' ')
    return { view: guarantorTable(plain, items), mark }
  }
  const { items } = await listCollateral(deps, caller, { id: loanId }, RANGE)
  const mark = [items.length, ...items.map(({ collateral }) => `${collateral.id} ${collateral.updatedAt}`)].join(' ')
  return { view: collateralTable(plain, items), mark }
}

/** Returns the steps of recording a guarantor. */
export async function guarantorStep({ desk, params }: Request): Promise<Step> {
  const { deps, say } = desk
  const id = idOf(params.id, 'loan')
  return {
    title: say('titleGuarantor', { id }),
    means: say('meansGuarantor'),
    fields: GUARANTOR_FIELDS,
    values: {},
    back: `/loans/${id}`,
    show(fields) {
      guarantorIn(fields)
      return shownNow(desk, id, 'guarantors')
    },
    async run(by, fields) {
      await addGuarantor(deps, by, { id }, guarantorIn(fields))
      return 'doneGuarantor'
    },
  }
}

/** Returns the steps of recording collateral. */
export async function collateralStep({ desk, params }: Request): Promise<Step> {
  const { deps, say } = desk
  const id = idOf(params.id, 'loan')
  return {
    title: say('titleCollateral', { id }),
    means: say('meansCollateral'),
    fields: COLLATERAL_FIELDS,
    values: {},
    back: `/loans/${id}`,
    show(fields) {
      collateralIn(fields)
      return shownNow(desk, id, 'collateral')
    },
    async run(by, fields) {
      await addCollateral(deps, by, { id }, collateralIn(fields))
      return 'doneCollateral'
    },
  }
}

/** Returns the steps of a release: of a guarantor, or of collateral. */
export async function releaseStep({ desk, params }: Request, things: 'guarantors' | 'collateral'): Promise<Step> {
  const { deps, say } = desk
  const isGuarantor = things === 'guarantors'
  const [loanId, id] = [idOf(params.id, 'loan'), idOf(params.partId, isGuarantor ? 'guarantor' : 'collateral')]
  return {
    title: say(isGuarantor ? 'titleReleaseGuarantor' : 'titleReleaseCollateral', { id }),
    means: say('meansRelease'),
    fields: RELEASE_FIELDS,
    values: {},
    back: `/loans/${loanId}`,
    show(fields) {
      releaseOf(fields)
      return shownNow(desk, loanId, things)
    },
    async run(by, fields) {
      const of = { ref: { id: loanId }, id }
      if (isGuarantor) await releaseGuarantor(deps, by, of, releaseOf(fields))
      else await releaseCollateral(deps, by, of, releaseOf(fields))
      return isGuarantor ? 'doneReleaseGuarantor' : 'doneReleaseCollateral'
    },
  }
}
