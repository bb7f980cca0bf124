import { createHash } from 'node:crypto'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import manifest from '../../../package.json' with { type: 'json' }
import type { Config } from '../../app/config.ts'
import { LendingError } from '../../domain/errors.ts'
import { inTime } from '../../toolbox/inTime.ts'
import { type Style, type StyleName, urlOf } from '../style.ts'
import { Html, html } from './html.ts'

/** The purpose of each style, in the order in which a newcomer needs them. */
const STYLES: readonly (readonly [StyleName, string])[] = [
  ['auth', 'tokens'],
  ['partner', 'the partner style: customers, loans, repayments, credit'],
  ['record', 'the record style: borrowers, loans, repayments'],
]

const LINKS = {
  docs: '/docs',
  openapi: '/openapi.json',
  guides: '/llms.txt',
  health: { live: '/health/live', ready: '/health/ready' },
} as const

const LOOK = new Html(
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}',
)
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(LOOK.text).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`

/**
 * Serves `/` of a style: for a browser, a page with links to the reference, the document, health and the other styles,
 * without scripts or other files; for a client that does not ask for HTML, the same as JSON.
 */
export function addHome(scope: FastifyInstance, style: Style, config: Config): void {
  const page = homePage(style, config)
  const content = {
    service: 'Mkopo',
    version: manifest.version,
    style: style.name,
    ...LINKS,
    styles: Object.fromEntries(STYLES.map(([name]) => [name, urlOf(config, name)])),
  }
  scope.get(
    '/',
    { schema: { hide: true }, config: { public: true }, logLevel: 'warn', prefixTrailingSlash: 'slash' },
    (request, reply) => {
      reply.header('vary', 'accept')
      // The first type is for a client that takes any.
      if (negotiate(request.headers.accept ?? '*/*', ['application/json', 'text/html']) !== 'text/html') return content
      return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page)
    },
  )
}

function homePage(style: Style, config: Config): string {
  const others = STYLES.map(([name, what]) => {
    const url = urlOf(config, name)
    return html`<li><a href="${url}/">${url}</a>: ${what}${name === style.name && ' (this page)'}</li>\n`
  })
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${style.title}</title>
<style>${LOOK}</style>
</head>
<body>
<h1>${style.title}</h1>
<p>${style.description}</p>
<ul>
<li><a href="${LINKS.docs}">Reference</a>: every operation, to read and to try</li>
<li><a href="${LINKS.openapi}">openapi.json</a>: the same as an OpenAPI 3.1 document</li>
<li><a href="${LINKS.guides}">llms.txt</a>: the guides, and where everything is, for programs that read text</li>
<li>Health: <a href="${LINKS.health.live}">live</a>, <a href="${LINKS.health.ready}">ready</a></li>
</ul>
<h2>The styles of this service</h2>
<ul>
${others}</ul>
<p>Mkopo ${manifest.version}</p>
</body>
</html>
`.text
}

const PATIENCE_MS = 2000

/** What is said of each of several books, by its name. */
export const bookStatesSchema = z.record(z.string(), z.string())

export const healthSchema = z.object({
  status: z.string().describe('Always `ok`; a service that is not ready refuses with 503.'),
  books: bookStatesSchema
    .optional()
    .describe('Of readiness, where there are several books: each by its name, `ok` or why its lenders are refused.'),
})

/** The checks that readiness depends on. */
export interface Readiness {
  /** Returns whether the database answers. */
  readonly ready: () => Promise<boolean>
  readonly stopping: () => boolean
  /** Returns why the database takes no changes, if it is known not to. */
  readonly trouble: () => string | undefined
  /** Returns what is to be said of each of several books, by its name; left out where there is one. */
  readonly books?: () => Readonly<Record<string, string>>
}

/** Adds liveness and readiness (contract 6), on every host and without a token. `ready` asks the database. */
export function addHealth(app: FastifyInstance, { ready, stopping, trouble, books }: Readiness) {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })

  app.get(
    '/health/live',
    {
      schema: {
        tags: ['health'],
        operationId: 'getLiveness',
        summary: 'Say whether the process is up',
        description: 'It asks nothing of the database.',
        response: { 200: healthSchema },
      },
      config: { public: true, vital: true },
      logLevel: 'warn',
    },
    () => ({ status: 'ok' }),
  )

  app.get(
    '/health/ready',
    {
      schema: {
        tags: ['health'],
        operationId: 'getReadiness',
        summary: 'Say whether requests can be served',
        description: 'They can while the database answers and takes changes.',
        response: { 200: healthSchema },
      },
      config: { public: true, vital: true, refusals: ['unavailable'] },
      logLevel: 'warn',
    },
    async () => {
      if (closing || stopping()) throw new LendingError('unavailable', 'the service is stopping')
      const found = trouble()
      if (found !== undefined) throw new LendingError('unavailable', found)
      if (!(await answersInTime(ready))) throw new LendingError('unavailable', 'the database does not answer')
      return { status: 'ok', ...(books && { books: books() }) }
    },
  )
}

/** Returns false when the check fails or takes too long; for a load balancer both mean the same. */
const answersInTime = (ready: () => Promise<boolean>): Promise<boolean> =>
  inTime(ready(), false, PATIENCE_MS).catch(() => false)
