import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Stands before an id that a caller chose; no caller can choose one that begins with it, since it has a colon. */
const CHOSEN = 'caller:'

/**
 * The id of a request, for the log and the trails. Where the caller sent an id that is fit for a header and a log line, it
 * is that, marked as the caller's: otherwise a caller could pass for another request, or for a run of the command line.
 */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,100}$/.test(given) ? `${CHOSEN}${given}` : randomUUID()
}

/** The id as the caller knows it: their own, or the one that the service gave. */
export const toCaller = (requestId: string): string =>
  requestId.startsWith(CHOSEN) ? requestId.slice(CHOSEN.length) : requestId
