import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../app/config.ts'
import type { Style } from '../../style.ts'
import type { Document } from '../finish.ts'
import { collectionOf } from './collection.ts'
import { httpFileOf } from './httpFile.ts'
import { postmanOf } from './postman.ts'

/** A file to download from the page of the reference. */
export interface Download {
  readonly path: string
  readonly name: string
  /** What the file is, for a link. */
  readonly label: string
}

interface Format extends Download {
  readonly type: string
  write(collection: ReturnType<typeof collectionOf>): string
}

const formatsOf = ({ name }: Style): readonly Format[] => [
  {
    path: '/docs/postman.json',
    name: `mkopo-${name}.postman_collection.json`,
    label: 'Collection for Postman, Bruno and Insomnia',
    type: 'application/json; charset=utf-8',
    write: (collection) => `${JSON.stringify(postmanOf(collection), null, 2)}\n`,
  },
  {
    path: '/docs/requests.http',
    name: `mkopo-${name}.http`,
    label: 'HTTP file for the REST Client of VS Code',
    type: 'text/plain; charset=utf-8',
    write: httpFileOf,
  },
]

/** Returns the files that a style has to download. */
export const downloadsOf = (style: Style): readonly Download[] => formatsOf(style)

/**
 * Serves the example requests of a style's document as files for clients that people use. Each file is written once, when
 * it is first asked for.
 */
export function addDownloads(scope: FastifyInstance, style: Style, config: Config): void {
  for (const { path, name, type, write } of formatsOf(style)) {
    let written: string | undefined
    scope.get(path, { schema: { hide: true }, config: { public: true }, logLevel: 'warn' }, (_request, reply) => {
      written ??= write(collectionOf(style, config, scope.swagger() as Document))
      return reply.type(type).header('content-disposition', `attachment; filename="${name}"`).send(written)
    })
  }
}
