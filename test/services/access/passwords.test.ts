import { expect, it } from 'vitest'
import {
  hashPassword,
  hashPublishedPassword,
  NO_ACCOUNT_HASH,
  verifyPassword,
} from '../../../src/services/access/passwords/passwords.ts'

it('a password is hashed at the full cost, as is what an unknown e-mail is compared with; a published one at the least', async () => {
  const costs = [await hashPassword('a secret'), NO_ACCOUNT_HASH, hashPublishedPassword('partner-secret')].map((hash) =>
    hash.split('$').slice(0, 4).join('$'),
  )
  expect(costs).toEqual(['scrypt$32768$8$3', 'scrypt$32768$8$3', 'scrypt$16$8$1'])
})

it('a published password is the one that was hashed, and no other is; two hashes of it differ', async () => {
  const hash = hashPublishedPassword('partner-secret')
  expect(await verifyPassword('partner-secret', hash)).toBe(true)
  expect(await verifyPassword('partner-secrets', hash)).toBe(false)
  expect(hashPublishedPassword('partner-secret')).not.toBe(hash)
})
