import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

const began = performance.now()

/** Returns the seconds since the program began. */
export const seconds = (): number => (performance.now() - began) / 1_000

/** Prints a line with the time since the program began. */
export function say(text: string): void {
  process.stdout.write(`${seconds().toFixed(1).padStart(7)} s  ${text}\n`)
}

/** Where commands are run, and with what. */
export interface Place {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Runs a text as bash does, line by line, until one fails.
 * @returns what it printed on stdout
 * @throws Error with the end of what it printed, where a line failed
 */
export async function bash(text: string, { cwd, env = {} }: Place): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', text], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, all] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
    all += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    all += chunk
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`exit code ${code} of\n${text}\n${all.slice(-4_000)}`)
  return out
}

/**
 * Asks again and again until an answer is there.
 * @param ask undefined, or an error: not yet
 * @throws Error after a time, in seconds, with what is waited for and the last error
 */
export async function until<T>(what: string, ask: () => Promise<T | undefined>, within = 180): Promise<T> {
  const deadline = seconds() + within
  let last: unknown
  while (seconds() < deadline) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      last = error
    }
    await pause(500)
  }
  throw new Error(`${what}: not within ${within} s${last instanceof Error ? `: ${last.message}` : ''}`)
}

/** @throws Error with what should have been, where it was not */
export function demand(held: boolean, what: string): asserts held {
  if (!held) throw new Error(what)
}
