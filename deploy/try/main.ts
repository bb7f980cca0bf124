import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import manifest from '../../package.json' with { type: 'json' }
import { haveBaseImages, PROMETHEUS_IMAGE } from './baseImages.ts'
import { bash, demand, say, seconds, until } from './shell.ts'
import { blockOf, buildCommit, copyCheckout, Stack } from './stack.ts'

// docker-compose.yml on a Docker of this machine, from nothing to a fail-over: README.md beside this file says what it needs.

const USAGE = `npm run try -- docker [--only STEP,…] [--kills N] [--before COMMIT] [--keep]

  --only STEP,…    of image, confinement, secrets, monitoring, stopping, memory, kills, restore, failover, upgrade; else all
  --kills N        how often an instance, and how often the database is killed under load; 10
  --before COMMIT  the version that is upgraded from; else the newest tag v*, or the commit since which the tables are as now
  --keep           leaves the containers and the images of this run
`
const RECOVERY = 'docs/operating/recovery.md'
const INSTANCES = ['mkopo-1', 'mkopo-2']
const IMAGE = 'mkopo:latest'
const PROMETHEUS = 'http://mkopo-try-prometheus:9090/api/v1'
const IMAGE_BEFORE = 'mkopo:before'
const root = { cwd: new URL('../..', import.meta.url).pathname }

interface Options {
  readonly only: readonly string[] | undefined
  readonly kills: number
  readonly before: string | undefined
  readonly keep: boolean
}

function readOptions(args: readonly string[]): Options {
  const given = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
  return {
    only: given('--only')?.split(','),
    kills: Number(given('--kills') ?? 10),
    before: given('--before'),
    keep: args.includes('--keep'),
  }
}

/** @throws Error where Docker cannot be reached, or has containers or books of Mkopo: they would be thrown away */
async function demandEmptyDocker(): Promise<void> {
  const versions = await bash(
    "docker version --format '{{.Server.Version}}'; docker compose version --short; docker buildx version",
    root,
  )
  say(`Docker ${versions.trim().split('\n').join(', ')}`)
  const own = await bash(
    'docker ps --all --quiet --filter name=^mkopo-; docker volume ls --quiet --filter name=^mkopo_',
    root,
  )
  demand(own === '', 'this Docker has containers or volumes of Mkopo: it is not one to try on')
}

async function reportImage(stack: Stack): Promise<void> {
  const bytes = await bash(`docker image inspect --format '{{.Size}}' ${IMAGE}`, root)
  const inside = JSON.parse(
    await stack.inInstance(
      `const { readdirSync, readFileSync, existsSync } = require('fs')
      const { components } = JSON.parse(readFileSync('sbom.cdx.json', 'utf8'))
      const licences = readFileSync('licences.csv', 'utf8').trim().split('\\n').length - 1
      console.log(JSON.stringify({ packages: components.length, licences, debian: readdirSync('/var/lib/dpkg/status.d'),
        shells: ['/bin/sh', '/bin/bash', '/usr/bin/sh', '/usr/local/bin/npm', '/usr/bin/apt-get'].filter(existsSync) }))`,
    ),
  )
  demand(inside.packages === inside.licences && inside.packages > 100, 'each package has a licence')
  demand(inside.shells.length === 0, `the image has ${inside.shells}`)
  const label = await bash(
    `docker image inspect --format '{{index .Config.Labels "org.opencontainers.image.version"}}' ${IMAGE}`,
    root,
  )
  demand(label.trim() === manifest.version, `the label of the image says version ${label}`)
  say(
    `image: ${Math.round(Number(bytes) / 1e6)} MB; ${inside.packages} packages of npm; of Debian ${inside.debian.join(', ')}; no shell`,
  )
}

