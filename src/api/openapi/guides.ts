import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import type { Config } from '../../app/config.ts'
import { type Style, type StyleName, urlOf } from '../style.ts'

/** The folder of the documents, which the image has too. */
const FOLDER = fileURLToPath(new URL('../../../docs/', import.meta.url))

/** The documents that people read who work on the code; nothing of them is served. */
const OF_THE_CODE = [
  'architecture.md',
  'concurrency.md',
  'performance.md',
  'threat-model.md',
  'integrating/statement-layouts.md',
  'decisions/**',
]

/** The most bytes of a document. */
const MOST_BYTES = 512 * 1024

/** A document of `docs/` that integrators or operators read. */
export interface Guide {
  /** The path from which it is served, such as `/docs/operating/book.md`. */
  readonly path: string
  /** Its first heading. */
  readonly title: string
  /** The first sentence after that. */
  readonly summary: string
  /** Its Markdown, in which every link leads to what is served. */
  readonly text: string
}

let read: readonly Guide[] | undefined

/**
 * Returns the guides, by their paths. They are read once, at the start: no request names a file.
 * @throws Error where `docs/` is not there, or a document of it is too large
 */
export function guides(): readonly Guide[] {
  read ??= readGuides()
  return read
}

function readGuides(): readonly Guide[] {
  const files = globSync('**/*.md', { cwd: FOLDER, exclude: OF_THE_CODE }).sort()
  if (files.length === 0) throw new Error(`there is no document in ${FOLDER}, which the service serves at /docs`)
  return files.map((file) => {
    const bytes = readFileSync(posix.join(FOLDER, file))
    if (bytes.length > MOST_BYTES) throw new Error(`docs/${file} has more than ${MOST_BYTES} bytes`)
    return toGuide(file, bytes.toString('utf8'), new Set(files))
  })
}

/** Returns a document as a guide. @param served the documents that are guides, by their paths in `docs/` */
export function toGuide(file: string, markdown: string, served: ReadonlySet<string>): Guide {
  const text = withServedLinks(file, markdown, served)
  const [, title = file] = /^# (.+)$/m.exec(text) ?? []
  const isProse = (block: string) => /^([A-Z*[]|`[^`])/.test(block)
  const paragraph = text.split(/\n{2,}/).find(isProse) ?? ''
  const [sentence = ''] = /^.*?[.:](?=\s|$)/s.exec(withoutLinks(paragraph)) ?? []
  return { path: `/docs/${file}`, title, summary: sentence.replaceAll(/\s+/g, ' ').replace(/:$/, '.'), text }
}

const LINK = /\[([^\]]*)\]\(([^)\s]+)\)/g

const withoutLinks = (text: string): string => text.replaceAll(LINK, '$1')

/**
 * Returns a document in which a link to what is not served is its words alone. Relative links among the guides lead from
 * one to another as they are, because they are served from the folders that they are in.
 */
function withServedLinks(file: string, markdown: string, served: ReadonlySet<string>): string {
  const isServed = (target: string) => {
    if (/^(https?:|mailto:|#)/.test(target)) return true
    return served.has(posix.join(posix.dirname(file), target.replace(/#.*$/, '')))
  }
  // Blocks of code stand between lines of three backticks or more, and have no links.
  return markdown
    .split(/^(```[\s\S]*?^```)$/m)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(LINK, (link, words: string, target: string) => (isServed(target) ? link : words)),
    )
    .join('')
}

/** Lets pages of any site read a document, as editors and viewers of documents do. No other answer allows it. */
export const forAnySite: onRequestHookHandler = (_request, reply, done) => {
  reply.header('access-control-allow-origin', '*')
  done()
}

/** Serves the guides as Markdown, and `/llms.txt`, which tells programs that read text where everything is. */
export function addGuides(scope: FastifyInstance, style: Style, config: Config): void {
  const options = {
    schema: { hide: true },
    config: { public: true },
    logLevel: 'warn',
    onRequest: forAnySite,
  } as const
  for (const { path, text } of guides())
    scope.get(path, options, (_request, reply) => reply.type('text/markdown; charset=utf-8').send(text))
  const index = llmsText(style.name, config)
  scope.get('/llms.txt', options, (_request, reply) => reply.type('text/plain; charset=utf-8').send(index))
}

/** The heading of each part of the index, and the guides that it has. */
const PARTS: readonly (readonly [heading: string, has: (path: string) => boolean])[] = [
  ['Guides for integrators', (path) => !path.startsWith('/docs/operating') && path !== '/docs/settings.md'],
  ['Guides for operators', (path) => path.startsWith('/docs/operating') || path === '/docs/settings.md'],
]

/** Returns the index of what a style's host serves, in the format of llmstxt.org. */
function llmsText(name: StyleName, config: Config): string {
  const base = urlOf(config, name)
  const { authUrl, baseUrl, recordsUrl } = config
  return `# Mkopo

> Mkopo is a loan management service for lenders in East Africa: customers, loans, repayments, payments that come in, credit decisions and accounting, over HTTP.

One loan book has two styles of requests and answers, each at a URL of its own, and a third URL issues tokens:

- ${baseUrl}: the partner style (camelCase, customers, ids as text).
- ${recordsUrl}: the record style (snake_case, borrowers, ids as integers).
- ${authUrl}: tokens. \`GET ${authUrl}/v1/auth/token\` with e-mail and password (HTTP Basic) answers one; every other call carries \`Authorization: Bearer <token>\`.

A refusal changes nothing, and its \`message\` says what would be right. No repeated request posts money twice if it carries an \`Idempotency-Key\`. An agent works with a credential that only proposes: see [Agents](${base}/docs/integrating/agents.md).

## API documents

- [OpenAPI of the partner style](${baseUrl}/openapi.json): every operation with its schemas, examples and refusals; [to read and to try](${baseUrl}/docs)
- [OpenAPI of the record style](${recordsUrl}/openapi.json): the same of the record style; [to read and to try](${recordsUrl}/docs)
- [OpenAPI of tokens](${authUrl}/openapi.json): signing in, checking tokens, the keys that sign them
${PARTS.map(([heading, has]) => `\n## ${heading}\n\n${indexOf(base, has)}\n`).join('')}`
}

const indexOf = (base: string, has: (path: string) => boolean): string =>
  guides()
    .filter(({ path }) => has(path))
    .map(({ path, title, summary }) => `- [${title}](${base}${path}): ${summary}`)
    .join('\n')
