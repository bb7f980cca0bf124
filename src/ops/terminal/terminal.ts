import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { text } from 'node:stream/consumers'
import confirm from '@inquirer/confirm'
import password from '@inquirer/password'
import { Presets, SingleBar } from 'cli-progress'
import { openBook } from '../open.ts'
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
    streams: { input: process.stdin, output: process.stdout },
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

/** Exit code of a program whose output has no reader any more, as shells report it: 128 and the number of SIGPIPE. */
const READER_LEFT = 141
const FAILED = 1

/** The output and the exit code of a program. */
type Program = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exitCode'>

/**
 * Ends a program in good order when its output cannot be written: silently when the reader has gone, as in `mkopo audit
 * | head`; with the reason on stderr otherwise, for instance when the disk is full.
 * @param leave called once, when nothing more needs to be written
 */
export function watchOutput(program: Program, leave: () => void): { isRead(): boolean } {
  let isRead = true
  for (const stream of [program.stdout, program.stderr])
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!isRead) return
      isRead = false
      program.exitCode = code === 'EPIPE' ? READER_LEFT : FAILED
      if (code !== 'EPIPE' && stream === program.stdout)
        program.stderr.write(`mkopo: the output cannot be written: ${message}\n`)
      leave()
    })
  return { isRead: () => isRead }
}
