import { createHash } from 'node:crypto'
import type { KeyedLine } from '../../db/exports/lines.ts'
import type { Writing } from '../deps.ts'

type PeopleDeps = Pick<Writing, 'people'>

/** A customer, and the key of the customer; null: the customer was erased, and nothing is known of who it was. */
interface Keyed {
  readonly organizationId: number
  readonly customerId: bigint
  readonly personKey: string | null
}

/**
 * Encrypts what a file has of a loan by the key of its customer, so that it is gone with the key. Of a customer who was erased
 * no word is known, and what the file has is plain.
 */
export function sealContent({ people }: PeopleDeps, { organizationId, customerId, personKey }: Keyed, content: string) {
  if (personKey === null) return { content, isSealed: false }
  return { content: people.sealText({ organizationId, id: customerId }, content, personKey), isSealed: true }
}

/** Returns the hash by which a line is compared with another one: it says nothing once the key of the customer is destroyed. */
export const hashOfLine = ({ people }: PeopleDeps, { personKey }: Pick<Keyed, 'personKey'>, line: string): Buffer =>
  personKey === null ? plainHash(line) : people.hashText(line, personKey)

const plainHash = (line: string): Buffer => createHash('sha256').update(line).digest()

/** Returns whether a hash is that of a line: by the key of the customer, or plain, of one who was erased. */
export const isHashOf = (known: Uint8Array, hash: Buffer, line: string): boolean =>
  hash.equals(known) || plainHash(line).equals(known)

/** Decrypts what a file has of a loan; undefined where the key of the customer was destroyed. @throws WrongSecretError */
export function openContent(
  { people }: PeopleDeps,
  organizationId: number,
  { customerId, content, isSealed, personKey }: KeyedLine,
): string | undefined {
  if (!isSealed || content === null) return content ?? undefined
  // Under another key than that of the line, the first was destroyed.
  return personKey === null ? undefined : people.readText({ organizationId, id: customerId }, content, personKey)
}
