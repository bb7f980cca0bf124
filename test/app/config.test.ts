import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, hostOf, readCallerConfig, readConfig, settings } from '../../src/app/config.ts'

describe('settings', () => {
  it('have the defaults of the contract', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      opsPort: 3001,
      opsHost: '127.0.0.1',
      opsNames: [],
      opsTls: false,
      metricsToken: undefined,
      webConcurrency: 1,
      webhooksToPrivate: false,
      signInToPrivate: false,
      databaseUrl: '',
      databaseOwnerUrl: '',
      books: [],
      dataDir: '.data',
      authUrl: 'http://auth.localhost:3000',
      baseUrl: 'http://api.localhost:3000',
      recordsUrl: 'http://records.localhost:3000',
      fallbackStyle: 'partner',
      zone: 'Africa/Nairobi',
      keyEncryptionSecret: undefined,
      headsFile: '',
      logLevel: 'info',
      trustProxy: false,
      seedDemo: true,
      databaseConnections: 20,
      rateLimits: { account: 60_000, address: 120_000 },
      maxInFlight: 1_000,
      maxLagMs: 500,
      maxConnections: 5_000,
      requestTimeoutMs: 60_000,
      stopGraceMs: 3_000,
      stopWithinMs: 25_000,
      figuresEverySeconds: 60,
      boostCooldownDays: 30,
      eventsKeptDays: 90,
    })
  })

  it('an empty variable counts as not set; the local hosts follow the port', () => {
    expect(readConfig({ PORT: '4000', TENANT_ZONE: '' })).toMatchObject({
      authUrl: 'http://auth.localhost:4000',
      zone: 'Africa/Nairobi',
    })
  })

  it('demonstration data only with the embedded database, by default', () => {
    const own = { DATABASE_URL: 'postgres://localhost/mkopo', KEY_ENCRYPTION_SECRET: 'a secret that is long' }
    expect(readConfig(own).seedDemo).toBe(false)
    expect(readConfig({ ...own, SEED_DEMO: 'true' }).seedDemo).toBe(true)
  })

  it.each([
    [{ BOOST_COOLDOWN_DAYS: 'a month' }, 'BOOST_COOLDOWN_DAYS: must be a whole number (it is "a month")'],
    [{ BOOST_COOLDOWN_DAYS: '9999' }, 'BOOST_COOLDOWN_DAYS: must be 0 to 3660 (it is "9999")'],
    [{ PORT: 'http' }, 'PORT: must be a port number (it is "http")'],
    [{ PORT: '70000' }, 'PORT: must be a port number, 0 to 65535 (it is "70000")'],
    [{ TENANT_ZONE: 'Nairobi' }, 'TENANT_ZONE: must be an IANA time zone such as Africa/Nairobi (it is "Nairobi")'],
    ...['+12:00', '+03:00', '-0500', 'UTC+3', 'CET', 'EST'].map((zone): [Record<string, string>, string] => [
      { TENANT_ZONE: zone },
      `TENANT_ZONE: must be an IANA time zone such as Africa/Nairobi (it is "${zone}")`,
    ]),
    [{ FALLBACK_STYLE: 'both' }, 'FALLBACK_STYLE: must be partner, record or none (it is "both")'],
    [{ MAX_IN_FLIGHT: '0' }, 'MAX_IN_FLIGHT: must be 1 to 1000000000 (it is "0")'],
    [{ WEB_CONCURRENCY: '0' }, 'WEB_CONCURRENCY: must be 1 to 64 (it is "0")'],
    [{ WEB_CONCURRENCY: 'auto' }, 'WEB_CONCURRENCY: must be a whole number (it is "auto")'],
    [
      { WEB_CONCURRENCY: '4', OPS_PORT: '65533' },
      'OPS_PORT and WEB_CONCURRENCY: 4 processes take the ports 65533 to 65536, and the last there is is 65535',
    ],
    [{ PORT: '3001' }, 'PORT and OPS_PORT: both are 3001, and each needs a port of its own'],
    [
      { WEB_CONCURRENCY: '4', PORT: '3004' },
      'PORT and OPS_PORT: 4 processes take the ports 3001 to 3004 for operators, so PORT cannot be 3004',
    ],
    [{ RATE_LIMIT_ACCOUNT: '-1' }, 'RATE_LIMIT_ACCOUNT: must be a whole number (it is "-1")'],
    [{ SEED_DEMO: 'yes' }, 'SEED_DEMO: must be true or false (it is "yes")'],
    [
      { BASE_URL: 'api.localhost' },
      'BASE_URL: must be an http(s) URL such as http://api.localhost:3000 (it is "api.localhost")',
    ],
    [{ BASE_URL: 'http://a.b/v1' }, 'BASE_URL: must have no path: the host selects the style (it is "http://a.b/v1")'],
    ...['AUTH_URL', 'BASE_URL', 'RECORDS_URL'].flatMap((name) =>
      ['http://a.b?x=1', 'http://a.b/?', 'http://a.b/#top', 'http://a.b#'].map(
        (url): [Record<string, string>, string] => [
          { [name]: url },
          `${name}: must have no query and no fragment: the host selects the style (it is "${url}")`,
        ],
      ),
    ),
    ...['AUTH_URL', 'BASE_URL', 'RECORDS_URL'].map((name): [Record<string, string>, string] => [
      { [name]: 'http://user:secret@a.b' },
      `${name}: must have no user and no password: clients see this URL`,
    ]),
    ...[
      'u:p#w@h/d',
      'u:p/w@h/d',
      'u:p?w@h/d',
      'u:1#w@h/d',
      'u:1/w@h/d',
      'u:1?w@h/d',
      'u:%e9@h/d',
      'u:p@h:99999/d',
      '[bad',
    ].map((rest): [Record<string, string>, string] => [
      { DATABASE_URL: `postgres://${rest}` },
      'DATABASE_URL: must be a URL such as postgres://user:password@host:5432/database, with special characters in the password percent-encoded: # as %23, / as %2F, ? as %3F',
    ]),
    [
      { DATABASE_URL: 'mysql://u:secret@h/d' },
      'DATABASE_URL: must be a postgres:// URL, or empty for the embedded database',
    ],
    [
      { DATABASE_URL: 'postgres://localhost/mkopo' },
      'KEY_ENCRYPTION_SECRET: is required with DATABASE_URL; signing keys are stored encrypted with it',
    ],
    [
      { DATABASE_OWNER_URL: 'mysql://u:secret@h/d' },
      'DATABASE_OWNER_URL: must be a postgres:// URL, or empty for the embedded database',
    ],
    [
      { DATABASE_OWNER_URL: 'postgres://owner:secret@h/d' },
      'DATABASE_OWNER_URL: is for a database that DATABASE_URL names; the embedded database has both roles already',
    ],
    ...['http://ops', 'ops:3001', 'ops,', 'a b', '*', '.ops'].map((names): [Record<string, string>, string] => [
      { OPS_NAMES: names },
      `OPS_NAMES: must be host names, separated by commas, without ports (it is "${names}")`,
    ]),
    [{ METRICS_TOKEN: 'short' }, 'METRICS_TOKEN: must be at least 16 characters'],
    [
      { METRICS_TOKEN: 'with a space in the middle' },
      'METRICS_TOKEN: must be of printable ASCII characters, without spaces',
    ],
    [{ KEY_ENCRYPTION_SECRET: 'short' }, 'KEY_ENCRYPTION_SECRET: must be at least 16 characters'],
    [
      { BASE_URL: 'http://Same.host', RECORDS_URL: 'http://same.host:81' },
      'BASE_URL and RECORDS_URL: both name the host same.host, but the partner and record styles share paths; give each its own host',
    ],
  ])('a bad value stops the start with one line that names it: %j', (env, message) => {
    expect(() => readConfig(env)).toThrow(new ConfigError(message))
  })

  it.each([
    'postgres://u:p%23%2F%3F@h:5432/d?sslmode=require',
    'postgres://u:p@w%@h/d',
    'postgres://h:5432/d?user=u@server',
    'postgres://u:p@/d?host=/run/postgresql',
    'postgres://%2Frun%2Fpostgresql/d',
    'postgresql:///d',
  ])('a database by the URL %s', (url) => {
    expect(readConfig({ DATABASE_URL: url, KEY_ENCRYPTION_SECRET: 'a secret that is long' }).databaseUrl).toBe(url)
  })

  describe('a secret in a file', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'mkopo-secrets-'))
    })
    afterAll(() => rm(folder, { recursive: true }))
    const file = async (text: string) => {
      const path = join(folder, 'a-secret')
      await writeFile(path, text)
      return path
    }

    it('is read from there, without the line break at its end', async () => {
      for (const end of ['', '\n', '\r\n']) {
        const KEY_ENCRYPTION_SECRET_FILE = await file(`a secret of the tests ${end}`)
        expect(readConfig({ KEY_ENCRYPTION_SECRET_FILE }).keyEncryptionSecret).toBe('a secret of the tests ')
      }
      const url = 'postgres://mkopo_service:p%23@h/d'
      const KEY_ENCRYPTION_SECRET = 'a secret of the tests'
      const DATABASE_URL_FILE = await file(url)
      expect(readConfig({ DATABASE_URL_FILE, KEY_ENCRYPTION_SECRET }).databaseUrl).toBe(url)
      const both = { DATABASE_URL: url, DATABASE_OWNER_URL_FILE: DATABASE_URL_FILE, KEY_ENCRYPTION_SECRET }
      expect(readConfig(both).databaseOwnerUrl).toBe(url)
      expect(readConfig({ METRICS_TOKEN_FILE: await file('a-token-of-the-tests\n') }).metricsToken).toBe(
        'a-token-of-the-tests',
      )
      expect(readConfig({ METRICS_TOKEN_FILE: '' }).metricsToken).toBeUndefined()
    })

    it('that is no secret, or cannot be read, stops the start with one line that names it', async () => {
      const none = join(folder, 'none')
      const empty = await file(' \n')
      expect(() => readConfig({ METRICS_TOKEN_FILE: empty })).toThrow(
        new ConfigError(`METRICS_TOKEN_FILE: is an empty file (it is "${empty}")`),
      )
      expect(() => readConfig({ METRICS_TOKEN_FILE: none })).toThrow(
        new ConfigError(`METRICS_TOKEN_FILE: cannot be read: ENOENT (it is "${none}")`),
      )
      const long = await file('x'.repeat(10_001))
      expect(() => readConfig({ METRICS_TOKEN_FILE: long })).toThrow(/is a file of more than 10000 characters/)
      const short = await file('short')
      expect(() => readConfig({ METRICS_TOKEN_FILE: short })).toThrow(
        new ConfigError('METRICS_TOKEN: must be at least 16 characters'),
      )
      const both = { METRICS_TOKEN_FILE: short, METRICS_TOKEN: 'a-token-of-the-tests' }
      expect(() => readConfig(both)).toThrow(
        new ConfigError('METRICS_TOKEN and METRICS_TOKEN_FILE: both are set; keep one of them'),
      )
    })
  })

  it.each(['UTC', 'Etc/GMT-3', 'Africa/Dar_es_Salaam'])('the zone %s', (zone) => {
    expect(readConfig({ TENANT_ZONE: zone }).zone).toBe(zone)
  })

  it('a dot at the end of a host is no part of the name by which it is called', () => {
    const dotted = { BASE_URL: 'http://Api.example.:3000', RECORDS_URL: 'http://api.example' }
    expect(hostOf(dotted.BASE_URL)).toBe('api.example')
    expect(() => readConfig(dotted)).toThrow(/both name the host api.example/)
  })

  it('auth may share a host with either', () => {
    expect(readConfig({ AUTH_URL: 'http://one.host', BASE_URL: 'http://one.host' }).authUrl).toBe('http://one.host')
  })

  it('.env.example names every setting, and no other', () => {
    const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
    const named = [...text.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(named.sort()).toEqual(Object.keys(settings.shape).sort())
  })
})

