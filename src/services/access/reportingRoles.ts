import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import type { Author } from '../../db/audit/trail.ts'
import { findReaders, grantReader, type Reader, revokeReader } from '../../db/postgres/readers.ts'
import { failedPrecondition, invalidArgument, LendingError, notFound } from '../../domain/errors.ts'
import type { Base } from '../base.ts'

export type { Reader } from '../../db/postgres/readers.ts'

type OwnerDeps = Pick<Base, 'db' | 'machineNow'>

/** The most that a statement of a role takes, unless its session says otherwise. */
export const STATEMENT_TIMEOUT_MS = 60_000
/** The most sessions that a role may be given. */
export const MOST_CONNECTIONS = 100
const SHORTEST_PASSWORD = 12
const LONGEST_PASSWORD = 200
/** The names that Postgres takes as they are: no other name needs quotes in the settings of a tool. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/
const DENIED = '42501'

/** The name of a role that reads, where none is given. */
export const readerNameOf = (organizationId: number): string => `mkopo_reporting_${organizationId}`

/** A role to be granted. */
export interface ReaderRequest extends Reader {
  readonly password: string
  readonly connections: number
}

/**
 * Makes a role of the database that reads the views of `reporting`, and there the rows of its organization alone; where the
 * organization has it already, gives it another password.
 * @param deps with the database as the owner of the tables
 * @throws LendingError `invalid_argument`, `failed_precondition`
 */
export async function grantReporting(
  { db, machineNow }: OwnerDeps,
  author: Author,
  { role, organizationId, password, connections }: ReaderRequest,
): Promise<void> {
  requireName(role)
  if (!/^[!-~]+$/.test(password) || password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD)
    throw invalidArgument(
      'password',
      `must be ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} printable ASCII characters, without spaces`,
    )
  if (!Number.isInteger(connections) || connections < 1 || connections > MOST_CONNECTIONS)
    throw new LendingError('invalid_argument', `the sessions at a time must be 1 to ${MOST_CONNECTIONS}`)
  const verifier = verifierOf(password)
  const rights = { role, organizationId, verifier, connections, statementTimeoutMs: STATEMENT_TIMEOUT_MS }
  const granted = await grantReader(db, author, machineNow(), rights).catch(notTheOwner)
  if (granted === 'of another organization')
    throw failedPrecondition(`the role ${role} reads another organization: name another role`)
  if (granted === 'not made here')
    throw failedPrecondition(`the server has a role ${role} already, which was not made here: name another role`)
}

/**
 * Takes the rights of a role that reads, ends its sessions and drops it.
 * @param deps with the database as the owner of the tables
 * @throws LendingError `not_found`, `failed_precondition`
 */
export async function revokeReporting({ db, machineNow }: OwnerDeps, author: Author, reader: Reader): Promise<void> {
  requireName(reader.role)
  if (!(await revokeReader(db, author, machineNow(), reader).catch(notTheOwner)))
    throw notFound(`the organization has no role ${reader.role} that reads`)
}

/** Returns the roles that read, of all organizations. @param deps with the database as the owner of the tables */
export const listReporting = ({ db }: Pick<Base, 'db'>): Promise<Reader[]> => findReaders(db).catch(notTheOwner)

function requireName(role: string): void {
  if (!NAME.test(role))
    throw new LendingError(
      'invalid_argument',
      'the name of a role must be of a-z, 0-9 and _, have 63 characters at most, and begin with a letter',
    )
}

/** Says whom the command needs, where the role of the connection may not do it. */
function notTheOwner(error: unknown): never {
  if ((error as { code?: unknown }).code !== DENIED) throw error
  throw failedPrecondition(
    'this takes the role that owns the tables, and may make roles (CREATEROLE): set DATABASE_OWNER_URL to its URL',
  )
}

const ITERATIONS = 4_096
const KEY_BYTES = 32

/** Returns the verifier of a password for SCRAM-SHA-256 (RFC 5803), as Postgres stores it: no log of the server has the password then. */
function verifierOf(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, KEY_BYTES, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  const server = keyOf('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`
}
