import { createHash } from 'node:crypto'
import { findKept, forgetExpired, type KeptRequest, keepAnswer } from '../../db/access/idempotency.ts'
import { type Claim, isKeyTaken } from '../../db/audit/trail.ts'
import { invalidArgument, invariant, LendingError } from '../../domain/errors.ts'
import type { Deps } from '../deps.ts'
import { openSecretBox, type SecretBox, WrongSecretError } from '../secretBox.ts'
import type { Caller } from './caller.ts'

export type { KeptRequest } from '../../db/access/idempotency.ts'

/** The name of the header. */
export const KEY_HEADER = 'Idempotency-Key'

/** Returns the refusal for a key that another instance stored at the same time. */
export const keyTaken = () =>
  new LendingError('aborted', 'another request with this Idempotency-Key is being answered; try again', [], 1)

/** Waits for a change of the book. @throws LendingError `aborted` where its Idempotency-Key was taken meanwhile */
export async function abortedWhereKeyTaken<T>(change: Promise<T>): Promise<T> {
  try {
    return await change
  } catch (error) {
    throw isKeyTaken(error) ? keyTaken() : error
  }
}

/** The start of a request with a key: the stored result of an earlier request, or the turn to run. */
export type Begun = { readonly kept: KeptRequest } | { readonly turn: Turn }

/** The right to run a request with its key, in this process. */
export interface Turn {
  /** The key, as the change stores it. */
  readonly claim: Claim
  /** Stores the answer of a request that was not refused. */
  keep(answer: { status: number; body: string }): Promise<void>
  /** Returns whether an answer or a change of this request is stored by now, because another instance was faster. */
  isKept(): Promise<boolean>
  /** Ends the turn, so that the next request with the key can run; has to be called after every result. */
  end(): void
}

/** Runs requests with Idempotency-Keys (contract 1.11). */
export interface Idempotency {
  /**
   * Begins a request with a key.
   * @throws LendingError `invalid_argument` when the key was used with another request, `aborted` while that is running
   */
  begin(caller: Caller, key: string, requestHash: string): Promise<Begun>
}

/** One salt for all kept answers, so that their key is derived once in a process. */
const SALT = createHash('sha256').update('mkopo kept answers').digest().subarray(0, 16)

/** Decrypts an answer, which has the words of people; null where KEY_ENCRYPTION_SECRET is another one by now: the answer is built again. */
function opened(box: SecretBox, { status, body }: NonNullable<KeptRequest['answer']>): KeptRequest['answer'] {
  try {
    return { status, body: box.decrypt(body) }
  } catch (error) {
    if (error instanceof WrongSecretError) return null
    throw error
  }
}

/**
 * Creates the store of keys. The SQL statement that makes a change inserts its key too, so that no crash separates them
 * and two instances never both make the change. Requests that run in this process are known without a round trip.
 */
export function createIdempotency({ db, machineNow, config }: Pick<Deps, 'db' | 'machineNow' | 'config'>): Idempotency {
  // Opened with the first answer: the documents of the API are built without a secret.
  let answerBox: SecretBox | undefined
  const box = (): SecretBox => {
    invariant(config.keyEncryptionSecret !== undefined, 'a secret to encrypt the kept answers with')
    answerBox ??= openSecretBox(config.keyEncryptionSecret, 'kept answers', SALT)
    return answerBox
  }
  const find = async (caller: Caller, key: string) => {
    const kept = await findKept(db, caller, key, machineNow())
    return kept && { ...kept, answer: kept.answer && opened(box(), kept.answer) }
  }
  const running = new Set<string>()
  return {
    async begin(caller, key, requestHash) {
      const name = `${caller.organizationId} ${caller.accountId} ${key}`
      if (running.has(name))
        throw new LendingError(
          'aborted',
          `the first request with this ${KEY_HEADER} is still running; try again`,
          [],
          1,
        )
      running.add(name)
      try {
        const kept = await find(caller, key)
        if (kept && kept.requestHash !== requestHash)
          throw invalidArgument('idempotencyKey', 'was used with another request; take a new key for a new request')
        if (kept) {
          running.delete(name)
          return { kept }
        }
        await forgetExpired(db, caller, key, machineNow())
      } catch (error) {
        running.delete(name)
        throw error
      }
      const claim = { key, requestHash, claimedAt: machineNow() }
      return {
        turn: {
          claim,
          keep: ({ status, body }) => keepAnswer(db, caller, claim, { status, body: box().encrypt(body) }),
          isKept: async () => (await findKept(db, caller, key, machineNow()))?.requestHash === requestHash,
          end: () => running.delete(name),
        },
      }
    },
  }
}
