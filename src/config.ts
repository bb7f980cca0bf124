import { IANAZone } from 'luxon'
import { z } from 'zod'

/** `https://host[:port]`: the host selects a style, so a path would never match anything. */
const hostUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL such as http://api.localhost:3000' })
  .refine(
    (text) => URL.canParse(text) && /^\/?$/.test(new URL(text).pathname),
    'must have no path: the host selects the style',
  )
  .transform((text) => text.replace(/\/$/, ''))
  .optional()

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port number, 0 to 65535')
    .default(fallback)

const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((value) => value === 'true')

const settings = z.object({
  HOST: z.string().min(1).max(255).default('127.0.0.1'),
  PORT: port(3000),
  OPS_PORT: port(3001),
  DATABASE_URL: z
    .string()
    .max(2000)
    .refine(
      (url) => url === '' || /^postgres(ql)?:\/\//.test(url),
      'must be a postgres:// URL, or empty for the embedded database',
    )
    .default(''),
  DATA_DIR: z.string().min(1).max(1000).default('.data'),
  AUTH_URL: hostUrl,
  BASE_URL: hostUrl,
  RECORDS_URL: hostUrl,
  FALLBACK_STYLE: z
    .enum(['partner', 'record', 'none'], { error: 'must be partner, record or none' })
    .default('partner'),
  TENANT_ZONE: z
    .string()
    .refine((zone) => IANAZone.isValidZone(zone), 'must be an IANA time zone such as Africa/Nairobi')
    .default('Africa/Nairobi'),
  KEY_ENCRYPTION_SECRET: z.string().min(16, 'must be at least 16 characters').max(1000).optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
  TRUST_PROXY: z.string().max(1000).default('false'),
  SEED_DEMO: flag.optional(),
  BOOST_COOLDOWN_DAYS: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a whole number of days')
    .transform(Number)
    .refine((days) => days <= 3660, 'must be 0 to 3660 days')
    .default(30),
})

/** The service's settings: read once, frozen, handed in. Nothing else reads the environment. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly opsPort: number
  /** Empty: the embedded database, with its data in `dataDir`. */
  readonly databaseUrl: string
  readonly dataDir: string
  readonly authUrl: string
  readonly baseUrl: string
  readonly recordsUrl: string
  readonly fallbackStyle: 'partner' | 'record' | 'none'
  /** IANA zone in which "today" is computed, for every organization. */
  readonly zone: string
  /** Undefined only with the embedded database, which makes and keeps one in `dataDir`. */
  readonly keyEncryptionSecret: string | undefined
  readonly logLevel: string
  /** `false`, `true`, a hop count, or a list of addresses: what Fastify's `trustProxy` takes. */
  readonly trustProxy: boolean | number | string
  readonly seedDemo: boolean
  /** Days between two raises of a credit limit, for organizations without a policy of their own. */
  readonly boostCooldownDays: number
}

/** A setting that stops the start; the message is one line that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Environment → settings. An empty variable counts as not set.
 * @throws ConfigError naming the first bad setting, and both where two contradict each other.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = settings.safeParse(given)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    const name = String(issue.path[0])
    // A database URL holds a password, and the secret is one: neither belongs in a log.
    const shown =
      name === 'DATABASE_URL' || name === 'KEY_ENCRYPTION_SECRET' ? '' : ` (it is ${JSON.stringify(env[name])})`
    throw new ConfigError(`${name}: ${issue.message}${shown}`)
  }
  const value = parsed.data
  if (value.DATABASE_URL !== '' && value.KEY_ENCRYPTION_SECRET === undefined)
    throw new ConfigError(
      'KEY_ENCRYPTION_SECRET: is required with DATABASE_URL; signing keys are stored encrypted with it',
    )
  const local = (name: string) => `http://${name}.localhost:${value.PORT}`
  const baseUrl = value.BASE_URL ?? local('api')
  const recordsUrl = value.RECORDS_URL ?? local('records')
  if (hostOf(baseUrl) === hostOf(recordsUrl))
    throw new ConfigError(
      `BASE_URL and RECORDS_URL: both name the host ${hostOf(baseUrl)}, but the partner and record styles share paths; give each its own host`,
    )
  return Object.freeze({
    host: value.HOST,
    port: value.PORT,
    opsPort: value.OPS_PORT,
    databaseUrl: value.DATABASE_URL,
    dataDir: value.DATA_DIR,
    authUrl: value.AUTH_URL ?? local('auth'),
    baseUrl,
    recordsUrl,
    fallbackStyle: value.FALLBACK_STYLE,
    zone: value.TENANT_ZONE,
    keyEncryptionSecret: value.KEY_ENCRYPTION_SECRET,
    logLevel: value.LOG_LEVEL,
    trustProxy: readTrustProxy(value.TRUST_PROXY),
    seedDemo: value.SEED_DEMO ?? value.DATABASE_URL === '',
    boostCooldownDays: value.BOOST_COOLDOWN_DAYS,
  })
}

/** The host of a URL as it selects a style: lower case, no port. */
export const hostOf = (url: string) => new URL(url).hostname.toLowerCase()

function readTrustProxy(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d{1,3}$/.test(text) ? Number(text) : text
}
