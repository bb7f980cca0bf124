import { createHash, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { SealedPerson } from '../../db/customers/identities.ts'
import type { PersonBox, Whose } from '../../db/customers/personBox.ts'
import {
  type Identity,
  identityFromText,
  identityToText,
  phoneTerm,
  searchedTerms,
  termsOfIdentity,
  UNKNOWN,
} from '../../domain/customer/identity.ts'
import {
  decryptWith,
  encryptAlike,
  encryptWith,
  openSecretBox,
  partsFromText,
  partsToText,
  WrongSecretError,
} from '../secretBox.ts'

/** What a search for a person asks the database for: all of some hashes, or any of them. */
export type PersonHashes = { readonly all: readonly bigint[] } | { readonly any: readonly bigint[] }

/** Encrypts who customers are, each with a key of its own, and makes the hashes by which they are found. */
export interface People extends PersonBox {
  /**
   * Encrypts an identity.
   * @param identity null: nothing is known
   * @param personKey the key that the customer has, encrypted; null: a new one is made
   */
  seal(whose: Whose, identity: Identity | null, personKey: string | null): SealedPerson & { readonly personKey: string }
  /** Returns the hashes by which a customer of this identity is found. @param identity null: nothing is known */
  hashesOf(organizationId: number, identity: Identity | null): readonly bigint[]
  /** Returns who a customer is; undefined where nothing is known. @throws WrongSecretError */
  open(whose: Whose, person: Pick<SealedPerson, 'personKey' | 'identity'>): Identity | undefined
  /** Returns a hash of a text that says nothing once the key of the customer is destroyed. */
  hashText(text: string, personKey: string): Buffer
  /** Returns the hashes of what somebody searches for; undefined for a text that no person can be found by. */
  searched(organizationId: number, text: string): PersonHashes | undefined
  /** Returns the hash of a phone number; null where there is none. */
  phoneHash(organizationId: number, phone: string | null): bigint | null
  /** Returns the hash by which an erased customer is recognised whose externalId comes again. */
  externalIdHash(organizationId: number, externalId: string): bigint
}

/** One salt for all keys, so that the key which encrypts them is derived once in a process. */
const SALT = createHash('sha256').update('mkopo people').digest().subarray(0, 16)

const KEY_BYTES = 32

/**
 * Opens the keys of people. The key of a person is random, and encrypted with a key derived from KEY_ENCRYPTION_SECRET: once it is
 * destroyed, nobody reads what was encrypted with it, in a backup or in the trail either.
 */
export function openPeople(secret: string): People {
  const box = openSecretBox(secret, 'keys of people', SALT)
  const searchKey = Buffer.from(hkdfSync('sha256', secret, '', 'mkopo search for people 1', KEY_BYTES))
  const keyOf = (personKey: string): KeyObject => createSecretKey(Buffer.from(box.decrypt(personKey), 'base64url'))
  const hashOf = (organizationId: number, term: string): bigint =>
    createHmac('sha256', searchKey).update(`${organizationId} ${term}`).digest().readBigInt64BE()
  const externalIdHash = (organizationId: number, externalId: string) =>
    hashOf(organizationId, `externalId ${externalId}`)
  const openText = (whose: Whose, text: string, personKey: string): string =>
    decryptWith(keyOf(personKey), partsFromText(text), boundTo(whose))
  const hashesOf = (organizationId: number, identity: Identity | null): readonly bigint[] =>
    termsOfIdentity(identity ?? UNKNOWN).map((term) => hashOf(organizationId, term))
  const newKey = () => box.encrypt(randomBytes(KEY_BYTES).toString('base64url'))
  return {
    newKey,
    sealText: (whose, text, personKey) => partsToText(encryptAlike(keyOf(personKey), text, boundTo(whose))),
    openText,
    readText(whose, text, personKey) {
      try {
        return openText(whose, text, personKey)
      } catch (error) {
        if (error instanceof WrongSecretError) throw error
        return undefined
      }
    },
    seal(whose, identity, known) {
      const personKey = known ?? newKey()
      return {
        personKey,
        identity: identity && partsToText(encryptWith(keyOf(personKey), identityToText(identity), boundTo(whose))),
        identityHashes: hashesOf(whose.organizationId, identity),
      }
    },
    hashesOf,
    open(whose, { personKey, identity }) {
      if (personKey === null || identity === null) return undefined
      return identityFromText(decryptWith(keyOf(personKey), partsFromText(identity), boundTo(whose)))
    },
    hashText: (text, personKey) => createHmac('sha256', keyOf(personKey)).update(text).digest(),
    searched(organizationId, text) {
      const terms = searchedTerms(text)
      const hashes = (list: readonly string[]) => list.map((term) => hashOf(organizationId, term))
      // A person who was erased is found by the externalId alone.
      const asked =
        'any' in terms
          ? { any: [...hashes(terms.any), externalIdHash(organizationId, text)] }
          : { all: hashes(terms.words) }
      return Object.values(asked)[0]!.length === 0 ? undefined : asked
    },
    phoneHash(organizationId, phone) {
      const term = phone === null ? '' : phoneTerm(phone)
      return term === '' ? null : hashOf(organizationId, term)
    },
    externalIdHash,
  }
}

const boundTo = ({ entity = 'customer', organizationId, id }: Whose): string => `${entity} ${organizationId}/${id}`
