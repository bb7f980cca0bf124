import { timingSafeEqual } from 'node:crypto'
import type { Mac } from './mac.ts'

/** A pool or a connection, with the key of the stamps; undefined: what writes no row of the trail needs none. */
export interface Stamping {
  readonly stampMac: Mac | undefined
}

/** A row of the trail as texts of Postgres: the organization, then the columns of `STAMPED`. */
export interface StampedRow {
  readonly organizationId: number
  /** By the columns of `STAMPED`. */
  readonly texts: readonly (string | null)[]
}

/** The columns of the audit trail that a stamp covers, besides the organization. */
export const STAMPED = [
  'at',
  'account_id',
  'request_id',
  'action',
  'entity',
  'entity_id',
  'before',
  'after',
  'change',
  'unannounced',
] as const

/** The bytes of a stamp: the first half of an HMAC with SHA-256. */
const STAMP = 16

/** Returns the stamp of a row of the trail. */
export const stampOf = (mac: Mac, row: StampedRow): Buffer => mac(rowText(row)).subarray(0, STAMP)

/** Returns the text of a row: each text behind its length, so that no two different rows have the same text. */
function rowText({ organizationId, texts }: StampedRow): string {
  let text = `row 1 ${organizationId}`
  for (const one of texts) text += one === null ? ' -' : ` ${one.length} ${one}`
  return text
}

/** Returns whether a stored stamp is that of the row. @param stamp as a text of Postgres, `\x…`; null: there is none */
export function isStampRight(mac: Mac, row: StampedRow, stamp: string | null): boolean {
  if (stamp === null || !/^\\x[0-9a-f]{32}$/.test(stamp)) return false
  return timingSafeEqual(stampOf(mac, row), Buffer.from(stamp.slice(2), 'hex'))
}

/** Returns an instant as Postgres writes a `timestamptz` in a session of UTC: `2026-01-31 06:30:00.25+00`. */
export function instantText(instant: number): string {
  const text = new Date(instant).toISOString()
  const fraction = text.slice(19, -1).replace(/\.?0+$/, '')
  return `${text.slice(0, 10)} ${text.slice(11, 19)}${fraction}+00`
}