describe('the settings of a program that calls the service', () => {
  it('are the hosts, and a token, an API key or an account', () => {
    expect(readCallerConfig({ MKOPO_TOKEN: 'mk_abc', BASE_URL: 'https://api.lender.example' })).toEqual({
      authUrl: 'http://auth.localhost:3000',
      baseUrl: 'https://api.lender.example',
      recordsUrl: 'http://records.localhost:3000',
      credential: 'mk_abc',
    })
    const account = { email: 'agent@lender.example', password: 'a long enough secret' }
    expect(
      readCallerConfig({ PORT: '3100', MKOPO_EMAIL: account.email, MKOPO_PASSWORD: account.password }),
    ).toMatchObject({ baseUrl: 'http://api.localhost:3100', credential: account })
  })

  it.each([
    [{}, 'MKOPO_TOKEN: is required: a token or an API key; or MKOPO_EMAIL and MKOPO_PASSWORD, those of an account'],
    [{ MKOPO_EMAIL: 'a@b.example' }, 'MKOPO_TOKEN: is required'],
    [{ MKOPO_EMAIL: 'a@b.example', MKOPO_TOKEN: 'x' }, 'MKOPO_TOKEN and MKOPO_EMAIL: both are set; keep one of them'],
    [{ MKOPO_TOKEN: 'two words' }, 'MKOPO_TOKEN: must be a token or an API key'],
    [{ MKOPO_TOKEN_FILE: '/nowhere' }, 'MKOPO_TOKEN_FILE: cannot be read: ENOENT'],
  ])('%j is refused', (environment, message) => {
    const read = () => readCallerConfig(environment)
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(message)
    expect(read).not.toThrow('two words')
  })
})

