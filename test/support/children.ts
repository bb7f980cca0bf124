import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { normalize } from 'node:path'
import { inject } from 'vitest'

/** What a program of its own came to. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface Child {
  readonly process: ChildProcess
  readonly ended: Promise<Ended>
  out(): string
}

/** The settings of Node for a program of its own: it finds the code that another one has compiled. */
export const nodeSettings = () => ({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE })

/** Returns the file to start in place of the source of a program, by its path here; any other text as it is. */
export function programOf(text: string): string {
  const programs = new Map(Object.entries(inject('programs')))
  return programs.get(normalize(text)) ?? text
}

const running = new Set<ChildProcess>()

/** `node <script> …args`, with as good as no environment and nobody at its terminal. */
export function startNode(args: readonly string[], env: Record<string, string>, stdin = ''): Child {
  const child = spawn(process.execPath, args.map(programOf), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', ...nodeSettings(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  running.add(child)
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    err += chunk
  })
  child.stdin.on('error', () => undefined).end(stdin)
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    return { code, signal, out, err }
  })
  return { process: child, ended, out: () => out }
}

/** Ends what a test left running. */
export async function endChildren(): Promise<void> {
  const last = [...running].map((child) => once(child, 'close'))
  for (const child of running) child.kill('SIGKILL')
  await Promise.all(last)
}
