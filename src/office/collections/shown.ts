import { type Html, html } from '../../api/http/html.ts'
import { holdsOn } from '../../domain/collections/hold.ts'
import { dateIn } from '../../domain/dates.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import { getAssignment } from '../../services/collections/assignments.ts'
import { type Contact, latestContacts } from '../../services/collections/contacts.ts'
import { listHolds, type StoredHold } from '../../services/collections/holds.ts'
import { type JudgedPromise, promisesOn } from '../../services/collections/promises.ts'
import type { LoanRead } from '../../services/loans/loans.ts'
import { type Desk, timeText } from '../desk.ts'
import { figures, money, table } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

/** The most contacts, promises and holds on a page. */
const MOST = 100

/** Builds the table of contacts, newest first. */
export function contactTable({ deps, say }: Desk, contacts: readonly Contact[]): Html {
  const { zone } = deps.config
  const rows = contacts.map((contact) => [
    timeText(contact.contactedAt, zone),
    say(`way_${contact.channel}`),
    say(`came_${contact.outcome}`),
    contact.nextOn ?? '',
    contact.note ?? '',
  ])
  return table(
    say('contacts'),
    [[say('contactedAt')], [say('contactWay')], [say('contactCame')], [say('nextAction')], [say('note'), 'words']],
    rows,
    say('noContact'),
  )
}

/** Builds the contacts with a customer, with the link by which one is recorded. */
export async function contactsOf(desk: Desk, customerId: bigint): Promise<Html> {
  const { deps, caller, say, may } = desk
  const contacts = await latestContacts(deps, caller, { customerId, loanId: null, most: MOST })
  return html`${contactTable(desk, contacts)}
${may(pageNeeds('/customers/:id/do/contact')) && html`<p class="actions"><a href="/customers/${customerId}/do/contact">${say('recordContact')}</a></p>`}`
}

/** Builds the table of promises on a loan. */
export function promiseTable({ say, may }: Desk, promises: readonly JudgedPromise[]): Html {
  const mayCancel = may(pageNeeds('/loans/:id/promises/:partId/do/cancel'))
  const rows = promises.map((promise) => [
    promise.id,
    promise.by,
    money(promise.amount, promise.currency),
    money(promise.received, promise.currency),
    say(`promise_${promise.state}`),
    mayCancel && promise.state === 'open'
      ? html`<a href="/loans/${promise.loanId}/promises/${promise.id}/do/cancel">${say('cancelPromise')}</a>`
      : '',
    promise.cancelReason ?? promise.note ?? '',
  ])
  const heads = figures(say('amount'), say('receivedOfIt'))
  return table(
    say('promises'),
    [[say('id')], [say('promisedUntil')], ...heads, [say('status')], [say('actions')], [say('note'), 'words']],
    rows,
    say('noPromise'),
  )
}

/** Builds the table of the holds of a loan. */
export function holdTable({ deps, caller, say, may }: Desk, holds: readonly StoredHold[]): Html {
  const mayRelease = may(pageNeeds('/loans/:id/holds/:partId/do/release'))
  const today = dateIn(deps.config.zone, deps.now(caller.organizationId))
  const rows = holds.map((hold) => [
    hold.id,
    say(`hold_${hold.what}`),
    hold.from,
    hold.until,
    hold.releasedOn ?? '',
    mayRelease && hold.releasedOn === null && (holdsOn(hold, today) || hold.from > today)
      ? html`<a href="/loans/${hold.loanId}/holds/${hold.id}/do/release">${say('releaseHold')}</a>`
      : '',
    hold.reason ?? '',
  ])
  return table(
    say('holds'),
    [
      [say('id')],
      [say('heldKind')],
      [say('from')],
      [say('heldUntil')],
      [say('releasedOn')],
      [say('actions')],
      [say('reason'), 'words'],
    ],
    rows,
    say('noHold'),
  )
}

/** Builds what officers did and do with a loan: its officer, the last contacts, promises and holds, and what may be done. */
export async function collectionsOf(desk: Desk, found: LoanRead): Promise<Html> {
  const { loan } = found
  const { deps, caller, say, may } = desk
  const ref = { id: loan.id }
  const [contacts, promises, holds, officer] = await Promise.all([
    latestContacts(deps, caller, { customerId: loan.customerId, loanId: loan.id, most: MOST }),
    promisesOn(deps, caller, found, MOST),
    listHolds(deps, caller, ref, { rows: MOST, page: 1 }),
    getAssignment(deps, caller, ref),
  ])
  const to = (action: 'promise' | 'hold' | 'assign', word: 'recordPromise' | 'holdLoan' | 'assignLoan') =>
    may(pageNeeds(`/loans/:id/do/${action}`)) && html`<a href="/loans/${loan.id}/do/${action}">${say(word)}</a> `
  const contact =
    may(pageNeeds('/customers/:id/do/contact')) &&
    html`<a href="/customers/${loan.customerId}/do/contact?loan=${loan.id}">${say('recordContact')}</a> `
  const links = html`<p class="actions">${contact}${to('promise', 'recordPromise')}${to('hold', 'holdLoan')}${to('assign', 'assignLoan')}</p>`
  return html`<section><h2>${say('collectionsOf')}</h2>
<p>${say('officer')}: ${await officerName(desk, officer.accountId)}</p>
${may('collections.work') && links}</section>
${promiseTable(desk, promises.toReversed())}
${contactTable(desk, contacts)}
${holds.items.length > 0 && holdTable(desk, holds.items.toReversed())}`
}

/** Returns the e-mail of an officer; the word for nobody where there is none. */
async function officerName({ deps, caller, say }: Desk, accountId: number | null): Promise<string> {
  if (accountId === null) return say('nobody')
  const accounts = await listAccounts(deps, caller.organizationId)
  return accounts.find(({ id }) => id === accountId)?.email ?? String(accountId)
}
