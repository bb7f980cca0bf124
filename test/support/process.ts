import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { ONE_REQUEST_MS } from '../../src/process/ending.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { nodeSettings, programOf } from './children.ts'
import { readExposition } from './exposition.ts'
import { PATIENT_LAG_MS, within } from './patience.ts'

/** What `npm start` runs, in a process of its own: it may be starting, serve, or have ended. */
export interface Spawned {
  readonly child: ChildProcess
  /** All it has printed. */
  output(): string
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** A service in a process of its own, as an operator runs it, that listens. */
export interface ServiceProcess extends Spawned {
  /** Where it listens, and where it shows itself to operators: each process of it, where it has several. */
  readonly origin: string
  readonly opsOrigin: string
  readonly workers: readonly { readonly opsOrigin: string; readonly pid: number }[]
}

/** The arguments that `npm start` gives to Node. */
const START_ARGUMENTS = manifest.scripts.start.replace(/^exec node /, '').split(' ')

/** Returns the arguments of Node that start the service in the folder of this one. */
export const startArguments = (): string[] => START_ARGUMENTS.map(programOf)

/**
 * Starts what `npm start` runs, with these settings.
 * @param options.group in a process group of its own, as a terminal gives it
 * @param options.npm by `npm start`: `child` is then npm
 * @param options.cwd the folder of the service; this one when left out
 */
export function spawnProcess(
  settings: Record<string, string>,
  { group = false, npm = false, cwd }: { group?: boolean; npm?: boolean; cwd?: string } = {},
): Spawned {
  const args = cwd === undefined ? startArguments() : START_ARGUMENTS
  const [command, all] = npm ? ['npm', ['start']] : [process.execPath, args]
  const child = spawn(command, all, {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...nodeSettings(),
      PORT: '0',
      OPS_PORT: '0',
      LOG_LEVEL: 'warn',
      // The load of a test is that of one account.
      RATE_LIMIT_ACCOUNT: '1000000000',
      RATE_LIMIT_ADDRESS: '1000000000',
      MAX_LAG_MS: String(PATIENT_LAG_MS),
      // An empty setting counts as not set, and leaves those above.
      ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== '')),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: group,
    cwd,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  return { child, output: () => output, ended }
}

/** Returns a service once it listens, and has printed where. */
export async function listening(spawned: Spawned): Promise<ServiceProcess> {
  const { child } = spawned
  for (let waited = 0; waited < within(60_000); waited += 50) {
    const output = spawned.output()
    const origin = /listens on (http:\S+)/.exec(output)?.[1]
    if (origin !== undefined && output.includes('Ctrl-C')) {
      const shown = [...output.matchAll(/operators +(http:\S+) +\S+(?: +process (\d+))?/g)]
      const workers = shown.map(([, opsOrigin = '', pid]) => ({ opsOrigin, pid: Number(pid ?? child.pid) }))
      return { ...spawned, origin, opsOrigin: workers[0]?.opsOrigin ?? '', workers }
    }
    if (child.exitCode !== null) throw new Error(`it ended: ${output}`)
    await pause(50)
  }
  child.kill('SIGKILL')
  throw new Error(`it did not start: ${spawned.output()}`)
}

/** Starts a service as `spawnProcess` does, and returns it once it listens. */
export const startProcess = (...call: Parameters<typeof spawnProcess>): Promise<ServiceProcess> =>
  listening(spawnProcess(...call))

/**
 * Sends a request to a running service, again while it is answered 503: a connection to the database may take more than the two seconds
 * that a request has for it, where other programs want the processors.
 */
export async function sendUntilServed(url: string, request: RequestInit): Promise<Response> {
  for (const until = performance.now() + within(30_000); ; await pause(100)) {
    const answer = await fetch(url, request)
    if (answer.status !== 503 || performance.now() > until) return answer
    await answer.body?.cancel()
  }
}

/** A token from a running service. */
export async function tokenFrom(origin: string, { email, password } = DEMO_PARTNER): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const answer = await sendUntilServed(`${origin}/v1/auth/token`, { headers: { authorization } })
  return ((await answer.json()) as { token: string }).token
}

/** A customer with loans, and a token to repay them with. */
export async function lendFrom(
  { origin }: Pick<ServiceProcess, 'origin'>,
  count: number,
): Promise<{ authorization: string; loans: string[] }> {
  const authorization = `Bearer ${await tokenFrom(origin)}`
  const post = async (path: string, body: object) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await sendUntilServed(`${origin}${path}`, request)).json()) as { id: string }
  }
  const externalId = `asha-${performance.now()}`
  await post('/v1/customers', { externalId })
  const loans: string[] = []
  while (loans.length < count)
    loans.push((await post('/v1/loans', { customerId: externalId, productId: 1, principal: 1_000_000 })).id)
  return { authorization, loans }
}

/** Returns the sum of a metric of a process, over all its labels; requests for the metrics do not count. */
export async function metric(opsOrigin: string, name: string): Promise<number> {
  const page = await fetch(`${opsOrigin}/metrics`)
  const samples = [...readExposition(await page.text()).values()].flatMap((family) => family.samples)
  return samples
    .filter((sample) => sample.name === name && sample.labels.style !== 'office')
    .reduce((sum, { value }) => sum + value, 0)
}

/** Waits until a service has so many requests in work. */
export const untilInWork = ({ workers }: Pick<ServiceProcess, 'workers'>, requests: number) =>
  expect
    .poll(async () => {
      const counts = workers.map(({ opsOrigin }) => metric(opsOrigin, 'mkopo_http_requests_in_flight'))
      // In each process, the request for its metrics is one of them.
      return (await Promise.all(counts)).reduce((sum, count) => sum + count - 1, 0)
    })
    .toBe(requests)

/** Whether there is such a process. */
export function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits until none of its processes is left. */
export const allGone = ({ workers }: ServiceProcess) =>
  expect.poll(() => workers.filter(({ pid }) => lives(pid))).toEqual([])

/** Told to stop twice, it does not wait for its grace to pass. */
export async function expectEndAtOnce({ child, ended, origin }: ServiceProcess): Promise<void> {
  child.kill('SIGTERM')
  // The time between the two counts from when it has heard the first.
  await expect.poll(async () => (await fetch(`${origin}/health/ready`)).status).toBe(503)
  await pause(ONE_REQUEST_MS + 100)
  const began = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toBe(130)
  expect(performance.now() - began).toBeLessThan(within(3_000))
}
