import { checkBook } from './booked.ts'
import { type Generator, type JobEnvironment, type JobStyle, type Room, roomOf } from './generator.ts'
import { oapiCodegen } from './goModule.ts'
import { openapiGenerators } from './openapiGenerator.ts'
import { attemptAll, type Line } from './outcomes.ts'
import { STYLES, type Tried } from './service.ts'
import { typescriptGenerators } from './typescript.ts'

export const GENERATORS: readonly Generator[] = [...openapiGenerators, oapiCodegen, ...typescriptGenerators]

/** Returns the name of the lender whose book a job fills: each job has one of its own. */
const lenderOf = (tool: string, style: JobStyle): string => `${tool}, ${style}`

/** Returns the names of the lenders that the jobs of some generators need. */
export const lendersOf = (generators: readonly Generator[]): string[] =>
  generators
    .filter(({ job }) => job !== undefined)
    .flatMap(({ tool }) => [lenderOf(tool, 'partner'), lenderOf(tool, 'record')])

/** The auth style first: the jobs of the others take their token with its client. */
const IN_ORDER = ['auth', ...STYLES.filter((style) => style !== 'auth')] as const

/** Generates, compiles and uses a client of each style with each generator. */
export async function tryClients(
  tried: Tried,
  generators: readonly Generator[],
  say: (text: string) => void,
): Promise<Line[]> {
  const lines: Line[] = []
  for (const generator of generators)
    for (const style of IN_ORDER) {
      const { tool, version } = generator
      const room = roomOf(tool, style, tried)
      const steps = await attemptAll(stepsOf(generator, room, tried), (step, { kind, note }) =>
        say(`${tool}, ${style}, ${step}: ${kind}: ${note}`),
      )
      lines.push({ tool, version, style, steps })
    }
  return lines
}

function stepsOf(generator: Generator, room: Room, tried: Tried): Record<string, () => Promise<undefined>> {
  const { compile, job, tool } = generator
  const { style } = room
  return {
    generated: async () => void (await generator.generate(room)),
    ...(compile !== undefined && { compiled: async () => void (await compile(room)) }),
    ...(job !== undefined &&
      style !== 'auth' && {
        'main job': async () => {
          const environment = environmentOf(style, tool, { tried, greatestId: job.greatestId })
          await job.use(room, environment)
          await checkBook(style, environment)
        },
      }),
  }
}

function environmentOf(
  style: JobStyle,
  tool: string,
  { tried, greatestId }: { tried: Tried; greatestId: bigint },
): JobEnvironment {
  const { email, password } = tried.credentialsOf(lenderOf(tool, style))
  return {
    URL: tried.urls[style],
    AUTH_URL: tried.urls.auth,
    EMAIL: email,
    PASSWORD: password,
    RECORD_ID: String(greatestId),
  }
}
