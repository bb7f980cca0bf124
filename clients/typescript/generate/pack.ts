import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const CLIENT = join(import.meta.dirname, '..')
const TSC = join(CLIENT, '../../node_modules/.bin/tsc')
const DIST = join(CLIENT, 'dist')

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
 * semicolon at the end of a line, and a space for each step of indentation. An editor shows the same.
 */
const compact = (source: string): string =>
  source
    .replaceAll(/\n *\/\*\* @nullable \*\/|\n *\* @nullable/g, '')
    .replaceAll(/\/\*\*\n +\* ([^\n]*)\n +\*\//g, '/** $1 */')
    .replaceAll(/;$/gm, '')
    .replaceAll(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 4))

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
