import { Tokens } from '@fastify/csrf'
import type { FastifyRequest } from 'fastify'
import { readId } from '../api/wire.ts'
import type { Config } from '../app/config.ts'
import { mayDo, type Needs } from '../domain/access/permissions.ts'
import { FIRST_DATE, isCalendarDate, LAST_DATE, type LocalDate, toRfc3339 } from '../domain/dates.ts'
import { LendingError, notFound } from '../domain/errors.ts'
import { readCause } from '../domain/payments/causes.ts'
import type { Caller } from '../services/access/caller.ts'
import type { Deps } from '../services/deps.ts'
import type { PageSession } from '../services/office/pageSessions.ts'
import { enterOrganization } from '../services/testClock/testClocks.ts'
import { actionWords, doneWords } from '../words/actions.ts'
import { collectionWords } from '../words/collections.ts'
import { dataRequestWords } from '../words/dataRequests.ts'
import { exportWords } from '../words/exports.ts'
import { monthEndWords } from '../words/monthEnd.ts'
import { frameWords, statusWords, thingWords, typeWords, viewWords } from '../words/pages.ts'
import { CAUSE_WORDS, paymentWords } from '../words/payments.ts'
import { peopleWords } from '../words/people.ts'
import { reconciliationWords } from '../words/reconciliations.ts'
import { recordWords } from '../words/records.ts'
import { signInWords } from '../words/signIn.ts'
import { isLanguage, type Language, type Say, speak } from '../words/words.ts'

/** All words of the office pages. */
const PAGE_WORDS = {
  ...frameWords,
  ...thingWords,
  ...viewWords,
  ...actionWords,
  ...doneWords,
  ...statusWords,
  ...typeWords,
  ...paymentWords,
  ...reconciliationWords,
  ...peopleWords,
  ...exportWords,
  ...recordWords,
  ...dataRequestWords,
  ...collectionWords,
  ...signInWords,
  ...monthEndWords,
} as const
export type PageWord = keyof typeof PAGE_WORDS
export type SayOnPage = Say<PageWord>

const SAY = { en: speak<PageWord>(PAGE_WORDS, 'en'), sw: speak<PageWord>(PAGE_WORDS, 'sw') } as const

/** Returns the word for a name of the contract, such as a status; the name itself where the table has none. */
export const sayName = (say: SayOnPage, name: string): string =>
  Object.hasOwn(PAGE_WORDS, name) ? say(name as PageWord) : name

/** Writes why money of a payment is with no loan; a text that is no known cause, such as the refusal of a loan, as it was told. */
export function causeIn(language: Language, cause: string | null): string {
  const read = cause === null ? undefined : readCause(cause)
  return read ? speak(CAUSE_WORDS, language)(read.name, read.values) : (cause ?? '')
}

/** The words and the place of a page, also of one for nobody in particular. */
export interface Frame {
  readonly say: SayOnPage
  readonly language: Language
  /** The path and query of the page, to come back to. */
  readonly here: string
}

/** A person at the office pages: the caller of the services, the words, and the tokens of the forms. */
export interface Desk extends Frame {
  readonly deps: Deps
  readonly caller: Caller
  /** Returns whether the person has what a page, an action or a part of a page needs. */
  may(needs: Needs): boolean
  /** The clock of a test organization, as people read it; undefined for a live one. */
  readonly testClock: string | undefined
  formToken(): string
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly cookieNames: CookieNames
  }
}

/** The names of the cookies: of the session, of the language that a person has chosen, and of a sign-in by a provider that has begun. */
export interface CookieNames {
  readonly session: string
  readonly language: string
  readonly provider: string
}

/**
 * Returns the names of the cookies. Where TLS is in front, a browser takes them only over TLS and keeps them for this host
 * alone, so that no other host of the domain can set them.
 */
export const cookieNamesOf = ({ opsTls }: Pick<Config, 'opsTls'>): CookieNames => {
  const prefix = opsTls ? '__Host-' : ''
  return {
    session: `${prefix}mkopo_session`,
    language: `${prefix}mkopo_language`,
    provider: `${prefix}mkopo_provider`,
  }
}

/** Returns the frame of a request: in the language that was chosen, or that the browser prefers. */
export function frameOf(request: FastifyRequest): Frame {
  const chosen = request.cookies?.[request.server.cookieNames.language]
  const preferred = /^\s*([a-z]{2})/i.exec(String(request.headers['accept-language'] ?? ''))?.[1]?.toLowerCase()
  const language = [chosen, preferred].find((one) => one !== undefined && isLanguage(one)) ?? 'en'
  return { language, say: SAY[language], here: request.url }
}

/** Returns the desk of a request that came with a session. */
export async function deskOf(deps: Deps, request: FastifyRequest, session: PageSession): Promise<Desk> {
  const { identity } = session
  const { organizationId } = identity
  const mode = await enterOrganization(deps, organizationId)
  return {
    ...frameOf(request),
    deps,
    caller: { ...identity, requestId: request.id },
    may: (needs) => mayDo(identity, needs),
    testClock: mode === 'test' ? timeText(deps.now(organizationId), deps.config.zone) : undefined,
    formToken: () => formToken(session),
  }
}

/** Writes an instant for people: date and time in the lender's zone. */
export const timeText = (at: number, zone: string): string => toRfc3339(at, zone).slice(0, 19).replace('T', ' ')

const tokens = new Tokens({ userInfo: true })

const personOf = ({ identity }: PageSession) => `${identity.organizationId} ${identity.accountId}`

/** Returns a token for a form of a session: a page elsewhere cannot know one, and so cannot send a form. */
const formToken = (session: PageSession): string => tokens.create(session.formSecret, personOf(session))

/** Requires a token of the session. @throws LendingError `permission_denied` */
export function requireFormToken(session: PageSession, token: unknown): void {
  if (typeof token !== 'string' || !tokens.verify(session.formSecret, token, personOf(session))) throw notOurForm()
}

/** Returns the refusal for a form that was not made for the session. */
export const notOurForm = () =>
  new LendingError('permission_denied', 'this form is of another session or too old: open its page again')

/** The fields of a form or a query, as they were sent. */
export type Fields = Readonly<Record<string, unknown>>

const LONGEST = 2_000

const refusal = (message: string) => new LendingError('invalid_argument', message)

/**
 * Reads a text; an empty field of a form is left out.
 * @throws LendingError `invalid_argument`
 */
export function textOf(fields: Fields, name: string, longest = LONGEST): string | undefined {
  const given = fields[name]
  if (given === undefined || given === '') return undefined
  if (typeof given !== 'string') throw refusal(`${name} must be given once`)
  if (given.length > longest) throw refusal(`${name} must have at most ${longest} characters`)
  if (given.includes('\0')) throw refusal(`${name} must not have the character U+0000`)
  return given.trim() === '' ? undefined : given
}

/** Reads one of some words. @throws LendingError `invalid_argument` */
export function wordOf<Word extends string>(words: readonly Word[], fields: Fields, name: string): Word | undefined {
  const given = textOf(fields, name)
  if (given === undefined) return undefined
  const word = words.find((one) => one === given)
  if (word === undefined) throw refusal(`${name} must be one of ${words.join(', ')}`)
  return word
}

/** Reads a date. @throws LendingError `invalid_argument` */
export function dayOf(fields: Fields, name: string): LocalDate | undefined {
  const given = textOf(fields, name)
  if (given === undefined) return undefined
  if (isCalendarDate(given) && given >= FIRST_DATE && given <= LAST_DATE) return given
  throw refusal(`${name} must be a date, YYYY-MM-DD, from ${FIRST_DATE} to ${LAST_DATE}`)
}

/** Reads a number of the service in a path. @throws LendingError `not_found` for a text that is none */
export function idOf(text: string, thing: string): bigint {
  const id = readId(text)
  if (id === null) throw notFound(`no ${thing} has that id`)
  return id
}
