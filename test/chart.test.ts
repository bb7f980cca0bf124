import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import manifest from '../package.json' with { type: 'json' }
import { readConfig, settings } from '../src/app/config.ts'
import { MOST_READERS, STATEMENT_LIMITS } from '../src/services/walletStatements/limits.ts'
import { file, filled, instances, read, services } from './support/compose.ts'

// deploy/helm/mkopo: what it tells the service, against what the service takes. Rendered where Helm is installed.

const CHART = 'deploy/helm/mkopo'
const chart = parse(read(`${CHART}/Chart.yaml`))
const values = parse(read(`${CHART}/values.yaml`))
const schema = JSON.parse(read(`${CHART}/values.schema.json`))
const templates = readdirSync(file(`${CHART}/templates`)).map(
  (name) => [name, read(`${CHART}/templates/${name}`)] as const,
)
const textOf = (name: string) => templates.find(([one]) => one === name)?.[1] ?? ''
const defaults = settings.parse({})
const seconds = (milliseconds: number) => milliseconds / 1_000
const ofMi = (text: string) => Number.parseInt(text, 10) * { Mi: 1, Gi: 1_024 }[text.slice(-2) as 'Mi' | 'Gi']!

/** Settings that the templates have themselves; those of secrets end in _FILE. */
const fixed = [...textOf('_helpers.tpl').matchAll(/^- \{ name: (\w+),/gm)].map(([, name]) =>
  name!.replace(/_FILE$/, ''),
)

describe('deploy/helm/mkopo', () => {
  it('has the version of package.json', () => {
    expect([chart.version, chart.appVersion]).toEqual([manifest.version, manifest.version])
  })

  it('tells the service every setting that it takes, but for what the image and the kind of deployment decide', () => {
    const own = ['DATABASE_OWNER_URL', 'BOOKS', 'BOOKS_OWNERS', 'METRICS_TOKEN', 'HEADS_FILE']
    for (const name of own)
      expect(templates.map(([, text]) => text).join('')).toMatch(new RegExp(`name: ${name}(?:_FILE)?,`))
    // The image listens everywhere, on the ports of the Services; a pod has one process; there is no embedded database.
    const decided = ['HOST', 'PORT', 'OPS_PORT', 'DATA_DIR', 'WEB_CONCURRENCY']
    const told = new Set([...fixed, ...own, ...Object.keys(values.settings), ...decided])
    expect([...told].sort()).toEqual(Object.keys(settings.shape).sort())
  })

  it('has values that the service takes, and that agree with docker-compose.yml', () => {
    const { hosts } = values
    const environment = {
      ...values.settings,
      ...{ AUTH_URL: hosts.auth, BASE_URL: hosts.partner, RECORDS_URL: hosts.records, FALLBACK_STYLE: 'none' },
      ...{ DATABASE_URL: 'postgres://mkopo_service@database/mkopo', KEY_ENCRYPTION_SECRET: 'a secret of the tests' },
    }
    const config = readConfig(environment)
    const composed = readConfig(filled(services[instances[0]!]!.environment))
    for (const name of ['trustProxy', 'fallbackStyle', 'seedDemo', 'zone', 'databaseConnections'] as const)
      expect({ name, value: config[name] }).toEqual({ name, value: composed[name] })
  })

  it('gives an instance more time to stop than it takes, and memory for the statements that are read at once', () => {
    const grace = Number(values.settings.STOP_GRACE_MS)
    expect(values.terminationGracePeriodSeconds).toBeGreaterThan(seconds(grace + defaults.STOP_WITHIN_MS))
    expect(ofMi(values.resources.limits.memory)).toBeGreaterThanOrEqual(
      512 + (MOST_READERS * STATEMENT_LIMITS.memory) / 1_024 ** 2,
    )
  })

  it('lets the database have room for every instance', () => {
    const each = defaults.DATABASE_CONNECTIONS + 1
    // One more while they are replaced. Postgres allows 100 unless it is told otherwise, and keeps three for superusers.
    expect((values.autoscaling.max + 1) * each).toBeLessThan(97)
  })

  it('describes each value in its schema, and no other', () => {
    expect(
      Object.keys(schema.properties)
        .filter((name) => name !== 'global')
        .sort(),
    ).toEqual(Object.keys(values).sort())
  })

  it.each(['deployment.yaml', 'migrate.yaml'])('%s gives its pod no rights, no shell and nowhere to write', (name) => {
    const helpers = textOf('_helpers.tpl')
    for (const what of ['runAsNonRoot: true', 'readOnlyRootFilesystem: true', 'drop: [ALL]', 'type: RuntimeDefault'])
      expect(helpers).toContain(what)
    expect(textOf(name)).toContain('include "mkopo.podSecurity"')
    expect(textOf(name)).toContain('include "mkopo.security"')
    expect(textOf(name)).toContain('automountServiceAccountToken: false')
  })

  it("gives the owner's URL to the migrations alone", () => {
    expect(templates.flatMap(([name, text]) => (text.includes('database-owner-url') ? [name] : []))).toEqual([
      'migrate.yaml',
    ])
    expect(textOf('migrate.yaml')).toContain('helm.sh/hook: pre-install,pre-upgrade')
  })

  it.skipIf(spawnSync('helm', ['version']).status !== 0)(
    'is rendered to what it names, and refuses a setting of another type (skipped where helm is not installed)',
    () => {
      const render = (...args: string[]) =>
        spawnSync('helm', ['template', 'try', fileURLToPath(file(CHART)), '--kube-version', '1.30.0', ...args], {
          encoding: 'utf8',
        })
      const kinds = (...args: string[]) => {
        const { stdout, stderr } = render(...args)
        expect(stderr).toBe('')
        return parseAllDocuments(stdout)
          .map((document) => document.toJS()?.kind)
          .sort()
      }
      const usual = [
        'Deployment',
        'HorizontalPodAutoscaler',
        'Job',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        'Service',
      ]
      expect(kinds()).toEqual(usual)
      expect(
        kinds('--set', 'metrics.serviceMonitor.enabled=true,ingress.enabled=true,autoscaling.enabled=false'),
      ).toEqual([...usual.filter((kind) => kind !== 'HorizontalPodAutoscaler'), 'Ingress', 'ServiceMonitor'].sort())
      expect(render('--set', 'settings.MAX_IN_FLIGHT=5').stderr).toContain('settings')
    },
  )
})
