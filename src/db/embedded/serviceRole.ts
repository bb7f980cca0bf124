import { randomBytes } from 'node:crypto'
import { chown, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { DataDirectory } from './dataDirectory.ts'

const NAME = 'mkopo_service'

/** The attributes of the role: it may sign in, and has no rights beyond those that are granted to it. */
const ATTRIBUTES = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS'

interface State {
  readonly isStandby: boolean
  /** Whether the role is there and has these attributes. */
  readonly isRight: boolean
}

const STATE = `SELECT pg_is_in_recovery() AS "isStandby", EXISTS (
  SELECT FROM pg_roles WHERE rolname = '${NAME}' AND rolcanlogin
    AND NOT (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)) AS "isRight"`

/**
 * Makes the role that the service works with, where the server has none: a new server, and one that an earlier version
 * made. Its password is kept beside that of the owner.
 * @param url by the owner, a superuser
 * @returns the URL by the service's role; on a standby, where no role can be made, the owner's
 */
export async function addServiceRole(place: DataDirectory, url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { isStandby, isRight } = (await client.query<State>(STATE)).rows[0]!
    if (isStandby) return url
    const password = await keepPassword(place)
    const serviceUrl = Object.assign(new URL(url), { username: NAME, password }).href
    if (isRight && (await signsIn(serviceUrl))) return serviceUrl
    const how = `${ATTRIBUTES} PASSWORD ${pg.escapeLiteral(password)}`
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [NAME])
    await client.query(`${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${NAME} ${how}`)
    return serviceUrl
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The password of the role, made where there is none. The file gets its name when it is whole. */
async function keepPassword({ home, user }: DataDirectory): Promise<string> {
  const path = join(home, 'postgres', 'service-password')
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (kept.trim() !== '') return kept.trim()
  const password = randomBytes(24).toString('hex')
  await writeFile(`${path}.new`, `${password}\n`, { mode: 0o600 })
  if (user) await chown(`${path}.new`, user.uid, user.gid)
  await rename(`${path}.new`, path)
  return password
}

/** Whether the server accepts the password, which may have been changed. */
async function signsIn(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    // invalid_password, invalid_authorization_specification
    if (error instanceof pg.DatabaseError && error.code?.startsWith('28')) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}
