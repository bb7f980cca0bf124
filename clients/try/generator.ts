import { join } from 'node:path'
import type { StyleName, Tried } from './service.ts'
import { WORK } from './tools.ts'

/** The styles of which a client is used; that of the auth style is used by both, for a token. */
export type JobStyle = Exclude<StyleName, 'auth'>

/** Where a generator works on one style. */
export interface Room {
  readonly style: StyleName
  /** The document of the style. */
  readonly document: string
  /** The generator's own folder. The client of a style goes into a folder of the style's name. */
  readonly folder: string
  /** Returns the log of a step. */
  log(step: string): string
}

/** What a job gets, as environment variables. */
export type JobEnvironment = Readonly<Record<'URL' | 'AUTH_URL' | 'EMAIL' | 'PASSWORD' | 'RECORD_ID', string>>

/** A generator of clients: how it makes a client, compiles it, and uses it. */
export interface Generator {
  readonly tool: string
  readonly version: string
  generate(room: Room): Promise<unknown>
  compile?(room: Room): Promise<unknown>
  /** Does the main job of a style. The clients of that style and of the auth style are compiled by then. */
  readonly job?: {
    /** The greatest record id that a number of the language holds exactly. */
    readonly greatestId: bigint
    use(room: Room, environment: JobEnvironment): Promise<unknown>
  }
}

export const INT64_MAX = 9_223_372_036_854_775_807n
export const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** The sources of the jobs, by tool. */
export const JOBS = join(import.meta.dirname, 'jobs')

/** Returns the room of a generator for a style. */
export function roomOf(tool: string, style: StyleName, tried: Pick<Tried, 'documentOf'>): Room {
  const name = tool.replaceAll(/[^a-z-]/g, '-')
  return {
    style,
    document: tried.documentOf(style),
    folder: join(WORK, name),
    log: (step) => join(WORK, 'logs', `${name}-${style}-${step}.log`),
  }
}
