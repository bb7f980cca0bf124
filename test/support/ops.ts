import { PassThrough, Readable } from 'node:stream'
import { runOps } from '../../src/ops/run.ts'
import type { Io } from '../../src/ops/terminal/terminalIo.ts'
import type { TestService } from './service.ts'
import type { Wire } from './wire.ts'

/** What a run of the command line came to. */
export interface Run<Json = Wire> {
  readonly code: number
  readonly out: string
  readonly err: string
  readonly json: Json
}

/** The person at the terminal of a test; nobody when left out. */
export interface Operator {
  /** What is answered when asked whether to go on. */
  readonly says?: boolean
  readonly passwords?: readonly string[]
  readonly stdin?: string
  readonly stopping?: AbortSignal
  onOut?(text: string): void
}

export const RUN = 'ops:tester:1'

/** Returns the command line in this process, on the service's own database and by its clock. */
export const opsOn = ({ deps }: Pick<TestService, 'deps'>) =>
  opsThrough(async () => ({ deps, close: async () => undefined }))

/** Returns the command line in this process, on the book that `open` opens. */
export function opsThrough(open: Io['open']) {
  return async <Json = Wire>(command: string | readonly string[], operator: Operator = {}): Promise<Run<Json>> => {
    const args = typeof command === 'string' ? command.split(' ') : command
    const [out, err]: [string[], string[]] = [[], []]
    const passwords = [...(operator.passwords ?? [])]
    const io: Io = {
      open,
      run: RUN,
      out: (text) => {
        out.push(text)
        operator.onOut?.(text)
      },
      err: (text) => err.push(text),
      interactive: operator.says !== undefined || operator.passwords !== undefined,
      confirm: async (question) => {
        err.push(`${question}\n`)
        return operator.says ?? false
      },
      askPassword: async () => passwords.shift() ?? '',
      readStdin: async () => operator.stdin ?? '',
      streams: { input: Readable.from([]), output: new PassThrough() },
      startProgress: () => ({ update: () => undefined, stop: () => undefined }),
      stopping: operator.stopping ?? new AbortController().signal,
    }
    const code = await runOps(args, io)
    const text = out.join('')
    return {
      code,
      out: text,
      err: err.join(''),
      json: args.includes('--json') && text !== '' ? JSON.parse(text) : null,
    }
  }
}
