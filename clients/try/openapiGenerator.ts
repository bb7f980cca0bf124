import { readFile, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { type Generator, INT64_MAX, JOBS, type Room } from './generator.ts'
import { compileGo, runGo } from './goModule.ts'
import { run } from './run.ts'
import { mavenCompile, npmPackages, openapiGeneratorJar, pythonPackages } from './tools.ts'
import { checkTypes } from './typescript.ts'
import { COMPANIONS, VERSIONS } from './versions.ts'

/** Runs OpenAPI Generator on the document of a room. */
async function generate(room: Room, language: string, options: readonly string[]): Promise<void> {
  const into = join(room.folder, room.style)
  await rm(into, { recursive: true, force: true })
  const args = ['-jar', await openapiGeneratorJar(), 'generate', '-i', room.document, '-g', language, '-o', into]
  const output = await run('java', [...args, ...options], { cwd: room.folder, log: room.log('generate') })
  // The generator ends with 0 where it has left something out.
  const error = /^.*\bERROR\b.*$/m.exec(output)
  if (error) throw new Error(`the generator said: ${error[0]}; see ${room.log('generate')}`)
}

const java: Generator = {
  tool: 'openapi-generator: java',
  version: VERSIONS.openapiGenerator,
  generate: (room) => {
    const named = (part: string) => `com.mkopo.${room.style}${part}`
    const packages = [
      '--invoker-package',
      named(''),
      '--api-package',
      named('.api'),
      '--model-package',
      named('.model'),
    ]
    return generate(room, 'java', packages)
  },
  compile: (room) => mavenCompile(join(room.folder, room.style), room.log('compile')),
  job: {
    greatestId: INT64_MAX,
    use: async (room, environment) => {
      const { folder, style } = room
      const name = style === 'partner' ? 'Partner' : 'Record'
      const libraries = await readFile(join(folder, style, 'classpath.txt'), 'utf8')
      const classes = [style, 'auth'].map((one) => join(folder, one, 'target', 'classes'))
      const into = join(folder, 'jobs')
      const classPath = [...classes, into, libraries.trim()].join(delimiter)
      const source = join(JOBS, 'java', `${name}.java`)
      await run('javac', ['-d', into, '-cp', classPath, source], { cwd: folder, log: room.log('job-compile') })
      await run('java', ['-cp', classPath, name], { cwd: folder, log: room.log('job'), environment })
    },
  },
}

/** Python with what generated clients need, and the generated packages on its path. */
async function python(room: Room, args: readonly string[], log: string, environment = {}): Promise<string> {
  const program = join(await pythonPackages(COMPANIONS.pypi), 'bin', 'python')
  const path = ['auth', 'partner', 'record'].map((style) => join(room.folder, style)).join(delimiter)
  return run(program, args, { cwd: room.folder, log, environment: { ...environment, PYTHONPATH: path } })
}

const IMPORT_ALL = `
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):
    importlib.import_module(module.name)
`

const pythonClient: Generator = {
  tool: 'openapi-generator: python',
  version: VERSIONS.openapiGenerator,
  generate: (room) => generate(room, 'python', [`--additional-properties=packageName=mkopo_${room.style}`]),
  compile: async (room) => {
    const name = `mkopo_${room.style}`
    await python(room, ['-m', 'compileall', '-q', join(room.style, name)], room.log('compile'))
    await python(room, ['-c', IMPORT_ALL, name], room.log('import'))
  },
  job: {
    greatestId: INT64_MAX,
    use: (room, environment) => python(room, [join(JOBS, 'python', `${room.style}.py`)], room.log('job'), environment),
  },
}

const go: Generator = {
  tool: 'openapi-generator: go',
  version: VERSIONS.openapiGenerator,
  generate: async (room) => {
    await generate(room, 'go', [`--additional-properties=packageName=${room.style},withGoMod=false`])
    // Its tests import the client by an address that is not there.
    await rm(join(room.folder, room.style, 'test'), { recursive: true, force: true })
  },
  compile: (room) => compileGo(room),
  job: { greatestId: INT64_MAX, use: (room, environment) => runGo(room, 'go', environment) },
}

const typescriptFetch: Generator = {
  tool: 'openapi-generator: typescript-fetch',
  version: VERSIONS.openapiGenerator,
  generate: (room) => generate(room, 'typescript-fetch', []),
  compile: async (room) => checkTypes(room, await npmPackages(COMPANIONS.npm), [join(room.style, 'index.ts')]),
}

export const openapiGenerators: readonly Generator[] = [java, pythonClient, go, typescriptFetch]
