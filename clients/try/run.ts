import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A program or a package that cannot be had here: its step is skipped. */
export class NotHereError extends Error {}

/** Where a program runs, what it gets, and how long it may take. */
export interface RunOptions {
  readonly cwd: string
  /** The file that gets all that the program writes. */
  readonly log: string
  readonly environment?: Readonly<Record<string, string>>
  /** Default 300. The program is killed after that. */
  readonly seconds?: number
}

const DEFAULT_SECONDS = 300
const LINES_SHOWN = 12

/** The result of a program that ran to its end. */
export interface Ran {
  readonly code: number
  readonly output: string
}

/**
 * Runs a program to its end and returns its exit code and all that it wrote.
 * @throws NotHereError when there is no such program; Error when it takes too long
 */
export async function runToEnd(command: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  const { cwd, log, environment = {}, seconds = DEFAULT_SECONDS } = options
  await mkdir(cwd, { recursive: true })
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its own process group: a program that takes too long ends with all that it has started.
    detached: true,
  })
  const kill = () => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (child.pid !== undefined && !hasEnded) process.kill(-child.pid, 'SIGKILL')
  }
  process.once('exit', kill)
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill()
  }, seconds * 1000)
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    const output = Buffer.concat(chunks).toString('utf8')
    await mkdir(dirname(log), { recursive: true })
    await writeFile(log, `$ ${[command, ...args].join(' ')}\n${output}`)
    if (isLate) throw new Error(`${command} took more than ${seconds} s; see ${log}`)
    return { code: code ?? 1, output }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    // EACCES: one of the folders in PATH may not be looked into.
    if (syscall?.startsWith('spawn') && ['ENOENT', 'EACCES'].includes(code!))
      throw new NotHereError(`${command} is not installed`)
    throw error
  } finally {
    clearTimeout(timer)
    process.off('exit', kill)
  }
}

/**
 * Runs a program that has to succeed, and returns what it wrote.
 * @throws NotHereError as `runToEnd`; Error with its last lines when its exit code is not 0
 */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { code, output } = await runToEnd(command, args, options)
  if (code === 0) return output
  const last = output.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n')
  throw new Error(`${command} ended with ${code}; see ${options.log}\n${last}`)
}
