import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Config } from '../../app/config.ts'
import { invariant } from '../../domain/errors.ts'
import { openSecretBox, type SecretBox } from '../secretBox.ts'

/** Bytes of a secret; Standard Webhooks recommends 24 to 64. */
const SECRET_BYTES = 32

/** One for all secrets of endpoints: the key is derived once for a process, and not once for each endpoint. */
const SALT = Buffer.from('mkopo webhook secrets')

/** Makes the secret of an endpoint. */
export const makeWebhookSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

const boxes = new WeakMap<Config, SecretBox>()

/** Returns what encrypts the secrets of endpoints. */
export function webhookBox(config: Config): SecretBox {
  const { keyEncryptionSecret } = config
  invariant(keyEncryptionSecret !== undefined, 'a secret to encrypt the secrets of endpoints with')
  const box = boxes.get(config) ?? openSecretBox(keyEncryptionSecret, 'secrets of webhook endpoints', SALT)
  boxes.set(config, box)
  return box
}

/** The secrets of an endpoint as they are stored, encrypted. */
export interface StoredSecrets {
  readonly secret: string
  readonly previousSecret: string | null
  readonly previousUntil: number | null
}

/** Returns a function that returns the secrets that sign at a moment, the newest first. */
export function secretsOf(config: Config, stored: StoredSecrets): (at: number) => readonly string[] {
  const { decrypt } = webhookBox(config)
  const secret = decrypt(stored.secret)
  const { previousSecret, previousUntil } = stored
  let previous: string | undefined
  return (at) => {
    if (previousSecret === null || at >= (previousUntil ?? 0)) return [secret]
    previous ??= decrypt(previousSecret)
    return [secret, previous]
  }
}

/** Returns whether a stored secret can be decrypted. */
export function canSign(config: Config, secret: string): boolean {
  try {
    return webhookBox(config).decrypt(secret) !== ''
  } catch {
    return false
  }
}

/**
 * Signs a message as Standard Webhooks 1.0.0 says.
 * @param secrets each of them signs
 * @param at the moment of the attempt, milliseconds
 */
export function signedHeaders(
  secrets: readonly string[],
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, new Date(at), body)).join(' '),
  }
}
