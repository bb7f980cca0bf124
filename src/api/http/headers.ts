import type { FastifyInstance, FastifyReply } from 'fastify'

/** Headers of every answer, for browsers. The reference at /docs has a content policy of its own. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** The value of `Cache-Control` for answers that no cache may keep. */
export const NO_STORE = 'no-store'

const A_YEAR = 'max-age=31536000'

/** Keeps an answer out of every cache: it is for one client, or true for the moment only. */
export const keepOutOfCaches = (reply: FastifyReply): void => void reply.header('cache-control', NO_STORE)

/** Adds the security headers; with `https` also the one by which a browser remembers to use https. */
export function secureHeaders(app: FastifyInstance, { https }: { readonly https: boolean }): void {
  const headers = https ? { ...HEADERS, 'strict-transport-security': A_YEAR } : HEADERS
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
