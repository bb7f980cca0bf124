import { createHash } from 'node:crypto'
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NotHereError, run } from './run.ts'
import { COMPANIONS, VERSIONS } from './versions.ts'

/** Kept between runs: what was downloaded. */
const CACHE = join(tmpdir(), 'mkopo-clients-try')
/** Made again by each run: documents, generated clients, logs. */
export const WORK = join(CACHE, 'work')
/** The local repository of Maven, for the tools and for what generated clients need. */
const MAVEN = `-Dmaven.repo.local=${join(CACHE, 'maven')}`
const MAVEN_DEPENDENCY = Object.entries(COMPANIONS.maven)[0]!.join(':')
const DOWNLOAD_SECONDS = 600

/**
 * Empties the folder of a run. The process keeps it until it ends.
 * @throws Error while another run keeps it: two would take each other's files
 */
export async function claimWork(cache = CACHE): Promise<void> {
  await mkdir(cache, { recursive: true })
  const claim = join(cache, 'run.pid')
  const holder = Number(await readFile(claim, 'utf8').catch(() => '0'))
  if (holder !== process.pid && isAlive(holder))
    throw new Error(`the run of process ${holder} uses ${cache}: wait for its end, or set TMPDIR to another directory`)
  await writeFile(claim, String(process.pid))
  await rm(join(cache, 'work'), { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns the file that gets what a program writes. */
export const logOf = (name: string): string => join(WORK, 'logs', `${name}.log`)

/** Packages by name, with their exact versions. */
type Packages = Readonly<Record<string, string>>

const exact = (packages: Packages, separator: string): string[] =>
  Object.entries(packages).map(([name, version]) => `${name}${separator}${version}`)

/**
 * Installs packages of npm in a folder of the cache, unless they are there.
 * @returns the folder, which has `node_modules`
 * @throws NotHereError when they cannot be fetched
 */
export const npmPackages = (packages: Packages): Promise<string> =>
  cached('npm', exact(packages, '@'), async (folder, log) => {
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
    await run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', ...exact(packages, '@')], {
      cwd: folder,
      log,
      seconds: DOWNLOAD_SECONDS,
    })
  })

/**
 * Makes a virtual environment of Python with packages, unless it is there.
 * @returns its folder, which has `bin`
 * @throws NotHereError when Python is not installed or the packages cannot be fetched
 */
export const pythonPackages = (packages: Packages): Promise<string> =>
  cached('python', exact(packages, '=='), async (folder, log) => {
    await run('python3', ['-m', 'venv', folder], { cwd: folder, log })
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...exact(packages, '==')], {
      cwd: folder,
      log,
      seconds: DOWNLOAD_SECONDS,
    })
  })

/**
 * Fetches the jar of OpenAPI Generator from Maven Central, unless it is there.
 * @returns the path of the jar
 * @throws NotHereError when Maven is not installed or the jar cannot be fetched
 */
export async function openapiGeneratorJar(): Promise<string> {
  const version = VERSIONS.openapiGenerator
  const artifact = `org.openapitools:openapi-generator-cli:${version}`
  await cached('maven', [artifact], (folder, log) =>
    run('mvn', ['-q', '-B', MAVEN, `${MAVEN_DEPENDENCY}:get`, `-Dartifact=${artifact}`, '-Dtransitive=false'], {
      cwd: folder,
      log,
      seconds: DOWNLOAD_SECONDS,
    }),
  )
  const folder = join(CACHE, 'maven', 'org', 'openapitools', 'openapi-generator-cli', version)
  return join(folder, `openapi-generator-cli-${version}.jar`)
}

/**
 * Compiles a Maven project without its tests.
 * @returns the class path of what it depends on
 */
export async function mavenCompile(folder: string, log: string): Promise<string> {
  const goals = ['compile', `${MAVEN_DEPENDENCY}:build-classpath`, '-Dmdep.outputFile=classpath.txt']
  await run('mvn', ['-q', '-B', MAVEN, '-Dmaven.test.skip=true', ...goals], {
    cwd: folder,
    log,
    seconds: DOWNLOAD_SECONDS,
  })
  return join(folder, 'classpath.txt')
}

/** The modules that Go downloads for the tools and for generated clients are kept here, apart from the user's own. */
export const GO_ENVIRONMENT = { GOPATH: join(CACHE, 'go'), GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'local' }

/**
 * Builds a program of a Go module, unless it is there.
 * @returns the path of the program
 * @throws NotHereError when Go is not installed or the module cannot be fetched
 */
export async function goProgram(program: string, version: string): Promise<string> {
  const folder = await cached('go-bin', [`${program}@v${version}`], (cwd, log) =>
    run('go', ['install', `${program}@v${version}`], {
      cwd,
      log,
      environment: { ...GO_ENVIRONMENT, GOBIN: cwd },
      seconds: DOWNLOAD_SECONDS,
    }),
  )
  return join(folder, program.split('/').at(-1)!)
}

/**
 * Fills a folder of the cache, named for what is in it, unless an earlier run has.
 * @throws NotHereError when it cannot be filled; nothing is kept of it then
 */
async function cached(
  kind: string,
  contents: readonly string[],
  fill: (folder: string, log: string) => Promise<unknown>,
): Promise<string> {
  const name = createHash('sha256').update(contents.join('\n')).digest('hex').slice(0, 12)
  const folder = join(CACHE, `${kind}-${name}`)
  const done = join(folder, '.complete')
  if (await isThere(done)) return folder
  try {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await fill(folder, logOf(`fetch-${kind}-${name}`))
    await writeFile(done, contents.join('\n'))
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    if (error instanceof NotHereError) throw error
    throw new NotHereError(`${contents.join(', ')} cannot be fetched: ${(error as Error).message}`)
  }
  return folder
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )
