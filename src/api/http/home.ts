import { createHash } from 'node:crypto'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance } from 'fastify'
import manifest from '../../../package.json' with { type: 'json' }
import type { Config } from '../../app/config.ts'
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
