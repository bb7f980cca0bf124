import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Generator, INT64_MAX, JOBS, type JobEnvironment, type Room } from './generator.ts'
import { run } from './run.ts'
import { GO_ENVIRONMENT, goProgram } from './tools.ts'
import { COMPANIONS, VERSIONS } from './versions.ts'

/** The module `try` has the generated packages of all styles, and the jobs that import them. */
const MODULE = `module try

go 1.24

require (
${Object.entries(COMPANIONS.go)
  .map(([path, version]) => `\t${path} ${version}`)
  .join('\n')}
)
`

/** Compiles and vets the generated package of a style. */
export async function compileGo(room: Room): Promise<void> {
  await writeFile(join(room.folder, 'go.mod'), MODULE)
  for (const args of [
    ['mod', 'tidy'],
    ['build', `./${room.style}`],
    ['vet', `./${room.style}`],
  ])
    await go(room, args, `compile-${args[0]}`)
}

/** Runs the job of a style, of which `jobs/<tool>/<style>` has the source. */
export async function runGo(room: Room, tool: string, environment: JobEnvironment): Promise<void> {
  const into = join(room.folder, 'jobs', room.style)
  await cp(join(JOBS, tool, room.style), into, { recursive: true })
  await cp(join(JOBS, 'go', 'check'), join(room.folder, 'check'), { recursive: true })
  await writeFile(join(room.folder, 'go.mod'), MODULE)
  await go(room, ['mod', 'tidy'], 'job-mod')
  await go(room, ['run', `./jobs/${room.style}`], 'job', environment)
}

const go = (room: Room, args: readonly string[], step: string, environment = {}): Promise<string> =>
  run('go', args, { cwd: room.folder, log: room.log(step), environment: { ...GO_ENVIRONMENT, ...environment } })

export const oapiCodegen: Generator = {
  tool: 'oapi-codegen',
  version: VERSIONS.oapiCodegen,
  generate: async (room) => {
    const program = await goProgram('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen', VERSIONS.oapiCodegen)
    const into = join(room.folder, room.style)
    await mkdir(into, { recursive: true })
    const args = ['-generate', 'types,client', '-package', room.style, '-o', join(into, 'client.gen.go'), room.document]
    await run(program, args, { cwd: room.folder, log: room.log('generate') })
  },
  compile: compileGo,
  job: { greatestId: INT64_MAX, use: (room, environment) => runGo(room, 'oapi-codegen', environment) },
}
