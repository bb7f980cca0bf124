import { createHash } from 'node:crypto'
import { type Attempts, countAttempts } from '../../db/access/counters.ts'
import type { Db } from '../../db/postgres/client.ts'
import { LendingError } from '../../domain/errors.ts'
import { createGate, type GateBounds } from '../../toolbox/gate.ts'

/** A quarter of an hour. */
export const WINDOW_SECONDS = 900

/** The most attempts in the window, failed ones and all, before an e-mail or an address has to wait. */
export const MOST_SIGN_INS = { failures: { email: 10, address: 100 }, all: { email: 100, address: 1_000 } } as const

/** An e-mail that signed in counts as one that did so lately for 30 days. */
const LATELY_SECONDS = 30 * 86_400
/** Sign-ins are noted and not limited by that: no e-mail has so many. */
const NO_LIMIT = 1_000_000_000

/** The attempts of one address that this process handles at once. */
export const SIGN_IN_PLACES: GateBounds = {
  atOnce: Number.POSITIVE_INFINITY,
  ofGroup: 10,
  refusal: 'too many sign-ins at once from this address; try again in 1 s',
  againSeconds: 1,
}

/** An attempt to sign in that is allowed. */
export interface Attempt {
  /** Whether the e-mail signed in lately: such e-mails have places of their own where passwords are checked. */
  readonly signedInLately: boolean
  /** Ends the attempt. An attempt that did not fail, or was not decided, no longer counts as a failure. */
  end(outcome: 'failed' | 'signed in' | 'not decided'): Promise<void>
}

/** Limits the attempts to sign in, by e-mail and by address, before a password is hashed. */
export interface SignInLimits {
  /** Begins an attempt. @throws LendingError `resource_exhausted` when there were too many */
  begin(email: string, address: string): Promise<Attempt>
  /** Lifts the locks of an e-mail or of an address. @returns whether there was one */
  lift(whose: { readonly email: string } | { readonly address: string }): Promise<boolean>
}

/** Returns the key of an e-mail in the counters: a hash, so that the counters hold no e-mails. */
const keyOf = (email: string) => createHash('sha256').update(email.toLowerCase()).digest('base64url')

/** Creates the limits, which all instances on the database share. */
export function createSignInLimits(db: Pick<Db, 'pool'>): SignInLimits {
  const count = (name: string, most: number) => countAttempts(db, name, most, WINDOW_SECONDS)
  const all = {
    email: count('signin-all-email', MOST_SIGN_INS.all.email),
    address: count('signin-all-address', MOST_SIGN_INS.all.address),
  }
  const failures = {
    email: count('signin-email', MOST_SIGN_INS.failures.email),
    address: count('signin-address', MOST_SIGN_INS.failures.address),
  }
  const signedIn = countAttempts(db, 'signed-in-email', NO_LIMIT, LATELY_SECONDS)
  const checking = createGate(SIGN_IN_PLACES)

  return {
    async begin(email, address) {
      const leave = checking.enter({ group: address })
      const taken: (readonly [Attempts, string])[] = []
      const take = async (counter: Attempts, key: string, what: string) => {
        const seconds = await counter.take(key)
        if (seconds > 0) throw tooMany(what, seconds)
        return [counter, key] as const
      }
      const giveBack = () => Promise.all(taken.map(([counter, key]) => counter.giveBack(key)))
      let signedInLately = false
      try {
        await take(all.address, address, 'too many sign-ins')
        await take(all.email, keyOf(email), 'too many sign-ins')
        taken.push(await take(failures.address, address, 'too many failed sign-ins'))
        taken.push(await take(failures.email, keyOf(email), 'too many failed sign-ins'))
        signedInLately = await signedIn.has(keyOf(email))
      } catch (error) {
        leave()
        throw error
      }
      return {
        signedInLately,
        async end(outcome) {
          leave()
          if (outcome !== 'failed') await giveBack()
          if (outcome === 'signed in') await signedIn.take(keyOf(email))
        },
      }
    },
    async lift(whose) {
      const forget = (by: 'email' | 'address', key: string) =>
        Promise.all([failures[by].forget(key), all[by].forget(key)])
      const found = await ('email' in whose ? forget('email', keyOf(whose.email)) : forget('address', whose.address))
      return found.some(Boolean)
    },
  }
}

const tooMany = (what: string, seconds: number) =>
  new LendingError('resource_exhausted', `${what}; try again in ${seconds} s`, [], seconds)
