import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html } from '../../api/http/html.ts'
import type { Config } from '../../app/config.ts'
import { LendingError } from '../../domain/errors.ts'
import type { PageSessions } from '../../services/office/pageSessions.ts'
import { LANGUAGES } from '../../words/words.ts'
import { type Frame, frameOf, notOurForm } from '../desk.ts'
import { plainPage } from '../layout/page.ts'

const HTML = 'text/html; charset=utf-8'
const LONGEST = { email: 320, password: 1_000, path: 2_000, code: 40 }
const LANGUAGE_DAYS = 365

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns a text of a form or a query; an empty text where it is missing, is given twice, is too long or has a control
 * character.
 */
export const signInText = (fields: unknown, name: string, longest: number): string => {
  const value = (fields as Fields | undefined)?.[name]
  return typeof value === 'string' && value.length <= longest && !/\p{Cc}/u.test(value) ? value : ''
}

/**
 * Returns the path to go on to, as a header can carry it: with other characters than ASCII escaped; the first page for an
 * address of another site.
 */
export function nextOf(fields: unknown): string {
  const next = signInText(fields, 'next', LONGEST.path).toWellFormed()
  return /^\/(?![/\\])[^\s\\]*$/.test(next) ? next.replace(/[^\x21-\x7e]+/g, encodeURIComponent) : '/'
}

/**
 * Requires that a form was sent by a page of this port. Browsers tell where a request comes from; a client that tells
 * nothing is no browser, and has nobody's cookies.
 * @throws LendingError `permission_denied`
 */
export function requireOwnPage({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  const { origin, host } = headers
  const isForeign = origin !== undefined && URL.parse(origin)?.host !== host
  if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none')) throw notOurForm()
}

/** What the page of the sign-in shows besides. */
export interface SignInShown {
  readonly message?: string | undefined
  /** The organizations that have a provider; undefined: the page does not say. */
  readonly providers?: readonly number[]
}

/** Builds the page of the sign-in, with the path to go on to. */
export function signInPage(frame: Frame, next: string, { message, providers = [] }: SignInShown = {}): string {
  const { say } = frame
  const body = html`<h1>${say('signIn')}</h1>
${message === undefined ? html`<p>${say('signInFor')}</p>` : html`<p class="bad" role="alert">${message}</p>`}
<form class="fields" method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
<label>${say('email')} <input name="email" type="email" autocomplete="username" maxlength="${LONGEST.email}" required autofocus></label>
<label>${say('password')} <input name="password" type="password" autocomplete="current-password" maxlength="${LONGEST.password}" required></label>
<label>${say('code')} <input name="code" autocomplete="one-time-code" inputmode="numeric" maxlength="${LONGEST.code}"></label>
<button>${say('signIn')}</button>
</form>
${providers.length > 0 && providerForm(frame, next, providers)}`
  return plainPage(frame, say('signIn'), body)
}

/** Builds the form by which a person goes to the provider of an organization, by its number where there are several. */
const providerForm = ({ say }: Frame, next: string, [only, ...others]: readonly number[]): Html =>
  html`<h2>${say('signInByProvider')}</h2>
<form class="fields" method="get" action="/sign-in/provider">
<input type="hidden" name="next" value="${next}">
<label>${say('organizationNumber')} <input name="organization" inputmode="numeric" maxlength="10" required value="${others.length === 0 && String(only)}"></label>
<button>${say('goOn')}</button>
</form>`

/** Sends a person without a session to the sign-in, or says that the session has ended where a form was sent. */
export function askToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Browsers take no longer header; the sign-in would not go on to a longer path.
  const next = request.url.length > LONGEST.path ? '' : `?next=${encodeURIComponent(request.url)}`
  if (request.method !== 'POST') return reply.redirect(`/sign-in${next}`, 303)
  const frame = frameOf(request)
  const { pathname } = new URL(request.url, 'http://localhost')
  return reply
    .code(401)
    .type(HTML)
    .send(signInPage({ ...frame, here: '/sign-in' }, pathname, { message: frame.say('sessionEnded') }))
}

/** The parts of the sign-in. */
export interface SignInRouteDeps {
  readonly config: Pick<Config, 'opsTls'>
  /** Returns the organizations that have a provider, two at most. */
  listProviders(): Promise<readonly number[]>
}

/** Returns whether a person came by TLS, which a proxy in front of this port speaks. */
export const isOverTls = ({ headers }: Pick<FastifyRequest, 'headers'>, opsTls: boolean): boolean =>
  opsTls || headers['x-forwarded-proto'] === 'https'

/** Returns the settings of a cookie; `secure` where the person came by TLS. */
export const cookieSettings = (request: Pick<FastifyRequest, 'headers'>, opsTls: boolean) =>
  ({ path: '/', httpOnly: true, sameSite: 'lax', secure: isOverTls(request, opsTls) }) as const

/** Adds the sign-in, the sign-out and the choice of the language. */
export function addSignIn(
  app: FastifyInstance,
  sessions: PageSessions,
  { config: { opsTls }, listProviders }: SignInRouteDeps,
): void {
  const { cookieNames } = app
  const cookieOf = (request: FastifyRequest) => cookieSettings(request, opsTls)

  app.get('/sign-in', { config: { anybody: true } }, async (request, reply) =>
    reply.type(HTML).send(signInPage(frameOf(request), nextOf(request.query), { providers: await listProviders() })),
  )

  app.post('/sign-in', { config: { anybody: true } }, async (request, reply) => {
    requireOwnPage(request)
    const { body, ip: address, id: requestId } = request
    const [email, password] = [signInText(body, 'email', LONGEST.email), signInText(body, 'password', LONGEST.password)]
    const code = signInText(body, 'code', LONGEST.code)
    try {
      const cookie = await sessions.open({ email, password, code, address, requestId })
      const before = request.cookies[cookieNames.session]
      if (before !== undefined) await sessions.close(before)
      return reply.setCookie(cookieNames.session, cookie, cookieOf(request)).redirect(nextOf(body), 303)
    } catch (error) {
      if (!(error instanceof LendingError) || error.code !== 'unauthenticated') throw error
      request.failure = { code: error.code, message: error.message }
      const frame = { ...frameOf(request), here: '/sign-in' }
      return reply
        .code(401)
        .type(HTML)
        .send(signInPage(frame, nextOf(body), { message: error.message, providers: await listProviders() }))
    }
  })

  app.post('/sign-out', async (request, reply) => {
    await sessions.close(request.cookies[cookieNames.session] ?? '')
    return reply.clearCookie(cookieNames.session, cookieOf(request)).redirect('/sign-in', 303)
  })

  app.get('/language', { config: { anybody: true } }, (request, reply) => {
    const language = LANGUAGES.find((one) => one === signInText(request.query, 'to', 2)) ?? 'en'
    const maxAge = LANGUAGE_DAYS * 86_400
    return reply
      .setCookie(cookieNames.language, language, { ...cookieOf(request), maxAge })
      .redirect(nextOf(request.query), 303)
  })
}