describe('several books', () => {
  const own = { DATABASE_URL: 'postgres://localhost/directory', KEY_ENCRYPTION_SECRET: 'a secret that is long' }
  const first = 'first=postgres://a:b@localhost/first'
  const second = 'second=postgres://a:b%2C@localhost/second'

  it('are named with their databases, and with the roles that own the tables', () => {
    const { books } = readConfig({
      ...own,
      BOOKS: `${first}, ${second}`,
      BOOKS_OWNERS: 'second=postgres://o@localhost/x',
    })
    expect(books).toEqual([
      { name: 'first', url: 'postgres://a:b@localhost/first', ownerUrl: '' },
      { name: 'second', url: 'postgres://a:b%2C@localhost/second', ownerUrl: 'postgres://o@localhost/x' },
    ])
  })

  it('are refused in one line that names the setting and no password: no name, a name or a database twice, no directory', () => {
    const said = (settings: Record<string, string>) => {
      try {
        readConfig({ ...own, ...settings })
      } catch (error) {
        return (error as Error).message
      }
      return 'nothing'
    }
    expect(said({ BOOKS: 'postgres://a:b@localhost/first' })).toMatch(/^BOOKS: must be names and URLs such as/)
    expect(said({ BOOKS: 'First=postgres://a:b@localhost/first' })).toMatch(/^BOOKS: must be names and URLs/)
    expect(said({ BOOKS: `${first},first=postgres://localhost/other` })).toMatch(/^BOOKS: must name each book/)
    expect(said({ BOOKS: `${first},other=postgres://a:b@localhost/first` })).toMatch(/each database, once/)
    expect(said({ BOOKS: 'directory=postgres://localhost/first' })).toMatch(/another name than directory/)
    expect(said({ BOOKS: first, BOOKS_OWNERS: second })).toBe(
      'BOOKS_OWNERS: has the name second, which BOOKS does not have',
    )
    expect(said({ BOOKS: first, HOST: 'localhost' })).toMatch(
      /^HOST and OPS_HOST: with BOOKS they have to be addresses/,
    )
    expect(said({ DATABASE_URL: '', BOOKS: first })).toMatch(/^BOOKS: needs DATABASE_URL/)
    for (const wrong of [first, `${first},${first}`]) expect(said({ BOOKS: `x${wrong}y:` })).not.toContain('a:b@')
  })
})
