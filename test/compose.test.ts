import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { blockOf } from '../deploy/try/stack.ts'
import manifest from '../package.json' with { type: 'json' }
import { readConfig } from '../src/app/config.ts'
import { MOST_READERS, STATEMENT_LIMITS } from '../src/services/walletStatements/limits.ts'
import { type ComposeService, example, filled, instances, read, services } from './support/compose.ts'
import { asAdmin, asRole, freshDatabase } from './support/database.ts'

describe('docker-compose.yml: the roles of the database', () => {
  it("gives the owner's password to what makes roles and migrates, and not to the instances", () => {
    const having = (secret: string) =>
      Object.keys(services).filter((name) => JSON.stringify(services[name]).includes(secret))
    expect(having('POSTGRES_PASSWORD').sort()).toEqual(['database', 'migrate', 'roles', 'standby'])
    expect(having('SERVICE_PASSWORD').sort()).toEqual([...instances, 'roles'])
    expect(filled(services.migrate!.environment)).toMatchObject({
      DATABASE_OWNER_URL: 'postgres://mkopo@database:5432/mkopo',
      DATABASE_URL: 'postgres://mkopo_service@database:5432/mkopo',
    })
    expect(services.roles).toMatchObject({ depends_on: { database: { condition: 'service_healthy' } } })
    expect(String(services.roles!.entrypoint)).toContain('/etc/mkopo/service-role.sql')
    expect(services.roles!.volumes).toEqual(['./deploy/postgres/service-role.sql:/etc/mkopo/service-role.sql:ro'])
  })

  it.skipIf(spawnSync('psql', ['--version']).status !== 0)(
    'makes a role that may sign in and nothing else, and gives it another password (skipped where psql is not installed)',
    async () => {
      const { url, drop } = await freshDatabase()
      const role = `mkopo_service_${randomBytes(4).toString('hex')}`
      const program = read('deploy/postgres/service-role.sql').replaceAll('mkopo_service', role)
      const login = (password: string) => asAdmin(asRole(url, { name: role, password }), async () => 'in')
      for (const password of ["it's a $quoted% one", 'another']) {
        const env = { PATH: process.env.PATH, SERVICE_PASSWORD: password }
        const run = spawnSync('psql', ['--no-psqlrc', '--quiet', url], { env, input: program, encoding: 'utf8' })
        expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' })
        expect(await login(password)).toBe('in')
      }
      await expect(login("it's a $quoted% one")).rejects.toMatchObject({ code: '28P01' })
      await asAdmin(url, async (admin) => {
        const { rows } = await admin.query(
          'SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = $1',
          [role],
        )
        expect(rows).toEqual([{ rolsuper: false, rolcreaterole: false, rolcreatedb: false }])
        await admin.query(`DROP ROLE ${role}`)
      })
      await drop()
    },
  )
})

