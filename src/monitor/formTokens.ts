import { Tokens } from '@fastify/csrf'
import { LendingError } from '../domain/errors.ts'
import type { PageSession } from '../services/office/pageSessions.ts'

const tokens = new Tokens({ userInfo: true })

const personOf = ({ identity }: PageSession) => `${identity.organizationId} ${identity.accountId}`

/** Returns a token for a form of a session: a page elsewhere cannot know one, and so cannot send a form. */
export const formToken = (session: PageSession): string => tokens.create(session.formSecret, personOf(session))

/** Requires a token of the session. @throws LendingError `permission_denied` */
export function requireFormToken(session: PageSession, token: unknown): void {
  if (typeof token !== 'string' || !tokens.verify(session.formSecret, token, personOf(session))) throw notOurForm()
}

/** Returns the refusal for a form that was not made for the session. */
export const notOurForm = () =>
  new LendingError('permission_denied', 'this form is of another session or too old: open its page again')
