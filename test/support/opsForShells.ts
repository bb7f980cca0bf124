import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { vi } from 'vitest'
import { openBook } from '../../src/ops/open.ts'
import { opsThrough } from './ops.ts'

/** A program that a shell can call in place of `mkopo`: its commands run in this process. */
export interface OpsForShells {
  /** The text of the program, for `sh`. */
  readonly program: string
  close(): Promise<void>
}

/**
 * Serves the command line to shells. Each command has the arguments, the folder and the standard input that the shell gives
 * it, and prints and ends as the program does. Starting the program takes longer than most commands; `test/programs/ops.test.ts` has it.
 * @param settings the environment of the commands
 */
export async function serveOps(settings: Record<string, string>): Promise<OpsForShells> {
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-ops-'))
  const socket = join(folder, 'socket')
  const server = createServer(async (request, response) => {
    const call = await text(request)
    const read = (name: string) => readFile(join(call, name), 'utf8').catch(() => '')
    const args = (await read('args')).split('\0').slice(0, -1)
    const { code, out, err } = await runIn(await read('folder'), settings, args, await read('stdin'))
    await Promise.all([writeFile(join(call, 'out'), out), writeFile(join(call, 'err'), err)])
    response.end(String(code))
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return {
    // A command that asks for a password reads its input; another one leaves it to the shell, whose next lines it is.
    program: `call=$(mktemp -d ${folder}/XXXXXX)
printf '%s\\0' "$@" > $call/args
printf %s "$PWD" > $call/folder
case "$*" in *'accounts create'*) cat > $call/stdin ;; esac
code=$(curl -s --unix-socket ${socket} --data $call http://localhost/)
cat $call/out
cat $call/err >&2
exit $code`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function runIn(folder: string, settings: Record<string, string>, args: readonly string[], stdin: string) {
  const here = process.cwd()
  // Vitest has a BASE_URL of its own.
  for (const [name, value] of Object.entries({ BASE_URL: undefined, ...settings })) vi.stubEnv(name, value)
  process.chdir(folder)
  try {
    return await opsThrough(openBook)(args, { stdin })
  } finally {
    process.chdir(here)
    vi.unstubAllEnvs()
  }
}