async function confinement(stack: Stack): Promise<void> {
  for (const service of INSTANCES) {
    const seen = JSON.parse(
      await stack.inInstance(
        `const { readFileSync, writeFileSync } = require('fs')
        const status = readFileSync('/proc/self/status', 'utf8')
        const field = (name) => new RegExp('^' + name + ':\\\\s+(.*)$', 'm').exec(status)[1]
        const written = (path) => { try { writeFileSync(path, 'x'); return 'written' } catch ({ code }) { return code } }
        console.log(JSON.stringify({ uid: process.getuid(), CapEff: field('CapEff'), CapBnd: field('CapBnd'), NoNewPrivs: field('NoNewPrivs'),
          root: written('/app/x'), etc: written('/etc/x'), tmp: written('/tmp/x') }))`,
        service,
      ),
    )
    const wanted = {
      uid: 1000,
      CapEff: '0000000000000000',
      CapBnd: '0000000000000000',
      NoNewPrivs: '1',
      root: 'EROFS',
      etc: 'EROFS',
      tmp: 'written',
    }
    demand(JSON.stringify(seen) === JSON.stringify(wanted), `${service} is ${JSON.stringify(seen)}`)
    demand(
      (await stack.inspect(service, '{{.HostConfig.Memory}}')) === String(2 * 1024 ** 3),
      `${service} has its limit of memory`,
    )
  }
  say('instances: user 1000, no capabilities, no new privileges, the file system is read-only but for /tmp')
  const refused = await stack.inInstance(
    `const { Client } = require('pg')
    const client = new Client({ connectionString: process.env.DATABASE_URL })
    client.connect().then(() => client.query('UPDATE audit_entry SET action = action'))
      .then(() => 'done', ({ code }) => code).then((text) => { console.log(text); return client.end() })`,
  )
  demand(refused.trim() === '42501', `the service's role may change the audit trail: ${refused}`)
  const environment = await stack.inspect('mkopo-1', '{{json .Config.Env}}')
  demand(!environment.includes(await stack.get('POSTGRES_PASSWORD')), "an instance has the owner's password")
  say("roles: the service may not change the audit trail, and the instances do not have the owner's password")
}

async function secretsByFile(stack: Stack): Promise<void> {
  await stack.writeSecrets()
  const secret = await stack.get('KEY_ENCRYPTION_SECRET')
  const files = '--file docker-compose.yml --file deploy/compose.secrets.yml'
  await stack.run(`docker compose ${files} up --wait`)
  const environment = await stack.inspect('mkopo-1', '{{json .Config.Env}}')
  const service = await stack.get('SERVICE_PASSWORD')
  demand(![secret, service].some((one) => environment.includes(one)), 'the environment of an instance has a secret')
  await stack.check()
  await stack.run('docker compose up --wait')
  say('secrets by file: served, and none is in the environment')
}

