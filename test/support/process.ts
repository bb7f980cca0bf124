import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import manifest from '../../package.json' with { type: 'json' }
import { DEMO_PARTNER } from '../../src/services/demo.ts'

/** A service in a process of its own, as an operator runs it. */
export interface ServiceProcess {
  readonly child: ChildProcess
  /** Where it listens, and where it shows itself to operators. */
  readonly origin: string
  readonly opsOrigin: string
  /** All it has printed. */
  output(): string
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** What `npm start` runs, with these settings, once it listens. */
export async function startProcess(settings: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, manifest.scripts.start.split(' ').slice(1), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal)
  for (let waited = 0; waited < 30_000; waited += 50) {
    const origin = /listens on (http:\S+)/.exec(output)?.[1]
    const opsOrigin = /operators +(http:\S+)/.exec(output)?.[1] ?? ''
    if (origin !== undefined && output.includes('Ctrl-C'))
      return { child, origin, opsOrigin, output: () => output, ended }
    if (child.exitCode !== null) throw new Error(`it ended: ${output}`)
    await pause(50)
  }
  child.kill('SIGKILL')
  throw new Error(`it did not start: ${output}`)
}

/** A token from a running service. */
export async function tokenFrom(origin: string, { email, password } = DEMO_PARTNER): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const answer = await fetch(`${origin}/v1/auth/token`, { headers: { authorization } })
  return ((await answer.json()) as { token: string }).token
}
