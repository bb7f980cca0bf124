import { createHash } from 'node:crypto'
import type { Wanted } from '../../db/payments/candidates.ts'
import { phoneDigits } from '../../domain/payments/matching.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import type { Writing } from '../deps.ts'
import { openSecretBox, type SecretBox } from '../secretBox.ts'

/** Who paid, as far as the provider said. */
export interface Payer {
  readonly phone: string | null
  readonly name: string | null
}

const NOBODY: Payer = { phone: null, name: null }

/** One salt for all payers and messages, so that their key is derived once in a process. */
const SALT = createHash('sha256').update('mkopo payments').digest().subarray(0, 16)

/** Opens the box in which payers and the messages of providers are encrypted. @param secret KEY_ENCRYPTION_SECRET */
export const openPaymentBox = (secret: string): SecretBox => openSecretBox(secret, 'payments', SALT)

/** Encrypts who paid; null where nothing is known. */
export const sealedPayer = (box: SecretBox, { phone, name }: Payer): string | null =>
  phone === null && name === null ? null : box.encrypt(JSON.stringify([phone, name]))

/** Returns a phone number as loans are found by it: its last digits, and the hash that identities have. */
export const phoneOf = (
  { people }: Pick<Writing, 'people'>,
  organizationId: number,
  phone: string | null,
): Pick<Wanted, 'phone' | 'phoneHash'> => ({
  phone: phoneDigits(phone),
  phoneHash: people.phoneHash(organizationId, phone),
})

/** Returns who paid. @throws WrongSecretError */
export function payerOf(box: SecretBox, { payer }: Pick<Payment, 'payer'>): Payer {
  if (payer === null) return NOBODY
  const [phone = null, name = null] = JSON.parse(box.decrypt(payer)) as (string | null)[]
  return { phone, name }
}