/** Scrapes both instances by deploy/prometheus, and asks what the dashboard asks. */
async function monitoring(stack: Stack): Promise<void> {
  const mounts = `--volume ${stack.folder}/deploy/prometheus:/etc/prometheus:ro --tmpfs /tmp:mode=1777`
  await stack.run(`docker run --detach --name mkopo-try-prometheus --network mkopo_front ${mounts} ${PROMETHEUS_IMAGE}`)
  const ask = async (path: string) => {
    const answer = await stack.inInstance(`fetch('${PROMETHEUS}/${path}').then((it) => it.text()).then(console.log)`)
    return JSON.parse(answer)
  }
  await until('both instances are scraped', async () => {
    const { data } = await ask(`query?query=${encodeURIComponent('up{job="mkopo"} == 1')}`)
    return data.result.length === 2 ? true : undefined
  })
  const { data } = await ask('rules')
  const rules = data.groups.flatMap((group: { rules: unknown[] }) => group.rules)
  // A rate needs two scrapes.
  await pause(20_000)
  const dashboard = JSON.parse(readFileSync(new URL('../grafana/mkopo.json', import.meta.url), 'utf8'))
  const expressions: string[] = [...JSON.stringify(dashboard).matchAll(/"expr":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
    JSON.parse(text!),
  )
  const queries = expressions.map((expression) =>
    expression
      .replaceAll('$__rate_interval', '1m')
      .replaceAll('$__range', '1h')
      .replace(/\$\{?\w+\}?/g, '.*'),
  )
  const answers = JSON.parse(
    await stack.inInstance(
      `const ask = (query) => fetch('${PROMETHEUS}/query?query=' + encodeURIComponent(query)).then((it) => it.json())
      Promise.all(${JSON.stringify(queries)}.map(ask)).then((answers) => console.log(JSON.stringify(answers)))`,
    ),
  ) as { status: string; error?: string; data: { result: unknown[] } }[]
  for (const [index, { status, error }] of answers.entries())
    demand(status === 'success', `Prometheus refuses ${queries[index]}: ${error}`)
  const having = answers.filter(({ data }) => data.result.length > 0).length
  await stack.run('docker rm --force mkopo-try-prometheus')
  say(
    `Prometheus scrapes both instances, has ${rules.length} alerts, and takes all ${expressions.length} questions of the dashboard; ${having} have figures already`,
  )
}

async function stopping(stack: Stack): Promise<void> {
  let took = 0
  const seen = await stack.underLoad(async () => {
    for (const service of INSTANCES) {
      const began = seconds()
      await stack.run(`docker compose stop ${service}`)
      took = Math.max(took, seconds() - began)
      demand((await stack.inspect(service, '{{.State.ExitCode}}')) === '0', `${service} ended well`)
      await stack.run(`docker compose up --detach --no-deps --wait ${service}`)
    }
  })
  demand(seen.refused.size === 0, `SIGTERM: ${JSON.stringify([...seen.refused])}`)
  await stack.demandNothingLost(`SIGTERM of each instance in turn, ${took.toFixed(1)} s at most`, seen)
}

async function kills(stack: Stack, times: number): Promise<void> {
  const instances = await stack.underLoad(async () => {
    for (let time = 0; time < times; time++) await stack.kill(INSTANCES[time % INSTANCES.length]!)
  })
  await stack.demandNothingLost(`kill -9 of an instance, ${times} times`, instances)
  const database = await stack.underLoad(async () => {
    for (let time = 0; time < times; time++) {
      await stack.kill(stack.primary)
      await pause(2_000)
    }
  })
  await stack.demandNothingLost(`kill -9 of the database, ${times} times`, database)
}

/** The most memory that the containers had, in MB, while repayments were posted for some seconds. */
async function memory(stack: Stack): Promise<void> {
  const most = new Map<string, number>()
  await stack.set('INSTANCE_MEMORY', '400m')
  await stack.run('docker compose up --detach --wait mkopo-1 mkopo-2 proxy')
  const seen = await stack.underLoad(async () => {
    for (let sample = 0; sample < 10; sample++) {
      const lines = (await stack.run("docker stats --no-stream --format '{{.Name}} {{.MemUsage}}'")).trim().split('\n')
      for (const line of lines) {
        const [, name = '', used = '0', unit] = /^mkopo-(\S+)-1 ([\d.]+)(\w+)/.exec(line) ?? []
        most.set(name, Math.max(most.get(name) ?? 0, unit === 'GiB' ? Number(used) * 1_024 : Number(used)))
      }
    }
  })
  for (const service of INSTANCES)
    demand(
      (await stack.inspect(service, '{{.State.OOMKilled}} {{.RestartCount}}')) === 'false 0',
      `${service} had enough memory`,
    )
  await stack.set('INSTANCE_MEMORY', '2g')
  await stack.run('docker compose up --detach --wait mkopo-1 mkopo-2 proxy')
  await stack.demandNothingLost('instances of 400 MB', seen)
  say(
    `memory under load, at most: ${[...most].map(([name, megabytes]) => `${name} ${Math.round(megabytes)} MB`).join(', ')}`,
  )
}

async function dumpAndRestore(stack: Stack): Promise<void> {
  const [dump = '', ...restore] = blockOf(RECOVERY, 'dropdb').split('\n')
  const before = await stack.underLoad(async () => undefined)
  await stack.run(dump)
  const after = await stack.underLoad(async () => undefined)
  await stack.run(restore.join('\n'))
  const later = [...after.acknowledged].slice(0, 1)
  const found = await stack.sql(`SELECT count(*) FROM loan_entry WHERE token = '${later[0]}'`)
  demand(found === '0', 'a repayment after the dump is not in it')
  await stack.demandNothingLost('dump and restore: what was posted before it', before)
}

async function failOver(stack: Stack): Promise<void> {
  await stack.run('docker compose --profile standby up --detach --wait standby')
  await until('the standby streams', async () =>
    (await stack.sql('SELECT state FROM pg_stat_replication')) === 'streaming' ? true : undefined,
  )
  await stack.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
  await stack.sql('SELECT pg_reload_conf()')
  await until('the standby is a synchronous one', async () =>
    (await stack.sql('SELECT sync_state FROM pg_stat_replication')) === 'sync' ? true : undefined,
  )
  const steps = blockOf(RECOVERY, 'pg_promote').split('\n')
  let took = 0
  const seen = await stack.underLoad(async () => {
    const began = seconds()
    await stack.run(steps.slice(0, -1).join('\n'))
    await stack.set('DATABASE_HOST', 'standby')
    await stack.run(steps.at(-1)!)
    took = seconds() - began
  })
  stack.primary = 'standby'
  await stack.demandNothingLost(`fail-over to the standby, ${took.toFixed(1)} s`, seen)
  await stack.run(blockOf(RECOVERY, 'docker volume rm'), { PGPASSWORD: await stack.get('POSTGRES_PASSWORD') })
  await until('the old primary follows', async () =>
    (await stack.sql('SELECT state FROM pg_stat_replication')) === 'streaming' ? true : undefined,
  )
  say('the old primary follows as the standby')
}

async function upgrade(before: string | undefined): Promise<void> {
  const commit =
    before ??
    (
      await bash(
        "git describe --tags --abbrev=0 --match 'v*' 2> /dev/null || git log -1 --format=%h -- prisma/migrations",
        root,
      )
    ).trim()
  await buildCommit(commit, IMAGE_BEFORE)
  const stack = new Stack(await copyCheckout())
  await stack.whileItStands(false, async () => {
    await stack.followTheGuide(IMAGE_BEFORE)
    const made = await stack.underLoad(async () => undefined)
    await stack.demandNothingLost(`the version ${commit}`, made)
    const seen = await stack.underLoad(async () => {
      await stack.set('MKOPO_IMAGE', IMAGE)
      await stack.run('docker compose build && docker compose run --rm migrate')
      for (const service of INSTANCES) await stack.run(`docker compose up --detach --no-deps --wait ${service}`)
    })
    demand(seen.refused.size === 0, `the upgrade: ${JSON.stringify([...seen.refused])}`)
    await stack.demandNothingLost(`upgrade from ${commit} under load`, seen)
  })
}

async function tryAll({ only, kills: times, before, keep }: Options): Promise<void> {
  const steps: Readonly<Record<string, (stack: Stack) => Promise<void>>> = {
    image: reportImage,
    confinement,
    secrets: secretsByFile,
    monitoring,
    stopping,
    memory,
    kills: (stack) => kills(stack, times),
    restore: dumpAndRestore,
    failover: failOver,
  }
  const unknown = only?.find((name) => name !== 'upgrade' && !(name in steps))
  demand(unknown === undefined, `--only: there is no step ${unknown}`)
  await demandEmptyDocker()
  await haveBaseImages()
  const stack = new Stack(await copyCheckout())
  await stack.whileItStands(keep, async () => {
    const last = await stack.followTheGuide()
    demand(/"principal_amount":5000.*"total":1,/.test(last), `the guide ends with the first loan: ${last}`)
    say('the guide of docs/settings.md, to the first loan and its repayment through HAProxy')
    for (const [name, step] of Object.entries(steps)) if (only?.includes(name) ?? true) await step(stack)
  })
  if (!keep && (only?.includes('upgrade') ?? true)) await upgrade(before)
  say('all held')
}

if (process.argv.includes('--help')) process.stdout.write(USAGE)
else {
  try {
    await tryAll(readOptions(process.argv.slice(2)))
  } catch (error) {
    say((error as Error).message)
    process.exitCode = 1
  }
}
