import { type Identity, UNKNOWN, type Verification } from '../../domain/customer/identity.ts'

// Who a customer is, as columns of files of customers: flat, so that a CSV file has them, too.

const MEMBERS = Object.keys(UNKNOWN).filter((member) => member !== 'verification') as Exclude<
  keyof Identity,
  'verification'
>[]

/** Returns the column of a member of an identity: `personFirstName`. */
export const columnOfMember = (member: string): string => `person${member.charAt(0).toUpperCase()}${member.slice(1)}`

/** The columns of the check of an identity. */
export const CHECK_COLUMNS = {
  by: 'personVerifiedBy',
  on: 'personVerifiedOn',
  result: 'personVerificationResult',
  reference: 'personVerificationReference',
} as const satisfies Record<keyof Verification, string>

type Columns = Readonly<Record<string, string | null>>

/** Returns an identity as columns: null where a member is not known. */
export function identityColumns(identity: Identity): Columns {
  const members = MEMBERS.map((member) => [columnOfMember(member), identity[member]])
  const checks = Object.entries(CHECK_COLUMNS).map(([member, column]) => [
    column,
    identity.verification?.[member as keyof Verification] ?? null,
  ])
  return Object.fromEntries([...members, ...checks]) as Columns
}

/** Takes the columns of an identity out of the fields of a line, by the members of an identity; undefined where it has none. */
export function identityIn(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined {
  const taken = (pairs: readonly (readonly [string, string])[]) =>
    Object.fromEntries(pairs.flatMap(([member, column]) => (fields[column] == null ? [] : [[member, fields[column]]])))
  const members = taken(MEMBERS.map((member) => [member, columnOfMember(member)]))
  const verification = taken(Object.entries(CHECK_COLUMNS))
  const isChecked = Object.keys(verification).length > 0
  if (Object.keys(members).length === 0 && !isChecked) return undefined
  return { ...members, ...(isChecked && { verification }) }
}
