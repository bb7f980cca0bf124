import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type OutputChunk, rolldown } from 'rolldown'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The files that tests start, by the paths of their sources. */
    programs: Readonly<Record<string, string>>
  }
}

/** The programs that tests start, and what `npm start` loads before the service. */
const PROGRAMS = [
  'src/app/main.ts',
  'src/ops/main.ts',
  'src/observability/tracing.ts',
  'test/support/sequencerProcess.ts',
  'test/support/exportsProcess.ts',
]

const FOLDER = join(process.cwd(), 'node_modules/.cache/programs')
const A_DAY_MS = 86_400_000

/**
 * Writes the programs with all of their own modules in a few files, and returns them by the paths of their sources. A start of the
 * service loads 700 modules of its own, which takes a quarter of its time, and tests start the service a hundred times. Packages
 * are loaded as they are, and a module finds what is beside its source. `npm start` itself is started as it is.
 */
export async function writePrograms(): Promise<Readonly<Record<string, string>>> {
  const bundle = await rolldown({
    input: PROGRAMS,
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    plugins: [{ name: 'place of the source', transform: { filter: { code: /import\.meta\./ }, handler: placed } }],
  })
  const { output } = await bundle.generate({ entryFileNames: '[name]-[hash].js' })
  await bundle.close()
  try {
    return await write(output.filter((file) => file.type === 'chunk'))
  } catch {
    // The sources will do, where this user may not write in the folder.
    return {}
  }
}

/** Writes the files, which are named by their content, and whole at any moment: another run may start the same. */
async function write(chunks: readonly OutputChunk[]): Promise<Readonly<Record<string, string>>> {
  await mkdir(FOLDER, { recursive: true })
  await removeOld()
  const programs: Record<string, string> = {}
  for (const { fileName, code, facadeModuleId } of chunks) {
    const file = join(FOLDER, fileName)
    await writeFile(`${file}.${process.pid}`, code)
    await rename(`${file}.${process.pid}`, file)
    const path = PROGRAMS.find((one) => join(process.cwd(), one) === facadeModuleId)
    if (path !== undefined) programs[path] = file
  }
  return programs
}

/** Returns the code of a module with the place of its source wherever it asks for its own. */
const placed = (code: string, id: string): string =>
  code
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
    .replaceAll('import.meta.dirname', JSON.stringify(join(id, '..')))

/** Removes what no run can be using any more. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(FOLDER)) {
    const file = join(FOLDER, name)
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }))
    if (mtimeMs < Date.now() - A_DAY_MS) await rm(file, { force: true })
  }
}