describe('docker-compose.yml: the port for operators', () => {
  it.each(instances)('%s listens for what is published, and answers to the names of its network', (name) => {
    const { OPS_HOST, OPS_NAMES } = filled(services[name]!.environment)
    expect(OPS_HOST).toBe('0.0.0.0')
    const networks = services[name]!.networks as Record<string, { aliases?: string[] } | null>
    expect(OPS_NAMES?.split(',')).toEqual(expect.arrayContaining([name, ...networks.front!.aliases!]))
    expect(services[name]!.ports?.[0]).toMatch(/^\$\{OPERATORS_ADDRESS_\d:-127\.0\.0\.1:/)
  })

  it('the scrape configuration says how to send METRICS_TOKEN', () => {
    const text = read('deploy/prometheus/prometheus.yml').replace(/^( *)# (authorization: )/m, '$1$2')
    expect(parse(text).scrape_configs[0].authorization).toEqual({
      type: 'Bearer',
      credentials_file: '/etc/prometheus/metrics-token',
    })
  })
})

describe('docker-compose.yml: what a container may use', () => {
  const bytes = (text: string) => Number.parseInt(text, 10) * { m: 1024 ** 2, g: 1024 ** 3 }[text.at(-1) as 'm' | 'g']!
  const limitOf = (name: string) =>
    bytes(String(services[name]!.mem_limit).replace(/\$\{(\w+):-[^}]*\}/, (_, key) => example[key]!))

  it.each(Object.keys(services))('%s has a limit of memory and of processes', (name) => {
    expect(limitOf(name)).toBeGreaterThanOrEqual(128 * 1024 ** 2)
    expect(services[name]!.pids_limit).toBeGreaterThanOrEqual(16)
  })

  it.each(instances)('%s has room for itself and the statements that are read at once', (name) => {
    const itself = 512 * 1024 ** 2
    expect(limitOf(name)).toBeGreaterThanOrEqual(itself + MOST_READERS * STATEMENT_LIMITS.memory)
  })
})

describe('images', () => {
  const FULL = /^\w+:\d+\.\d+(?:\.\d+)?(?:-\w+)?$/

  it('are named by a full version, which .env may follow with a digest', () => {
    for (const name of ['NODE_IMAGE', 'DATABASE_IMAGE', 'PROXY_IMAGE']) expect(example[name]).toMatch(FULL)
    for (const [name, { image }] of Object.entries(services))
      expect([name, image]).toEqual([name, expect.stringMatching(/^\$\{(?:MKOPO|DATABASE|PROXY)_IMAGE:-/)])
    expect(read('Dockerfile')).toContain(`\nARG NODE_IMAGE=${example.NODE_IMAGE}\nFROM \${NODE_IMAGE} AS base\n`)
  })

  it('Node is the version that the tests run on', () => {
    expect(example.NODE_IMAGE).toBe(`node:${manifest.devDependencies.node}-slim`)
  })
})

describe('npm run try -- docker', () => {
  it.each(['dropdb', 'pg_promote', 'docker volume rm'])(
    'finds in the guide to recovery the commands with %s',
    (having) => {
      const lines = blockOf('docs/operating/recovery.md', having).split('\n')
      expect(lines.length).toBeGreaterThan(3)
      for (const line of lines) expect(line).toMatch(/^docker (?:compose|volume) /)
    },
  )

  it('finds in the guide to Docker what makes .env, before what starts the containers', () => {
    const [make, up] = blockOf('docs/settings.md', 'compose.env.example').split(/\n(?=docker compose up)/)
    expect(make).toContain('> .env')
    expect(up).toBe('docker compose up --build --wait')
  })

  it('has a stand-in for each image that is named', () => {
    for (const image of ['NODE_IMAGE', 'DATABASE_IMAGE', 'PROXY_IMAGE'])
      expect(read(`deploy/try/images/${example[image]!.split(':')[0]}/Dockerfile`)).toMatch(/^FROM mkopo-try-debian:/m)
  })
})

describe('deploy/compose.secrets.yml', () => {
  const over = parse(read('deploy/compose.secrets.yml'), { merge: true }) as {
    services: Record<string, { environment: Record<string, string>; secrets: string[] }>
    secrets: Record<string, { file: string }>
  }

  it.each(['migrate', ...instances])('%s finds its secrets in files, and none in its environment', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-secrets-'))
    const { environment, secrets } = over.services[name]!
    const url = (role: string) => `postgres://${role}:secret@database:5432/mkopo`
    const contents: Record<string, string> = {
      'key-encryption-secret': 'a secret of the tests',
      'database-url': url('mkopo_service'),
      'database-owner-url': url('mkopo'),
    }
    const merged: Record<string, string | undefined> = { ...filled(services[name]!.environment), ...environment }
    const named = Object.entries(merged).flatMap(([key, path]) =>
      key.endsWith('_FILE') && key !== 'HEADS_FILE' ? [[key, path ?? ''] as const] : [],
    )
    expect(named.map(([, path]) => path.replace('/run/secrets/', '')).sort()).toEqual([...secrets].sort())
    for (const [key, path] of named) {
      const secret = path.replace('/run/secrets/', '')
      expect(over.secrets[secret]).toEqual({ file: `./secrets/${secret}` })
      await writeFile(join(folder, secret), `${contents[secret]}\n`)
      merged[key] = join(folder, secret)
    }
    expect(
      JSON.stringify(Object.entries(merged).filter(([key]) => /PASSWORD|SECRET$|DATABASE_(OWNER_)?URL$/.test(key))),
    ).not.toMatch(/[^"]{3}:\/\/|filled in/)
    expect(readConfig(merged)).toMatchObject({
      databaseUrl: url('mkopo_service'),
      databaseOwnerUrl: name === 'migrate' ? url('mkopo') : '',
      keyEncryptionSecret: 'a secret of the tests',
    })
    await rm(folder, { recursive: true })
  })

  it('its files are kept out of the repository and of the image', () => {
    expect(read('.gitignore').split('\n')).toContain('secrets/')
    expect(read('.dockerignore')).not.toContain('secrets')
  })
})

describe('deploy/compose.books.yml', () => {
  const { services: more } = parse(read('deploy/compose.books.yml'), { merge: true }) as {
    services: Record<string, Partial<ComposeService> & { extends?: { service: string } }>
  }

  it('gives each instance and the migrations both books, which the service takes', () => {
    for (const name of [...instances, 'migrate']) {
      const environment = { ...services[name]!.environment, ...more[name]!.environment }
      const given = (text: string | null) =>
        text?.replaceAll(/\$\{SECOND_HOST:-second\}/g, 'second').replaceAll(/\$\{POSTGRES_PASSWORD\}/g, 'abc') ?? null
      const all = Object.fromEntries(Object.entries(environment).map(([key, text]) => [key, given(text)]))
      const { books, databaseUrl } = readConfig(filled(all))
      expect(books.map((book) => book.name)).toEqual(['first', 'second'])
      // The database that is there already is the directory, and the first book.
      expect(books[0]!.url).toBe(databaseUrl)
    }
    const { environment } = more.migrate!
    expect(Object.keys(environment!)).toContain('BOOKS_OWNERS')
  })

  it('has servers that an organization can be moved between, each with a volume of its own and a standby', () => {
    for (const name of ['database', 'second']) expect(more[name]!.command).toContain('wal_level=logical')
    expect(more.second!.volumes).toEqual(['second:/var/lib/postgresql'])
    expect(more['second-standby']!.command!.join()).toContain('--host=second')
    for (const [name, { extends: from }] of Object.entries(more))
      expect([name, name in services || (from !== undefined && from.service in services)]).toEqual([name, true])
  })
})
