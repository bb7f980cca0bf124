import { readFileSync } from 'node:fs'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../services/deps.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER, DEMO_SANDBOX } from '../../services/organizations/seedDemo.ts'
import { keepOutOfCaches } from '../http/failure.ts'
import type { Style } from '../style.ts'
import { downloadsOf } from './collection/downloads.ts'

/**
 * Content policy of the reference: it loads only its own files. Scripts set part of its styles, hence inline styles.
 */
const CONTENT_POLICY = {
  'default-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'base-uri': ["'none'"],
  'object-src': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
}

const STYLES = `
#sign-in { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; max-width: 1460px; margin: 0 auto;
  padding: 1rem 20px; font: 14px/1.5 sans-serif }
#sign-in output, #sign-in p { flex-basis: 100%; margin: 0 }
`

const DEMO_ACCOUNTS = [
  { ...DEMO_PARTNER, role: 'USER' },
  { ...DEMO_OPERATOR, role: 'ADMIN' },
  { ...DEMO_AUDITOR, role: 'AUDITOR' },
  { ...DEMO_SANDBOX, role: 'ADMIN of a test organization' },
]

const script = readFileSync(new URL('signIn.client.js', import.meta.url), 'utf8')

/** Adds the reference at `/docs`: the document of the style to read and to try, and a form to sign in. */
export async function addReference(
  scope: FastifyInstance,
  style: Style,
  prefix: string,
  { config, signIn }: Pick<Deps, 'config' | 'signIn'>,
): Promise<void> {
  const demo = config.seedDemo ? DEMO_ACCOUNTS : []
  await scope.register(async (docs) => {
    // The browser does not know the prefix, and a redirect of the reference would reveal it.
    docs.addHook('onSend', async (_request, reply, payload) => {
      const location = reply.getHeader('location')
      if (typeof location === 'string' && location.startsWith(prefix))
        reply.header('location', location.slice(prefix.length))
      return payload
    })
    addSignIn(docs, signIn)
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: CONTENT_POLICY,
      theme: {
        title: style.title,
        css: [{ filename: 'sign-in.css', content: STYLES }],
        js: [{ filename: 'sign-in.js', content: scriptOf(style, demo) }],
      },
      logo: { type: 'image/svg+xml', content: '' },
      // Without the bar on top, which takes another document's URL.
      uiConfig: { layout: 'BaseLayout', deepLinking: true },
      // The page may be called by any name of the service; a browser sends requests to no other host from it.
      transformSpecification: ({ servers = [], ...document }) => ({
        ...document,
        servers: [...servers].sort((one: Server, other: Server) => Number(other.url === '/') - Number(one.url === '/')),
      }),
      transformSpecificationClone: false,
      logLevel: 'warn',
    })
  })
}

/** Returns the script of the page, with what it is about. */
function scriptOf(style: Style, demo: typeof DEMO_ACCOUNTS): string {
  const downloads = downloadsOf(style).map(({ path, name, label }) => ({ path, name, label }))
  return `const DEMO = ${JSON.stringify(demo)}\nconst DOWNLOADS = ${JSON.stringify(downloads)}\n${script}`
}

interface Server {
  readonly url: string
}

const credentials = z.strictObject({ email: z.string().max(254), password: z.string().max(1_000) })

/**
 * Adds the call by which the page of the reference signs a person in, under the host of the page: the browser would not
 * call the host of tokens from there. It refuses as `GET /v1/auth/token` does, and has the same limits.
 */
function addSignIn(docs: FastifyInstance, signIn: Deps['signIn']): void {
  docs.post(
    '/docs/sign-in',
    { schema: { hide: true, body: credentials }, config: { public: true, changesNothing: true, secret: true } },
    async (request: FastifyRequest, reply) => {
      const { email, password } = request.body as z.infer<typeof credentials>
      keepOutOfCaches(reply)
      return { token: await signIn.issueToken(email, password, request.ip, { requestId: request.id }) }
    },
  )
}
