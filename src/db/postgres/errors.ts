/** The properties that an error of the driver, the pool or Prisma may have, at any depth. */
interface Fault {
  readonly code?: unknown
  readonly originalCode?: unknown
  readonly kind?: unknown
  readonly constraint?: unknown
  readonly message?: unknown
  readonly cause?: unknown
  readonly meta?: { readonly driverAdapterError?: unknown } | undefined
  readonly errors?: unknown
}

/**
 * SQLSTATE: no connection, shutting down or starting; a standby that is not promoted; no room, memory or connection left,
 * the disk's own errors; and what took too long: a statement, a wait for a row, a pause within a transaction.
 */
const unavailableState = /^(08...|25006|53...|57P0[1235]|58030|57014|55P03|25P03)$/

const unavailableCode = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // This process has no file left to open a connection with.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  // Prisma: not reachable, timed out (two kinds), closed, no connection in time, too many connections.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2037',
])

/** Prisma's adapter has names of its own for what the driver said. */
const unavailableKind = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'])

/** pg and its pool give these no code. */
const unavailableMessage =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/** Prisma gives all faults of its transactions one code: these had no connection in time, or took too long and were rolled back. */
const unavailableTransaction =
  /Transaction API error: (Unable to start a transaction in the given time|A \w+ cannot be executed on an expired transaction)/

/** Whether the database could not be reached or did not answer in time: worth trying again, and nobody's mistake. */
export function isUnavailable(error: unknown): boolean {
  return faultsOf(error).some(
    ({ code, originalCode, kind, message }) =>
      [code, originalCode].some(
        (text) => typeof text === 'string' && (unavailableState.test(text) || unavailableCode.has(text)),
      ) ||
      (typeof kind === 'string' && unavailableKind.has(kind)) ||
      (typeof message === 'string' && (unavailableMessage.test(message) || unavailableTransaction.test(message))),
  )
}

/** SQLSTATE: the server is a standby, or was made read-only: its connections are of no use for changes. */
export const READ_ONLY = '25006'

/** SQLSTATE: the disk is full, or cannot be written to. */
export const DISK_FAILS: ReadonlySet<unknown> = new Set(['53100', '58030'])

/** Whether a unique index (`constraint`, or any) refused the row; from `pg` and from Prisma alike. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const faults = faultsOf(error)
  const unique = faults.some(
    ({ code, originalCode, kind }) =>
      code === '23505' || originalCode === '23505' || code === 'P2002' || kind === 'UniqueConstraintViolation',
  )
  return unique && (constraint === undefined || faults.some((fault) => constraintOf(fault) === constraint))
}

/** Whether a row was refused because it refers to a row that is not there, or a deletion because a row refers to it. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  faultsOf(error).some(({ code, originalCode }) => (originalCode ?? code) === '23503')

/** Two statements waited for each other, and this one was ended: the same again will do. */
export const isConflict = (error: unknown): boolean =>
  faultsOf(error).some(({ code, originalCode }) => ['40P01', '40001'].includes(String(originalCode ?? code)))

/** Whether a statement waited too long for a row that another transaction has locked. */
export const isLockTimeout = (error: unknown): boolean =>
  faultsOf(error).some(({ code, originalCode }) => (originalCode ?? code) === '55P03')

/** SQLSTATE: the organization is being moved to another book, or was moved (contract 20). */
const MOVED = 'MK001'

/** Whether a change was refused because its organization is being moved to another book, or was moved: there the same will do. */
export const isMoved = (error: unknown): boolean =>
  faultsOf(error).some(({ code, originalCode }) => (originalCode ?? code) === MOVED)

/**
 * Whether a request that met an error is to be sent again: the database could not be reached, two statements waited for each
 * other, or a row that the request refers to was deleted meanwhile, as when a test organization is emptied. Sent again, the
 * request is answered by what is there then.
 */
export const isWorthRepeating = (error: unknown): boolean =>
  isUnavailable(error) || isConflict(error) || isForeignKeyViolation(error) || isMoved(error)

/**
 * Whether an error may be of some of the rows that a statement carries, their values and keys, or what holds them; or is
 * none of the database's. With any other the same statement would fare no better with fewer rows. SQLSTATE classes: data
 * exception, integrity constraint violation, transaction rollback; a program limit, a corrupted page or index; and an
 * organization that was moved.
 */
export const mayBeCausedByRow = (error: unknown): boolean =>
  faultsOf(error).every(
    ({ code }) => typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || /^(22|23|40|54000|XX00[12]|MK)/.test(code),
  )

/** The driver gives the name, Prisma's adapter `{ index: name }`. */
function constraintOf({ constraint }: Fault): unknown {
  return typeof constraint === 'object' && constraint !== null && 'index' in constraint ? constraint.index : constraint
}

/** The error and those it wraps, outermost first. */
function faultsOf(error: unknown, depth = 0): Fault[] {
  if (typeof error !== 'object' || error === null || depth > 5) return []
  const fault: Fault = error
  const inner = [fault.cause, fault.meta?.driverAdapterError, ...(Array.isArray(fault.errors) ? fault.errors : [])]
  return [fault, ...inner.flatMap((wrapped) => faultsOf(wrapped, depth + 1))]
}

/**
 * Milliseconds before the next try. Uneven, so that two instances on the same loan both get through; and ever longer, 6 s
 * over all tries: a batch of an import may lock the loan for a second or two.
 */
export const backoffMs = (tries: number): number => (Math.random() * tries ** 2) / 6
