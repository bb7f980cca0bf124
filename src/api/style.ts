import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import type { Config } from '../app/config.ts'
import type { Deps } from '../app/deps.ts'
import type { ErrorCode, FaultNames } from '../domain/errors.ts'
import type { Hint } from './body/hints.ts'
import type { Explained } from './document/refusals.ts'
import type { Failure } from './http/failure.ts'

export type StyleName = 'auth' | 'partner' | 'record'

/** The components of one style's document. Never zod's global one: there, an id that two styles use is overwritten silently. */
export type SchemaRegistry = z.core.$ZodRegistry<{ id?: string | undefined; [key: string]: unknown }>

/** The instance that a style's routes are added to; bodies, params and answers are typed by their zod schemas. */
export type StyleApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** A vocabulary over the one loan book: names, envelope, error words, document. */
export interface Style {
  readonly name: StyleName
  readonly title: string
  readonly description: string
  readonly registry: SchemaRegistry
  /** The style's names for the roles that a refusal can be about. */
  readonly faultNames: FaultNames
  /** Codes that any operation of it can refuse with, besides those of every style; for the document. */
  readonly refusals?: readonly ErrorCode[]
  /** Its own words for codes, where they are not those of every style; for the document. */
  readonly explained?: Explained
  /** What its refusals add to say what would be right. */
  readonly hints?: readonly Hint[]
  /** The body of a refusal. */
  failureBody(failure: Failure): object
  /** Headers on every answer of the style. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers that its operations read, besides those of every style; for the document. */
  readonly requestHeaders?: Readonly<Record<string, object>>
  /** What its Bearer value may be; for the document. */
  readonly bearer?: string
  routes(app: StyleApp, deps: Deps): void | Promise<void>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a token. */
    public?: boolean
    /** A POST that changes nothing, and answers as of now: no Idempotency-Key is kept for it. */
    changesNothing?: boolean
    /** The role that the operation takes, where a USER may not do it; for the document, the service holds to it. */
    role?: 'ADMIN'
    /** Codes the operation can refuse with, besides those that follow from its schema; for the document. */
    refusals?: readonly ErrorCode[]
    /** Its own words for these, where they are not those of its style; for the document. */
    explained?: Explained
    /** What it answers, by name, where that is not the example of its schema; for the document. */
    examples?: Readonly<Record<string, unknown>>
  }
}

/** What the style's hints add to the message of an error on a route, which is given by its pattern. */
export function hintOf({ hints = [] }: Style, config: Config, route: string): (error: unknown) => string | undefined {
  return (error) => {
    for (const hint of hints) {
      const said = hint(error, route, config)
      if (said !== undefined) return said
    }
    return undefined
  }
}

/** The public base URL of a style, without a slash at the end. */
export function urlOf(config: Config, name: StyleName): string {
  return { auth: config.authUrl, partner: config.baseUrl, record: config.recordsUrl }[name]
}

/** Where a style lives inside the router. A request never says it: every target gets a prefix, also one that begins with it. */
export const prefixOf = (name: StyleName | 'none') => `/~${name}`
