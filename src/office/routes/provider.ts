import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { html } from '../../api/http/html.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import type { Deps } from '../../services/deps.ts'
import type { PageSessions } from '../../services/office/pageSessions.ts'
import type { ProviderClient } from '../../services/signIn/provider.ts'
import { createProviderSignIn, type ProviderSignIn } from '../../services/signIn/providerSignIn.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { frameOf } from '../desk.ts'
import { linkOf, plainPage } from '../layout/page.ts'
import { cookieSettings, isOverTls, nextOf, signInText } from './signIn.ts'

const HTML = 'text/html; charset=utf-8'
const BEGIN = '/sign-in/provider'
const BACK = '/sign-in/provider/back'
/** The longest query with which a provider sends a browser back. */
const LONGEST_QUERY = 8_000
const COOKIE_SECONDS = 600

/** Returns the number of an organization in a field. @throws LendingError `not_found` */
function organizationIn(fields: unknown): number {
  const text = signInText(fields, 'organization', 10).trim()
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0
  if (id < 1 || id > LARGEST_INT32) throw notFound('no organization of that number has a provider to sign in by')
  return id
}

/** Adds the sign-in by the provider of an organization: the way there, and the way back. */
export function addProviderSignIn(
  app: FastifyInstance,
  sessions: PageSessions,
  deps: Pick<Deps, 'db' | 'directory' | 'config' | 'machineNow'> & { readonly providers: ProviderClient },
): void {
  const { opsTls } = deps.config
  const signIn = createProviderSignIn(deps)
  const { provider: name } = app.cookieNames
  const cookieOf = (request: FastifyRequest) => ({ ...cookieSettings(request, opsTls), maxAge: COOKIE_SECONDS })

  // A form may send a browser to this port alone: the page after it goes on to the provider.
  app.get(BEGIN, { config: { anybody: true } }, (request, reply) => {
    const organization = String(organizationIn(request.query))
    const to = linkOf(`${BEGIN}/go`, { organization, next: nextOf(request.query) })
    const frame = { ...frameOf(request), here: '/sign-in' }
    const title = frame.say('signInByProvider')
    const body = html`<h1>${title}</h1><p><a href="${to}">${frame.say('goOn')}</a></p>`
    return reply
      .header('refresh', `0;url=${to}`)
      .type(HTML)
      .send(plainPage(frame, title, body))
  })

  app.get(`${BEGIN}/go`, { config: { anybody: true } }, async (request, reply) => {
    const redirectUri = `${isOverTls(request, opsTls) ? 'https' : 'http'}://${request.headers.host}${BACK}`
    const organizationId = organizationIn(request.query)
    const { url, kept } = await signIn.begin({ organizationId, redirectUri, next: nextOf(request.query) })
    // The number tells to which book the person comes back.
    return reply.setCookie(name, `${organizationId}.${kept}`, cookieOf(request)).redirect(url.href, 303)
  })

  app.get(BACK, { config: { anybody: true } }, async (request: FastifyRequest, reply: FastifyReply) => {
    reply.clearCookie(name, cookieSettings(request, opsTls))
    return cameBack(
      { signIn, sessions, kept: (request.cookies[name] ?? '').replace(/^\d+\./, '') },
      request,
      reply,
      opsTls,
    )
  })
}

interface Back {
  readonly signIn: ProviderSignIn
  readonly sessions: PageSessions
  readonly kept: string
}

/** Opens the session of a person whom the provider has sent back. @throws LendingError */
async function cameBack(
  { signIn, sessions, kept }: Back,
  request: FastifyRequest,
  reply: FastifyReply,
  opsTls: boolean,
): Promise<FastifyReply> {
  const query = request.url.split('?')[1] ?? ''
  if (query.length > LONGEST_QUERY) throw new LendingError('unauthenticated', 'the provider sent too much back')
  const { account, tokens, next } = await signIn.end(kept, query, request.id)
  const { session } = request.server.cookieNames
  const cookie = await sessions.openKnown({ account, tokens, address: request.ip, requestId: request.id })
  const before = request.cookies[session]
  if (before !== undefined) await sessions.close(before)
  return reply.setCookie(session, cookie, cookieSettings(request, opsTls)).redirect(nextOf({ next }), 303)
}
