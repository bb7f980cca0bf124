import { createPublicKey, generateKeyPair, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  endSigningKey,
  insertFirstSigningKey,
  insertSigningKey,
  type KeyRecord,
  listKeyRecords,
  listVerifyingKeys,
  type SigningKey,
  WHOLE_SERVICE,
} from '../../db/access/signingKeys.ts'
import type { Author } from '../../db/audit/trail.ts'
import type { Db } from '../../db/postgres/client.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { failedPrecondition, invariant, notFound } from '../../domain/errors.ts'
import { createGate, type GateBounds } from '../../toolbox/gate.ts'
import { createLru } from '../../toolbox/lru.ts'
import { isFresh } from '../../toolbox/readCache.ts'
import { createSingleFlight } from '../../toolbox/singleFlight.ts'
import { createTurns } from '../../toolbox/turns.ts'
import type { Base } from '../base.ts'
import { openSecretBox } from '../secretBox.ts'

export { type KeyRecord, WHOLE_SERVICE } from '../../db/access/signingKeys.ts'
export { WrongSecretError } from '../secretBox.ts'

/** The shortest time between two readings for unknown keys. */
const REREAD_EVERY_MS = 100
/** The most tokens of unknown keys that wait for such a reading. */
export const UNKNOWN_KEY_PLACES: GateBounds = {
  atOnce: 10,
  code: 'unavailable',
  refusal: 'keys are being looked up for others; try again',
  againSeconds: 1,
}
const THINGS = 'signing keys'
/** The most ids of no key that are kept, so that a client that repeats one waits only the first time. */
const MOST_UNKNOWN = 1_000

/** The key that signs now, and those that may still verify, by `kid`. */
interface Ring {
  readonly active: { readonly kid: string; readonly privatePem: string }
  readonly verifying: ReadonlyMap<string, PublicKey>
  readonly readAt: number
}

/** A public key, as PEM for the signer and as JWK for others. */
interface PublicKey {
  readonly pem: string
  readonly published: PublishedKey
}

/** A public key as it is published (RFC 7517). */
export interface PublishedKey {
  readonly kty: string
  readonly use: 'sig'
  readonly alg: 'RS256'
  readonly kid: string
  readonly n: string
  readonly e: string
}

/** The signing keys of the service, shared by its instances through the database. */
export interface KeyRing {
  /** Returns the key that signs now. */
  signing(): Promise<Ring['active']>
  /**
   * Returns the public key of an id, as PEM; undefined when no such key may verify. Finds a new key as soon as it
   * signs.
   * @throws LendingError `unavailable` where many unknown keys are being looked for
   */
  verifying(kid: string): Promise<string | undefined>
  /** Returns whether a key may still verify. */
  stillVerifies(kid: string): Promise<boolean>
  /** Returns every key that may still verify, with the key that signs first. */
  published(): Promise<readonly PublishedKey[]>
}

/**
 * Opens the key ring; makes the service's first key pair where there is none.
 * @param lastMs the time for which keys that were read are used on while the database does not answer
 * @throws WrongSecretError when the stored key was encrypted with another secret
 */
export async function openKeyRing(db: Db, secret: string, now: () => number, lastMs = 0): Promise<KeyRing> {
  const { decrypt } = openSecretBox(secret, THINGS)
  const readNow = () => readRing(db, decrypt, now())
  let first = await readNow()
  if (!first) {
    await insertFirstSigningKey(db, await makeSigningKey(secret), now())
    first = await readNow()
  }
  invariant(first, 'a signing key after one was made')
  const latest = keepLatest(first, readNow)
  const fresh = createRefresh(latest, now, lastMs)
  const readAgain = createReread(latest, now)
  const unknown = createLru<string, true>(MOST_UNKNOWN)

  return {
    signing: async () => (await fresh()).active,
    stillVerifies: async (kid) => (await fresh()).verifying.has(kid),
    async verifying(kid) {
      const known = (await fresh()).verifying.get(kid)?.pem
      if (known || unknown.has(kid)) return known
      await readAgain()
      const { verifying } = latest.current()
      // A token is signed after its key was stored, so a key that is not stored by now never will be.
      if (!verifying.has(kid)) unknown.set(kid, true)
      return verifying.get(kid)?.pem
    },
    async published() {
      const { active, verifying } = await fresh()
      const others = [...verifying].filter(([kid]) => kid !== active.kid).map(([, key]) => key)
      return [verifying.get(active.kid)!, ...others].map(({ published }) => published)
    },
  }
}

/** The key under which readings of the ring are shared: there is one ring. */
const RING = 'ring'

/** The ring that was read last. */
interface LatestRing {
  current(): Ring
  read(): Promise<void>
}

/** Keeps the ring that was read last; of two readings at once, the one that began last counts. */
function keepLatest(first: Ring, readNow: () => Promise<Ring | undefined>): LatestRing {
  let current = first
  const turns = createTurns<typeof RING>()
  return {
    current: () => current,
    async read() {
      const turn = turns.begin()
      const ring = await readNow()
      invariant(ring, 'a signing key that is active')
      if (turns.keeps(RING, turn)) current = ring
    },
  }
}

