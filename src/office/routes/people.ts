import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { html } from '../../api/http/html.ts'
import { IDENTITY_MEMBERS, toIdentity, toIdentityView, verificationRequest } from '../../api/lists/identity.ts'
import {
  GENDERS,
  ID_TYPES,
  type Identity,
  identityToText,
  LONGEST_IDENTITY,
  LONGEST_REFERENCE,
  requirePossible,
  VERIFICATION_RESULTS,
} from '../../domain/customer/identity.ts'
import { dateIn } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import { getIdentity, identifyCustomer } from '../../services/customers/customers.ts'
import { type Fields, idOf, textOf } from '../desk.ts'
import type { Field } from '../loan/actions.ts'
import { identityTiles } from '../pages/customers.ts'
import type { Step } from './flow.ts'

const textField = (name: keyof typeof LONGEST_IDENTITY): Field => ({
  name,
  word: name,
  kind: 'text',
  longest: LONGEST_IDENTITY[name],
})

type PersonName = (typeof GENDERS)[number] | (typeof ID_TYPES)[number] | (typeof VERIFICATION_RESULTS)[number]

/** Returns the field of a choice among names; the first choice is none of them. */
const choiceOf = (name: 'gender' | 'idType' | 'verificationResult', names: readonly PersonName[]): Field => ({
  name,
  word: name,
  kind: 'choice',
  choices: [['', 'person_unknown'], ...names.map((one) => [one, `person_${one}`] as const)],
})

/** The fields of who a customer is. */
export const PERSON_FIELDS: readonly Field[] = [
  textField('firstName'),
  textField('middleName'),
  textField('lastName'),
  { name: 'dateOfBirth', word: 'dateOfBirth', kind: 'date' },
  choiceOf('gender', GENDERS),
  { name: 'nationality', word: 'nationality', kind: 'text', longest: 2 },
  choiceOf('idType', ID_TYPES),
  textField('idNumber'),
  textField('phone'),
  textField('email'),
  textField('address'),
  { name: 'verifiedBy', word: 'verifiedBy', kind: 'text', longest: LONGEST_REFERENCE },
  { name: 'verifiedOn', word: 'verifiedOn', kind: 'date' },
  choiceOf('verificationResult', VERIFICATION_RESULTS),
  { name: 'verificationReference', word: 'verificationReference', kind: 'text', longest: LONGEST_REFERENCE },
]

/** The fields of the check, by the names of its members. */
const CHECK = {
  by: 'verifiedBy',
  on: 'verifiedOn',
  result: 'verificationResult',
  reference: 'verificationReference',
} as const

const schema = z.strictObject({ ...IDENTITY_MEMBERS, verification: verificationRequest.optional() })

/** Reads the form. @throws LendingError `invalid_argument` */
export function identityIn(fields: Fields): Identity {
  const given = (name: string) => textOf(fields, name, LONGEST_IDENTITY.address)?.trim() || undefined
  const check = Object.fromEntries(Object.entries(CHECK).map(([member, name]) => [member, given(name)]))
  const isChecked = Object.values(check).some((value) => value !== undefined)
  const texts = Object.keys(IDENTITY_MEMBERS).map((member) => [member, given(member)])
  const read = schema.safeParse({ ...Object.fromEntries(texts), ...(isChecked && { verification: check }) })
  if (read.success) return toIdentity(read.data)
  const { path, message } = read.error.issues[0]!
  throw new LendingError('invalid_argument', `${path.join('.')}: ${message}`)
}

/** Returns the values with which the form begins: what is known. */
function valuesOf(identity: Identity): Fields {
  const { verification = {}, ...known } = toIdentityView(identity)
  const checked = Object.entries(verification).map(([member, value]) => [CHECK[member as keyof typeof CHECK], value])
  return { ...known, ...Object.fromEntries(checked) }
}

/** Returns the steps of saying who a customer is; for an ADMIN. @throws LendingError `permission_denied`, `not_found` */
export async function identifyStep({
  desk,
  params,
}: Pick<FastifyRequest<{ Params: Readonly<Record<'id', string>> }>, 'desk' | 'params'>): Promise<Step> {
  const { deps, caller, say } = desk
  const id = idOf(params.id, 'customer')
  const known = await getIdentity(deps, caller, { id })
  return {
    title: say('titleIdentify', { id }),
    means: say('meansIdentify'),
    fields: PERSON_FIELDS,
    values: valuesOf(known),
    back: `/customers/${id}`,
    async show(fields) {
      const identity = identityIn(fields)
      requirePossible(identity, dateIn(deps.config.zone, deps.now(caller.organizationId)))
      const now = await getIdentity(deps, caller, { id })
      return { view: html`<h2>${say('now')}</h2>${identityTiles(desk, now)}`, mark: identityToText(now) }
    },
    async run(by, fields) {
      await identifyCustomer(deps, by, { id }, identityIn(fields))
      return 'doneIdentify'
    },
  }
}
