import { cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Generator, INT64_MAX, JOBS, type JobEnvironment, type Room, SAFE_MAX } from './generator.ts'
import { run } from './run.ts'
import { npmPackages } from './tools.ts'
import { COMPANIONS, VERSIONS } from './versions.ts'

const STRICT = {
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

/** Checks files with all of what they import by `tsc --strict`. `packages` is the folder that has `node_modules`. */
export async function checkTypes(room: Room, packages: string, files: readonly string[]): Promise<void> {
  await linkPackages(room, packages)
  const project = join(room.folder, `tsconfig.${room.style}.json`)
  await writeFile(project, JSON.stringify({ compilerOptions: STRICT, files }))
  await run(join(packages, 'node_modules', '.bin', 'tsc'), ['-p', project], {
    cwd: room.folder,
    log: room.log('compile'),
  })
}

/** Lets the generated code and the jobs of a room find packages. */
async function linkPackages(room: Room, packages: string): Promise<void> {
  const link = join(room.folder, 'node_modules')
  await mkdir(room.folder, { recursive: true })
  await rm(link, { force: true })
  await symlink(join(packages, 'node_modules'), link, 'dir')
}

/** Checks the types of a job in TypeScript, and runs it with Node's own type stripping. */
async function runJob(room: Room, packages: string, environment: JobEnvironment): Promise<void> {
  const name = room.folder.split('/').at(-1)!
  const file = join('jobs', `${room.style}.ts`)
  await cp(join(JOBS, name, `${room.style}.ts`), join(room.folder, file))
  await checkTypes(room, packages, [file])
  await run(process.execPath, [file], { cwd: room.folder, log: room.log('job'), environment })
}

const typesPackages = () => npmPackages({ 'openapi-typescript': VERSIONS.openapiTypescript, ...COMPANIONS.npm })

const openapiTypescript: Generator = {
  tool: 'openapi-typescript',
  version: VERSIONS.openapiTypescript,
  generate: async (room) => {
    const program = join(await typesPackages(), 'node_modules', '.bin', 'openapi-typescript')
    const args = [room.document, '-o', join(room.style, 'api.ts')]
    await run(program, args, { cwd: room.folder, log: room.log('generate') })
  },
  compile: async (room) => checkTypes(room, await typesPackages(), [join(room.style, 'api.ts')]),
  job: {
    greatestId: SAFE_MAX,
    use: async (room, environment) => runJob(room, await typesPackages(), environment),
  },
}

const heyPackages = () => npmPackages({ '@hey-api/openapi-ts': VERSIONS.heyApi, ...COMPANIONS.npm })

/** The answers of 64-bit integers are bigints, and files import each other by their names as Node needs them. */
const heyConfig = ({ document, style }: Room) =>
  `export default ${JSON.stringify({
    input: document,
    output: { path: style, module: { extension: '.ts' } },
    plugins: [
      '@hey-api/client-fetch',
      '@hey-api/typescript',
      { name: '@hey-api/transformers', bigInt: true, dates: false },
      { name: '@hey-api/sdk', transformer: true },
    ],
  })}`

const heyApi: Generator = {
  tool: 'hey-api',
  version: VERSIONS.heyApi,
  generate: async (room) => {
    const packages = await heyPackages()
    await linkPackages(room, packages)
    const config = join(room.folder, `hey-api.${room.style}.config.mjs`)
    await writeFile(config, heyConfig(room))
    const program = join(packages, 'node_modules', '.bin', 'openapi-ts')
    await run(program, ['-f', config], { cwd: room.folder, log: room.log('generate') })
  },
  compile: async (room) => checkTypes(room, await heyPackages(), [join(room.style, 'index.ts')]),
  job: {
    greatestId: INT64_MAX,
    use: async (room, environment) => runJob(room, await heyPackages(), environment),
  },
}

const orvalPackages = () => npmPackages({ orval: VERSIONS.orval, ...COMPANIONS.npm })

const orval: Generator = {
  tool: 'orval',
  version: VERSIONS.orval,
  generate: async (room) => {
    const packages = await orvalPackages()
    await linkPackages(room, packages)
    const program = join(packages, 'node_modules', '.bin', 'orval')
    const args = ['--input', room.document, '--output', join(room.style, 'client.ts'), '--client', 'fetch']
    await run(program, args, { cwd: room.folder, log: room.log('generate') })
  },
  compile: async (room) => checkTypes(room, await orvalPackages(), [join(room.style, 'client.ts')]),
}

export const typescriptGenerators: readonly Generator[] = [openapiTypescript, heyApi, orval]
