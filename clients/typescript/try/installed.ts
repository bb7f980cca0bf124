import { cp, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { run } from '../../try/run.ts'
import { logOf, npmPackages } from '../../try/tools.ts'
import { build, pack } from '../generate/pack.ts'
import { COMPILERS, NODES, PACKAGES } from './versions.ts'

const SOURCES = join(import.meta.dirname, 'project')

/** Options of compilers that integrators have, by name. No library is skipped: the declarations of the client count. */
const PROJECTS = {
  node: { module: 'nodenext', lib: ['es2022'], types: ['node'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], types: [] },
  strictest: {
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    isolatedModules: true,
    verbatimModuleSyntax: true,
  },
}

/** An empty project into which the packed client was installed. */
export interface Installed {
  readonly folder: string
  /** The folder with the compilers, the Nodes and the bundler. */
  readonly tools: string
  readonly packedBytes: number
}

/** Builds and packs the client, and installs the packed file into an empty project. */
export async function installClient(into: string): Promise<Installed> {
  await mkdir(into, { recursive: true })
  await build()
  const { path, bytes } = await pack(into)
  const folder = join(into, 'project')
  await cp(SOURCES, folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await run('npm', ['install', '--no-audit', '--no-fund', path], { cwd: folder, log: logOf('client-install') })
  const tools = await npmPackages(PACKAGES)
  await symlink(join(tools, 'node_modules', '@types'), join(folder, 'node_modules', '@types'), 'dir')
  return { folder, tools, packedBytes: bytes }
}

/** Compiles the sources of the project under each compiler and with the options of each kind of project. */
export async function compileAll({ folder, tools }: Installed, say: (line: string) => void): Promise<void> {
  for (const compiler of COMPILERS)
    for (const [name, options] of Object.entries(PROJECTS)) {
      const project = join(folder, `tsconfig.${compiler}.${name}.json`)
      const outDir = join('out', compiler, name)
      const always = { target: 'es2022', strict: true, skipLibCheck: false, rootDir: '.', outDir }
      await writeFile(project, JSON.stringify({ compilerOptions: { ...always, ...options }, include: ['*.ts'] }))
      const tsc = join(tools, 'node_modules', compiler, 'bin', 'tsc')
      const log = logOf(`client-${compiler}-${name}`)
      await run(process.execPath, [tsc, '-p', project], { cwd: folder, log })
      say(`${compiler}, ${name}: compiles`)
    }
}

/** Runs the compiled job in each Node. */
export async function runAll(
  { folder, tools }: Installed,
  environment: Readonly<Record<string, string>>,
  say: (line: string) => void,
): Promise<void> {
  for (const [job, node] of NODES.entries()) {
    const program = join(tools, 'node_modules', node, 'bin', 'node')
    const script = join('out', COMPILERS[0], 'node', 'job.js')
    const log = logOf(`client-${node}`)
    await run(program, [script], { cwd: folder, log, environment: { ...environment, JOB: String(job) } })
    say((await readFile(log, 'utf8')).trim().split('\n').at(-1)!)
  }
}

/** Bundles what a browser and a receiver of webhooks load, and says how large that is. */
export async function bundleAll({ folder, tools, packedBytes }: Installed, say: (line: string) => void): Promise<void> {
  say(`packed: ${packedBytes} bytes`)
  const esbuild = join(tools, 'node_modules', '.bin', 'esbuild')
  for (const [name, source] of [
    ['the whole client', join('node_modules', '@mkopo', 'client', 'dist', 'index.js')],
    ['verifyWebhook alone', 'webhook.ts'],
  ] as const) {
    const bundle = join(folder, 'out', 'bundle.js')
    const options = ['--bundle', '--minify', '--format=esm', '--platform=browser', `--outfile=${bundle}`]
    await run(esbuild, [source, ...options], { cwd: folder, log: logOf('client-bundle') })
    const { size } = await stat(bundle)
    say(`${name}, bundled and minified: ${size} bytes, ${gzipSync(await readFile(bundle)).length} bytes by gzip`)
  }
}
