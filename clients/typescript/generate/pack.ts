import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const CLIENT = join(import.meta.dirname, '..')
const TSC = join(CLIENT, '../../node_modules/.bin/tsc')
/** The folder into which the package is built. */
export const DIST = join(CLIENT, 'dist')
/** The packed file stays below this size (contract 13). */
export const MOST_BYTES = 48_000

/**
 * Builds the package: its scripts without comments, its declarations with them.
 * @throws Error with what the compiler says
 */
export async function build(): Promise<void> {
  await rm(DIST, { recursive: true, force: true })
  await compile('--removeComments', '--declaration', 'false')
  await compile('--emitDeclarationOnly')
  const read = new Set<string>()
  await finishDeclarations('index.d.ts', read)
  for (const file of await readdir(DIST, { recursive: true }))
    if (file.endsWith('.d.ts') && !read.has(file)) await rm(join(DIST, file))
    else if (file.endsWith('.js'))
      await writeFile(join(DIST, file), compactScript(await readFile(join(DIST, file), 'utf8')))
}

/** Returns a script without indentation. @throws Error for a text of several lines, which would lose its own */
export function compactScript(source: string): string {
  const split = source.split('\n').findIndex((line) => (line.match(/`/g)?.length ?? 0) % 2 === 1)
  if (split >= 0) throw new Error(`line ${split + 1} of a script begins or ends a text of several lines`)
  return source.replaceAll(/^ +/gm, '')
}

/** Finishes a declaration file and those that it imports: the compiler renames the imports of scripts only. */
async function finishDeclarations(file: string, read: Set<string>): Promise<void> {
  if (read.has(file)) return
  read.add(file)
  const source = await readFile(join(DIST, file), 'utf8')
  const imports = /((?:from |import\()['"])(\.[^'"]*)\.ts(?=['"])/g
  const renamed = source.replaceAll(imports, (_, before, name) => `${before}${name}.js`)
  await writeFile(join(DIST, file), compact(renamed))
  for (const [, , name] of source.matchAll(imports)) await finishDeclarations(join(dirname(file), `${name}.d.ts`), read)
}

/**
 * Returns declarations in fewer bytes: no `@nullable`, which the type says already, each comment of one line on a line, no
 * semicolon at the end of a line, and no indentation but of comments of several lines. An editor shows the same.
 */
const compact = (source: string): string =>
  source
    .replaceAll(/\n *\/\*\* @nullable \*\/|\n *\* @nullable/g, '')
    .replaceAll(/\/\*\*\n +\* ([^\n]*)\n +\*\//g, '/** $1 */')
    .replaceAll(/;$/gm, '')
    .replaceAll(/^ +(\*?)/gm, (_, star: string) => star && ' *')

async function compile(...options: string[]): Promise<void> {
  await run(TSC, ['-p', CLIENT, ...options]).catch(({ stdout }: { stdout: string }) => {
    throw new Error(`the client does not compile:\n${stdout}`)
  })
}

/** The packed file. */
export interface Packed {
  readonly path: string
  readonly bytes: number
  readonly unpackedBytes: number
}

/** Packs the package that was built into a folder. */
export async function pack(into: string): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', into], { cwd: CLIENT })
  const told = JSON.parse(stdout)
  const [{ filename, size, unpackedSize }] = Array.isArray(told) ? told : Object.values<never>(told)
  return { path: join(into, filename), bytes: size, unpackedBytes: unpackedSize }
}
