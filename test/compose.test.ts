import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { filled, instances, read, services } from './support/compose.ts'
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
