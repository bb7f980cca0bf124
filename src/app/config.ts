import { IANAZone } from 'luxon'
import { z } from 'zod'
import { booksOf, databaseSettings, type NamedBook, requireDatabaseSettings } from './databaseSettings.ts'
import { ConfigError, type Environment, readSettings } from './environment.ts'

export type { NamedBook } from './databaseSettings.ts'
export { ConfigError } from './environment.ts'

const MOST_PORT = 65_535

const port = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= MOST_PORT, `must be a port number, 0 to ${MOST_PORT}`)
    .default(fallback)

/** A whole number. */
const count = (fallback: number, { min = 0, max = 1_000_000_000 }: { min?: number; max?: number } = {}) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be ${min} to ${max}`)
    .default(fallback)

/**
 * Names of the IANA database, by area, and UTC. Postgres, which also computes days in the zone, reads an offset such as
 * +03:00 with the opposite sign (POSIX), and takes CET for one hour all year.
 */
const isZone = (name: string) => (name.includes('/') || name === 'UTC') && IANAZone.isValidZone(name)

const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((value) => value === 'true')

/** The least characters of the secret that encrypts the signing keys. */
export const SHORTEST_SECRET = 16

/** Reads host names from a list, in lower case, without a port or a dot at the end. */
function namesIn(text: string, context: z.RefinementCtx): string[] {
  const names = text.split(',').map((name) => name.trim().toLowerCase())
  const wrong = names.find((name) => !/^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(name))
  if (wrong !== undefined)
    context.addIssue({ code: 'custom', message: 'must be host names, separated by commas, without ports' })
  return names
}

/** An origin, `https://host[:port]`: the host selects a style, so a path in it would never match. */
const hostUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL such as http://api.localhost:3000' })
  .refine(
    (text) => URL.canParse(text) && /^\/?$/.test(new URL(text).pathname),
    'must have no path: the host selects the style',
  )
  .refine((text) => !/[?#]/.test(text), 'must have no query and no fragment: the host selects the style')
  .refine((text) => !text.includes('@'), 'must have no user and no password: clients see this URL')
  .transform((text) => text.replace(/\/$/, ''))
  .optional()

/** Every setting by its name in the environment; `.env.example` describes each. */
export const settings = z.object({
  HOST: z.string().min(1).max(255).default('127.0.0.1'),
  PORT: port(3000),
  OPS_PORT: port(3001),
  OPS_HOST: z.string().min(1).max(255).default('127.0.0.1'),
  OPS_NAMES: z.string().max(2000).transform(namesIn).default([]),
  OPS_TLS: flag.default(false),
  METRICS_TOKEN: z
    .string()
    .min(SHORTEST_SECRET, `must be at least ${SHORTEST_SECRET} characters`)
    .max(1000)
    .regex(/^[!-~]+$/, 'must be of printable ASCII characters, without spaces')
    .optional(),
  WEB_CONCURRENCY: count(1, { min: 1, max: 64 }),
  ...databaseSettings,
  DATA_DIR: z.string().min(1).max(1000).default('.data'),
  AUTH_URL: hostUrl,
  BASE_URL: hostUrl,
  RECORDS_URL: hostUrl,
  FALLBACK_STYLE: z
    .enum(['partner', 'record', 'none'], { error: 'must be partner, record or none' })
    .default('partner'),
  TENANT_ZONE: z.string().refine(isZone, 'must be an IANA time zone such as Africa/Nairobi').default('Africa/Nairobi'),
  HEADS_FILE: z.string().max(1000).default(''),
  KEY_ENCRYPTION_SECRET: z
    .string()
    .min(SHORTEST_SECRET, `must be at least ${SHORTEST_SECRET} characters`)
    .max(1000)
    .optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
  TRUST_PROXY: z.string().max(1000).default('false'),
  SEED_DEMO: flag.optional(),
  DATABASE_CONNECTIONS: count(20, { min: 2, max: 1_000 }),
  RATE_LIMIT_ACCOUNT: count(60_000),
  RATE_LIMIT_ADDRESS: count(120_000),
  MAX_IN_FLIGHT: count(1_000, { min: 1 }),
  MAX_LAG_MS: count(500, { min: 50 }),
  MAX_CONNECTIONS: count(5_000, { min: 10 }),
  REQUEST_TIMEOUT_MS: count(60_000, { min: 100 }),
  STOP_GRACE_MS: count(3_000, { max: 60_000 }),
  STOP_WITHIN_MS: count(25_000, { min: 100 }),
  FIGURES_EVERY_S: count(60, { min: 1 }),
  BOOST_COOLDOWN_DAYS: count(30, { max: 3_660 }),
  WEBHOOKS_TO_PRIVATE: flag.default(false),
  SIGN_IN_TO_PRIVATE: flag.default(false),
  EVENTS_KEPT_DAYS: count(90, { min: 1, max: 36_600 }),
})

/** The settings of the service: read once, frozen, and passed on. No other code reads the environment. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly opsPort: number
  /** The host and port for operators' pages and metrics. */
  readonly opsHost: string
  /** Names of the operators' port, besides addresses and loopback names; lower case. */
  readonly opsNames: readonly string[]
  /** Whether people reach the operators' port by a proxy that speaks TLS. */
  readonly opsTls: boolean
  /** Undefined: every client that reaches the port may read the metrics. */
  readonly metricsToken: string | undefined
  /** Processes that share the clients' port; the operators' port of the first is `opsPort`, the others take the next. */
  readonly webConcurrency: number
  /** Empty: the embedded database, with its data in `dataDir`. */
  readonly databaseUrl: string
  /** The URL of the role that owns the tables, which migrates them; empty: the role of `databaseUrl` does that. */
  readonly databaseOwnerUrl: string
  /** The databases that the organizations are in; none: all are in that of `databaseUrl`, which otherwise is the directory. */
  readonly books: readonly NamedBook[]
  readonly dataDir: string
  readonly authUrl: string
  readonly baseUrl: string
  readonly recordsUrl: string
  readonly fallbackStyle: 'partner' | 'record' | 'none'
  /** IANA zone in which "today" is computed, for every organization. */
  readonly zone: string
  /** Undefined only with the embedded database, which makes one and keeps it in `dataDir`. */
  readonly keyEncryptionSecret: string | undefined
  /** The file to which the heads of the chains are added, outside of the database; empty: there is none. */
  readonly headsFile: string
  readonly logLevel: string
  /** `false`, `true`, a hop count, or a list of addresses, as for Fastify's `trustProxy`. */
  readonly trustProxy: boolean | number | string
  readonly seedDemo: boolean
  /** The most connections to the database. */
  readonly databaseConnections: number
  /** Requests a minute, over all instances; 0: no limit. */
  readonly rateLimits: { readonly account: number; readonly address: number }
  /** Requests in work at once, and how late timers may be, before further requests are refused. */
  readonly maxInFlight: number
  readonly maxLagMs: number
  /** The most connections of clients to a process. */
  readonly maxConnections: number
  readonly requestTimeoutMs: number
  /** The time for which a stop serves on while readiness fails, and the time that the stop may take after that. */
  readonly stopGraceMs: number
  readonly stopWithinMs: number
  /** The age at which one instance computes the totals of the book again. */
  readonly figuresEverySeconds: number
  /** Days between two raises of a credit limit, for organizations without a policy of their own. */
  readonly boostCooldownDays: number
  /** Whether webhooks may be sent by `http:` and to addresses that are not on the internet. */
  readonly webhooksToPrivate: boolean
  /** Whether providers of identities may have private addresses, and be called by `http:`. */
  readonly signInToPrivate: boolean
  /** Days for which events are told after they were numbered. */
  readonly eventsKeptDays: number
}

/** The settings of a program that calls the service as one of its callers, such as `mkopo mcp`. */
const callerSettings = settings.pick({ PORT: true, AUTH_URL: true, BASE_URL: true, RECORDS_URL: true }).extend({
  MKOPO_TOKEN: z.string().max(8_192).regex(/^\S+$/, 'must be a token or an API key').optional(),
  MKOPO_EMAIL: z.string().max(254).optional(),
  MKOPO_PASSWORD: z.string().max(1_000).optional(),
})

/** The hosts of the service, and what a program signs in with there. */
export interface CallerConfig extends Pick<Config, 'authUrl' | 'baseUrl' | 'recordsUrl'> {
  /** A token, an API key, or the e-mail and the password of an account. */
  readonly credential: string | { readonly email: string; readonly password: string }
}

/** The settings that are secrets or contain one: each may be in a file, which `<name>_FILE` names. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'BOOKS',
  'BOOKS_OWNERS',
  'KEY_ENCRYPTION_SECRET',
  'METRICS_TOKEN',
] as const

/** The settings of a caller that are secrets. */
const CALLER_SECRETS = ['MKOPO_TOKEN', 'MKOPO_PASSWORD'] as const

/**
 * Reads the settings from the environment. An empty variable counts as not set; a secret may be in a file that
 * `<name>_FILE` names.
 * @throws ConfigError naming the first bad setting, and both where two contradict each other
 */
export function readConfig(environment: Environment = process.env): Config {
  const value = readSettings(settings, environment, SECRET_SETTINGS)
  requireDatabaseSettings(value)
  const books = booksOf(value)
  const { authUrl, baseUrl, recordsUrl } = hostsOf(value)
  if (hostOf(baseUrl) === hostOf(recordsUrl))
    throw new ConfigError(
      `BASE_URL and RECORDS_URL: both name the host ${hostOf(baseUrl)}, but the partner and record styles share paths; give each its own host`,
    )
  requireOpsPorts(value)
  return Object.freeze({
    host: value.HOST,
    port: value.PORT,
    opsPort: value.OPS_PORT,
    opsHost: value.OPS_HOST,
    opsNames: value.OPS_NAMES,
    opsTls: value.OPS_TLS,
    metricsToken: value.METRICS_TOKEN,
    webConcurrency: value.WEB_CONCURRENCY,
    databaseUrl: value.DATABASE_URL,
    databaseOwnerUrl: value.DATABASE_OWNER_URL,
    books,
    dataDir: value.DATA_DIR,
    authUrl,
    baseUrl,
    recordsUrl,
    fallbackStyle: value.FALLBACK_STYLE,
    zone: value.TENANT_ZONE,
    keyEncryptionSecret: value.KEY_ENCRYPTION_SECRET,
    headsFile: value.HEADS_FILE,
    logLevel: value.LOG_LEVEL,
    trustProxy: readTrustProxy(value.TRUST_PROXY),
    seedDemo: value.SEED_DEMO ?? value.DATABASE_URL === '',
    databaseConnections: value.DATABASE_CONNECTIONS,
    rateLimits: Object.freeze({ account: value.RATE_LIMIT_ACCOUNT, address: value.RATE_LIMIT_ADDRESS }),
    maxInFlight: value.MAX_IN_FLIGHT,
    maxLagMs: value.MAX_LAG_MS,
    maxConnections: value.MAX_CONNECTIONS,
    requestTimeoutMs: value.REQUEST_TIMEOUT_MS,
    stopGraceMs: value.STOP_GRACE_MS,
    stopWithinMs: value.STOP_WITHIN_MS,
    figuresEverySeconds: value.FIGURES_EVERY_S,
    boostCooldownDays: value.BOOST_COOLDOWN_DAYS,
    webhooksToPrivate: value.WEBHOOKS_TO_PRIVATE,
    signInToPrivate: value.SIGN_IN_TO_PRIVATE,
    eventsKeptDays: value.EVENTS_KEPT_DAYS,
  })
}

/**
 * Reads the settings of a program that calls the service, from the environment; a secret may be in a file that
 * `<name>_FILE` names.
 * @throws ConfigError naming the first bad setting, and where there is no credential
 */
export function readCallerConfig(environment: Environment = process.env): CallerConfig {
  const value = readSettings(callerSettings, environment, CALLER_SECRETS)
  const { MKOPO_TOKEN: token, MKOPO_EMAIL: email, MKOPO_PASSWORD: password } = value
  if (token !== undefined && email !== undefined)
    throw new ConfigError('MKOPO_TOKEN and MKOPO_EMAIL: both are set; keep one of them')
  if (token !== undefined) return { ...hostsOf(value), credential: token }
  if (email === undefined || password === undefined)
    throw new ConfigError(
      'MKOPO_TOKEN: is required: a token or an API key; or MKOPO_EMAIL and MKOPO_PASSWORD, those of an account',
    )
  return { ...hostsOf(value), credential: { email, password } }
}

/** Returns the URLs of the hosts: those that are set, and else names of this machine. */
function hostsOf({
  AUTH_URL,
  BASE_URL,
  RECORDS_URL,
  PORT,
}: Pick<z.output<typeof settings>, 'AUTH_URL' | 'BASE_URL' | 'RECORDS_URL' | 'PORT'>) {
  const local = (name: string) => `http://${name}.localhost:${PORT}`
  return {
    authUrl: AUTH_URL ?? local('auth'),
    baseUrl: BASE_URL ?? local('api'),
    recordsUrl: RECORDS_URL ?? local('records'),
  }
}

/** Checks the operators' ports, which several processes take one after the other. */
function requireOpsPorts({ PORT, OPS_PORT, WEB_CONCURRENCY }: z.output<typeof settings>): void {
  const last = OPS_PORT + WEB_CONCURRENCY - 1
  if (OPS_PORT === 0) return
  if (PORT === OPS_PORT) throw new ConfigError(`PORT and OPS_PORT: both are ${PORT}, and each needs a port of its own`)
  if (last > MOST_PORT)
    throw new ConfigError(
      `OPS_PORT and WEB_CONCURRENCY: ${WEB_CONCURRENCY} processes take the ports ${OPS_PORT} to ${last}, and the last there is is ${MOST_PORT}`,
    )
  if (PORT >= OPS_PORT && PORT <= last)
    throw new ConfigError(
      `PORT and OPS_PORT: ${WEB_CONCURRENCY} processes take the ports ${OPS_PORT} to ${last} for operators, so PORT cannot be ${PORT}`,
    )
}

/**
 * Returns the host of a URL as it selects a style: lower case, without a port and without a dot at its end, as a
 * request's host.
 */
export const hostOf = (url: string) => new URL(url).hostname.toLowerCase().replace(/\.$/, '')

function readTrustProxy(text: string): boolean | number | string {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d{1,3}$/.test(text) ? Number(text) : text
}

/**
 * Returns whether OpenTelemetry's own variables ask for traces. Only they switch tracing on; the SDK reads the others
 * itself.
 */
export function tracingWanted(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false
  const asking = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  return asking.some((name) => env[name] !== undefined && env[name] !== '')
}

/**
 * Returns whether the driver reads a database's URL as it was meant. A URL whose password has a `#`, `/` or `?` is
 * invalid, or names another server: the `@` before the host then comes after it.
 */
