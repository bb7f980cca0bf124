import { inPlace } from '../../../src/api/openapi/share.ts'
import { buildApp } from '../../../src/app/app.ts'
import { readConfig } from '../../../src/app/config.ts'
import { signerPlace } from '../../../src/services/access/tokens.ts'
import type { Deps } from '../../../src/services/deps.ts'
import { noListener } from '../../../src/services/listener.ts'

/** The styles that have a document, each with its host in the settings that nobody has changed. */
const HOSTS = { partner: 'api.localhost', record: 'records.localhost', auth: 'auth.localhost' } as const

/** The type of a body of lines, each of which is a request of its own; and of its answer. */
export const LINES_TYPE = 'application/x-ndjson'

export type StyleName = keyof typeof HOSTS

/** An OpenAPI document, as far as the generator reads it itself. */
export interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** A schema of a document: a reference, or a type with its members. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
}

/** An operation of a document. */
export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: Schema }>> }>>
}

/** The documents of all styles. */
export type Documents = Readonly<Record<StyleName, Document>>

/**
 * Builds the OpenAPI documents of all styles from the source code, without a database. Their operations have in place what
 * they share.
 */
export async function readDocuments(): Promise<Documents> {
  const none = new Proxy({} as Deps['db'], {
    get: () => {
      throw new Error('the documents are made without a database')
    },
  })
  const needed = { config: readConfig({}), now: () => 0, db: none, listener: noListener, tokenSigner: signerPlace() }
  const app = await buildApp(needed as unknown as Deps, { ready: async () => true })
  try {
    const read = async (host: string) =>
      inPlace((await app.inject({ url: '/openapi.json', headers: { host } })).json<Document>())
    return { partner: await read(HOSTS.partner), record: await read(HOSTS.record), auth: await read(HOSTS.auth) }
  } finally {
    await app.close()
  }
}
