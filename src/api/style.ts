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
import type { ErrorCode, FaultNames, NamedFault } from '../domain/errors.ts'
import type { Deps } from '../services/deps.ts'
import type { Hint } from './body/validation.ts'

export type StyleName = 'auth' | 'partner' | 'record'

/**
 * The components of one style's document. Never zod's global registry: two styles that use one id would overwrite each
 * other there.
 */
export type SchemaRegistry = z.core.$ZodRegistry<{ id?: string | undefined; [key: string]: unknown }>

/** The Fastify instance for a style's routes; their bodies, params and answers are typed by zod schemas. */
export type StyleApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** A refusal or an error of the service, before a style builds the body of the answer. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: readonly NamedFault[]
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfter?: number
}

/** When a code is answered, and an example of its message; `{thing}` and `{id}` stand for what the path names. */
export type Explained = Readonly<Partial<Record<ErrorCode, readonly [when: string, example: string]>>>

/** A chapter of the introduction of a document: its heading and its text, in Markdown. */
export type Chapter = readonly [heading: string, text: string]

/** An id that the caller chooses: the value of the examples, and the members of bodies that hold it. */
interface ChosenId {
  readonly value: string | number
  readonly members: readonly string[]
}

/** An id that the service answers: the operation, and the members that lead to it in the answer. */
interface AnsweredId {
  readonly operationId: string
  readonly at: readonly (string | number)[]
}

/** The ids of the examples of a style that a collection of requests has as variables, each under the variable's name. */
export interface StoryVariables {
  readonly chosen: Readonly<Record<string, ChosenId>>
  readonly answered: Readonly<Record<string, AnsweredId>>
  /**
   * The variable of the last parameter of each beginning of a path. The longest beginning counts; a parameter of none keeps
   * its example.
   */
  readonly inPaths: Readonly<Record<string, string>>
}

/** A vocabulary of the API over the one loan book: names, envelope, errors, document. */
export interface Style {
  readonly name: StyleName
  readonly title: string
  readonly description: string
  /** For the document: the groups of operations, in the order in which they are shown. */
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /**
   * For the document: operations whose order matters, by their `operationId`. Those of one tag are shown in this order, and
   * after them the others; all in the order of their routes when left out.
   */
  readonly order?: readonly string[]
  /** For the document: the chapters of the introduction that the style does not share with others. */
  readonly chapters: readonly Chapter[]
  readonly registry: SchemaRegistry
  /** The style's names for the roles that a refusal can be about. */
  readonly faultNames: FaultNames
  /** For the document: codes that any operation of the style can refuse with, besides those of every style. */
  readonly refusals?: readonly ErrorCode[]
  /** For the document: the style's own words for codes. */
  readonly explained?: Explained
  /** Hints that the style adds to its refusals, about what would be right. */
  readonly hints?: readonly Hint[]
  /** Builds the body of a refusal. */
  failureBody(failure: Failure): object
  /** Headers on every answer of the style. */
  readonly headers?: Readonly<Record<string, string>>
  /** For the document: headers that the operations of the style read, besides those of every style. */
  readonly requestHeaders?: Readonly<Record<string, object>>
  /** For the document: what the Bearer value may be. */
  readonly bearer?: string
  /** For the collection of requests: the ids of the examples that are variables; none when left out. */
  readonly variables?: StoryVariables
  routes(app: StyleApp, deps: Deps): void | Promise<void>
  /** Adds routes for senders without a token, who know the secret of a path; they are not in the document. */
  secretRoutes?(app: FastifyInstance, deps: Deps): void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route answers without a token. */
    public?: boolean
    /** A POST that changes nothing and answers as of now: no Idempotency-Key is kept for it, and an AUDITOR may send it. */
    changesNothing?: boolean
    /** What the operation changes can wait for a second person, and so a caller who only proposes may ask for it (contract 19.4). */
    canWait?: true
    /** The operation takes a dedupe token whose transaction may have another content: its answer then says so. */
    takesToken?: true
    /** The answer has a secret that is shown once: it is not stored under the Idempotency-Key. */
    answersSecret?: boolean
    /** A PUT that makes what its path names: no name is unknown to it. */
    makesNamed?: true
    /** For the document: codes that the operation can refuse with, besides those that follow from its schema. */
    refusals?: readonly ErrorCode[]
    /** For the document: the operation's own words for codes. */
    explained?: Explained
    /** For the document: the path and the body that the reference fills in, where those of the schemas are of another moment. */
    prefilled?: { readonly params?: Readonly<Record<string, string>>; readonly body?: object }
    /** For the document: examples of the answer by name, instead of the example of its schema. */
    examples?: Readonly<Record<string, unknown>>
  }
}

/** Returns a function from an error to the hint that the style adds to its message, on the route of that pattern. */
export function hintOf({ hints = [] }: Style, config: Config, route: string): (error: unknown) => string | undefined {
  return (error) => {
    for (const hint of hints) {
      const advice = hint(error, route, config)
      if (advice !== undefined) return advice
    }
    return undefined
  }
}

/** Returns the public base URL of a style, without a slash at the end. */
export function urlOf(config: Config, name: StyleName): string {
  return { auth: config.authUrl, partner: config.baseUrl, record: config.recordsUrl }[name]
}

/**
 * Returns the prefix of a style inside the router. No request can choose it: every target gets a prefix, also one that
 * begins with it.
 */
export const prefixOf = (name: StyleName | 'none') => `/~${name}`
