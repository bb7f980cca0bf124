import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { text } from 'node:stream/consumers'
import confirm from '@inquirer/confirm'
import password from '@inquirer/password'
import { Presets, SingleBar } from 'cli-progress'
import { openBook } from '../open.ts'
import { watchOutput } from './output.ts'
import { Declined, type Io, type Progress } from './terminalIo.ts'

/** Returns the input and output of a process. Questions and progress go to stderr: stdout is for results. */
export function terminal(): Io {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // A second signal ends the process at once; the database rolls back what is half done.
      if (stopping.signal.aborted) process.exit(130)
      stopping.abort()
    })
  const output = watchOutput(process, () => stopping.abort())
  return {
    open: openBook,
    run: `ops:${userName()}:${randomBytes(4).toString('hex')}`,
    out: (line) => process.stdout.write(line),
    err: (line) => output.isRead() && process.stderr.write(line),
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    confirm: (message) => answered(confirm({ message, default: false }, { output: process.stderr })),
    askPassword: (message) => answered(password({ message, mask: true }, { output: process.stderr })),
    readStdin: () => text(process.stdin),
    startProgress,
    stopping: stopping.signal,
  }
}

/** Returns the answer to a question; Ctrl-C declines it. */
const answered = <T>(question: Promise<T>): Promise<T> =>
  question.catch((error: Error) => {
    throw error.name === 'ExitPromptError' ? new Declined('nothing was done') : error
  })

function startProgress(what: string, total: number): Progress {
  if (!process.stderr.isTTY) return { update: () => undefined, stop: () => undefined }
  const format = `${what} [{bar}] {percentage}% {value}/{total}, {eta_formatted} left`
  const bar = new SingleBar({ format, stream: process.stderr, etaBuffer: 50 }, Presets.shades_classic)
  bar.start(total, 0)
  return { update: (done) => bar.update(done), stop: () => bar.stop() }
}

/** Returns the name of the user; the operating system may have none for the user of a container. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
