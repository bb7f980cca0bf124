import type { Config } from '../../app/config.ts'
import {
  findOfficeSignIn,
  type OfficeSignIn,
  type StoredProvider,
  saveOfficeSignIn,
} from '../../db/access/officeSignIn.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { invalidArgument, invariant } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { requireRoles } from '../access/roles.ts'
import type { Base } from '../base.ts'
import { openSecretBox, type SecretBox } from '../secretBox.ts'
import { readEndpointUrl } from '../webhooks/address.ts'

/** The most values of a claim that are given roles, and the most characters of each part of a provider. */
export const MOST_MAPPED = 50
export const LONGEST = { issuer: 500, clientId: 200, clientSecret: 500, roleClaim: 200, value: 200 } as const

/** How people sign in, without the secret. */
export interface SignInView {
  readonly secondFactorRequired: boolean
  readonly provider: Omit<StoredProvider, 'clientSecret'> | null
}

/** A provider as it is asked for; without a secret, that of before stays. */
export interface ProviderRequest extends Omit<StoredProvider, 'clientSecret'> {
  readonly clientSecret?: string | undefined
}

/** What is asked for; what is left out stays, and null takes the provider away. */
export interface SignInRequest {
  readonly secondFactorRequired?: boolean | undefined
  readonly provider?: ProviderRequest | null | undefined
}

const SALT = Buffer.from('mkopo office sign-in')
const boxes = new WeakMap<Config, SecretBox>()

/** Returns what encrypts the secrets and tokens of sign-ins. */
export function signInBox(config: Config): SecretBox {
  const { keyEncryptionSecret } = config
  invariant(keyEncryptionSecret !== undefined, 'a secret to encrypt the secrets of sign-ins with')
  const box = boxes.get(config) ?? openSecretBox(keyEncryptionSecret, 'secrets of sign-ins', SALT)
  boxes.set(config, box)
  return box
}

const viewOf = ({ secondFactorRequired, provider }: OfficeSignIn): SignInView => {
  if (!provider) return { secondFactorRequired, provider: null }
  const { clientSecret: _, ...shown } = provider
  return { secondFactorRequired, provider: shown }
}

/** Returns how the people of the organization sign in at the office pages. @throws LendingError `permission_denied` */
export async function getSignIn({ db }: Pick<Base, 'db'>, caller: Caller): Promise<SignInView> {
  requirePermission(caller, 'organization.manage')
  return viewOf(await findOfficeSignIn(db, caller.organizationId))
}

/**
 * Says how the people of the organization sign in, which counts within 5 s.
 * @throws LendingError `permission_denied` also for a role with a permission that the caller does not have, `invalid_argument`
 */
export async function updateSignIn(
  { db, config, machineNow }: Pick<Base, 'db' | 'config' | 'machineNow'>,
  caller: Caller,
  request: SignInRequest,
): Promise<SignInView> {
  requirePermission(caller, 'organization.manage')
  const before = await findOfficeSignIn(db, caller.organizationId)
  const { secondFactorRequired = before.secondFactorRequired } = request
  const { provider: asked } = request
  const provider =
    asked === undefined
      ? before.provider
      : asked && { ...asked, clientSecret: await secretOf(db, config, caller, { asked, before }) }
  const next = { secondFactorRequired, provider }
  return viewOf(await saveOfficeSignIn(db, caller, { before, next, now: machineNow() }))
}

/** Checks a provider. @returns its secret, encrypted. @throws LendingError `invalid_argument`, `permission_denied` */
async function secretOf(
  db: Base['db'],
  config: Config,
  caller: Caller,
  { asked, before }: { readonly asked: ProviderRequest; readonly before: OfficeSignIn },
): Promise<string> {
  const { issuer, clientId, clientSecret, roleClaim, roles } = asked
  const words = { role: 'issuer', example: 'https://login.example.com/realms/lender', instead: '' } as const
  if (readEndpointUrl(issuer, config.signInToPrivate, words).search !== '')
    throw invalidArgument('issuer', 'must have no query')
  requireText('clientId', clientId)
  requireText('roleClaim', roleClaim)
  const mapped = Object.entries(roles)
  if (mapped.length === 0 || mapped.length > MOST_MAPPED || mapped.some(([value]) => !isText(value, LONGEST.value)))
    throw invalidArgument('roles', `must give a role to 1 to ${MOST_MAPPED} values of the claim`)
  for (const role of new Set(Object.values(roles))) await requireRoles(db, caller, caller.organizationId, [role])
  if (clientSecret !== undefined) {
    requireText('clientSecret', clientSecret)
    return signInBox(config).encrypt(clientSecret)
  }
  const { provider } = before
  // The secret of one provider is never sent to another.
  if (provider?.issuer !== issuer || provider.clientId !== clientId)
    throw invalidArgument('clientSecret', 'is required for another issuer or client')
  return provider.clientSecret
}

const isText = (text: string, longest: number): boolean =>
  text.trim() !== '' && text.length <= longest && !/\p{Cc}/u.test(text)

function requireText(name: 'clientId' | 'clientSecret' | 'roleClaim', text: string): void {
  if (!isText(text, LONGEST[name])) throw invalidArgument(name, `must be 1 to ${LONGEST[name]} characters long`)
}

export { findProviders } from '../../db/access/officeSignIn.ts'