/** The wait for a reading, where keys that were read before may be used on. */
const PATIENCE_MS = 500

/**
 * Returns a function that returns the ring, read again where it is not fresh; calls at once share one reading. A reading that fails, or
 * takes long, leaves the ring as it was for `lastMs`.
 */
function createRefresh(latest: LatestRing, now: () => number, lastMs: number): () => Promise<Ring> {
  const share = createSingleFlight<typeof RING, void>()
  const mayLast = () => now() - latest.current().readAt < lastMs
  return async () => {
    if (isFresh(latest.current().readAt, now())) return latest.current()
    const reading = share(RING, () => latest.read())
    if (!mayLast()) await reading
    else
      await Promise.race([reading, pause(PATIENCE_MS)]).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error
      })
    return latest.current()
  }
}

/**
 * Returns a function that waits for a reading that begins after the call: a reading under way may have begun before the
 * key was made. All that wait share one reading, and few may wait: tokens of unknown keys cost their sender nothing,
 * and must not block other requests.
 */
function createReread(latest: LatestRing, now: () => number): () => Promise<void> {
  let rereadAt = Number.NEGATIVE_INFINITY
  const share = createSingleFlight<typeof RING, void>()
  const gate = createGate(UNKNOWN_KEY_PLACES)
  const reread = async (leave: () => void) => {
    const wait = rereadAt + REREAD_EVERY_MS - now()
    await pause(Math.max(0, Math.min(wait, REREAD_EVERY_MS)))
    leave()
    rereadAt = now()
    await latest.read()
  }
  return () => gate.run({ group: RING }, () => share(RING, reread))
}

async function readRing(db: Db, decrypt: (text: string) => string, readAt: number): Promise<Ring | undefined> {
  const keys = await listVerifyingKeys(db)
  const active = keys.find((key) => key.active)
  if (!active) return undefined
  return {
    active: { kid: active.kid, privatePem: decrypt(active.privateEncrypted) },
    verifying: new Map(keys.map(({ kid, publicPem }) => [kid, readPublicKey(kid, publicPem)])),
    readAt,
  }
}

function readPublicKey(kid: string, pem: string): PublicKey {
  const { kty = '', n = '', e = '' } = createPublicKey(pem).export({ format: 'jwk' })
  return { pem, published: { kty, use: 'sig', alg: 'RS256', kid, n, e } }
}

/** Makes an RSA key pair, its private key encrypted with the secret. */
export async function makeSigningKey(secret: string): Promise<SigningKey> {
  const pair = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return {
    kid: randomUUID(),
    publicPem: pair.publicKey,
    privateEncrypted: openSecretBox(secret, THINGS).encrypt(pair.privateKey),
  }
}

/** Makes a KEY_ENCRYPTION_SECRET. */
export const makeSecret = (): string => randomBytes(32).toString('base64url')

/** Returns every signing key, retired and revoked ones included, newest first. */
export const listSigningKeys = ({ db }: Pick<Base, 'db'>): Promise<KeyRecord[]> => listKeyRecords(db)

/**
 * Makes a key that signs from now on; earlier keys still verify (contract 3.4). An instance that receives a token of
 * the new key before it has read the keys again reads them then, so that no token is refused.
 * @returns the id of the key
 */
export async function rotateSigningKey({ db, machineNow, config }: Base, author: Author): Promise<string> {
  const secret = config.keyEncryptionSecret
  invariant(secret !== undefined, 'a secret to encrypt the signing keys with')
  const key = await makeSigningKey(secret)
  await insertSigningKey(db, { ...author, organizationId: WHOLE_SERVICE }, key, machineNow())
  return key.kid
}

/**
 * Retires a key: it no longer signs, but still verifies. Where it was the newest, the key before it signs again, which
 * undoes a rotation.
 * @throws LendingError `not_found`; `failed_precondition` when the key is retired already, or is the only one that can
 *   sign
 */
export const retireSigningKey = (
  { db, machineNow }: Pick<Base, 'db' | 'machineNow'>,
  author: Author,
  kid: string,
): Promise<void> => endKey(db, author, { kid, end: 'retired' }, machineNow())

/**
 * Revokes a key: within 5 s it verifies nothing on any instance (contract 3.6), and a client with a token of it has to
 * sign in again.
 * @throws LendingError as `retireSigningKey` does
 */
export const revokeSigningKey = (
  { db, machineNow }: Pick<Base, 'db' | 'machineNow'>,
  author: Author,
  kid: string,
): Promise<void> => endKey(db, author, { kid, end: 'revoked' }, machineNow())

async function endKey(
  db: Base['db'],
  author: Author,
  key: { readonly kid: string; readonly end: 'retired' | 'revoked' },
  now: number,
): Promise<void> {
  const ended = await endSigningKey(db, { ...author, organizationId: WHOLE_SERVICE }, key, now)
  if (ended === 'done') return
  if (ended === 'missing') throw notFound('no signing key has that id')
  if (ended === 'isLast')
    throw failedPrecondition('it is the only key that can sign; make a new one first, with keys rotate')
  throw failedPrecondition(`the key is ${ended.isAlready} already`)
}
