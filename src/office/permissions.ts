import type { Needs } from '../domain/access/permissions.ts'
import { invariant } from '../domain/errors.ts'

/** Who changes something about a person at the pages sees who the person is. */
const CUSTOMER = ['customers.write', 'people.read'] as const
const LOAN = ['loans.write', 'people.read'] as const
const PEOPLE = ['people.read', 'people.decide'] as const
const STATEMENTS = ['payments.manage', 'reports.read'] as const
const ACCOUNTS = ['accounting.manage', 'reports.read'] as const
const APPROVALS = ['actions.approve', 'reports.read'] as const

/** What a page needs; of a page of several actions, what each needs, by the word in the address. */
type PageNeeds = Needs | { readonly byAction: Readonly<Record<string, Needs>> }

/**
 * What each page, form and file of the office asks of the person, by its address. A page that is not here, and is not for anybody, cannot
 * be registered.
 */
export const PAGES: Readonly<Record<string, PageNeeds>> = {
  '/': 'signed in',
  '/search': 'signed in',
  '/sign-out': 'signed in',
  '/second-factor': 'signed in',
  '/customers': 'signed in',
  '/customers/:id': 'signed in',
  '/customers/do/create': 'customers.write',
  '/customers/:id/do/lend': 'loans.write',
  '/customers/:id/do/contact': 'collections.work',
  '/customers/:id/do/close': CUSTOMER,
  '/customers/:id/do/identify': CUSTOMER,
  '/customers/:id/do/consent': CUSTOMER,
  '/customers/:id/do/ask': CUSTOMER,
  '/customers/:id/consents/:partId/do/withdraw': CUSTOMER,

  '/loans/:id': 'signed in',
  '/loans/:id/statement': 'signed in',
  '/loans/:id/transactions/:transactionId/receipt': 'signed in',
  '/loans/:id/do/:action': {
    byAction: {
      repay: 'repayments.post',
      'write-off': 'loans.write_off',
      waive: LOAN,
      charge: 'loans.restructure',
      restructure: 'loans.restructure',
    },
  },
  '/loans/:id/transactions/:transactionId/do/:action': {
    byAction: {
      reverse: 'repayments.reverse',
      adjust: 'repayments.reverse',
      'reverse-restructure': 'loans.restructure',
    },
  },
  '/loans/:id/do/promise': 'collections.work',
  '/loans/:id/do/hold': 'collections.work',
  '/loans/:id/do/assign': 'collections.work',
  '/loans/:id/promises/:partId/do/cancel': 'collections.work',
  '/loans/:id/holds/:partId/do/release': 'collections.work',
  '/loans/:id/add/guarantor': LOAN,
  '/loans/:id/add/collateral': LOAN,
  '/loans/:id/guarantors/:partId/do/release': LOAN,
  '/loans/:id/collateral/:partId/do/release': LOAN,

  '/worklist': 'signed in',
  '/arrears': 'signed in',
  '/arrears.csv': 'signed in',
  '/portfolio-at-risk': 'reports.read',
  '/portfolio-at-risk.csv': 'reports.read',

  '/growth': 'reports.read',
  '/growth-months.csv': 'reports.read',
  '/growth-cohorts.csv': 'reports.read',
  '/growth-forecast.csv': 'reports.read',

  '/payments': 'signed in',
  '/payments/:id': 'signed in',
  '/payments/:id/loans/:loanId/do/allocate': 'repayments.post',
  '/payments/:id/do/return': 'payments.manage',
  '/payments/:id/do/reverse': 'repayments.reverse',
  '/payments/:id/repayments/:transactionId/do/reverse': 'repayments.reverse',
  '/payments-in-suspense.csv': 'reports.read',
  '/channels': 'reports.read',
  '/reconciliations': 'reports.read',
  '/reconciliations/:id': 'reports.read',
  '/reconciliations/:id/lines.csv': 'reports.read',
  '/reconciliations/new': STATEMENTS,
  '/reconciliations/:id/do/apply': STATEMENTS,

  '/bureau-files': 'people.read',
  '/bureau-files/:id': 'people.read',
  '/bureau-files/:id/file': 'people.read',
  '/bureau-files/do/create': PEOPLE,
  '/bureau-files/:id/do/accept': PEOPLE,

  '/pending': 'reports.read',
  '/pending/:id/do/:action': { byAction: { approve: APPROVALS, reject: APPROVALS, withdraw: APPROVALS } },
  '/pending/asked-by/:id/do/reject': APPROVALS,
  '/pending/of-loan/:id/do/reject': APPROVALS,

  '/data-requests': 'people.read',
  '/data-requests/:id': 'people.read',
  '/data-requests/:id/result.json': 'people.read',
  '/data-requests/:id/result.pdf': 'people.read',
  '/data-requests/:id/do/:action': {
    byAction: { complete: PEOPLE, refuse: PEOPLE, withdraw: PEOPLE, confirm: PEOPLE },
  },

  '/products': 'signed in',
  '/products/:id/do/retire': 'products.manage',
  '/documents': 'signed in',

  '/journal': 'reports.read',
  '/journal.csv': 'reports.read',
  '/journal.hledger': 'reports.read',
  '/trial-balance': 'reports.read',
  '/month-end': 'reports.read',
  '/month-end/:id.csv': 'reports.read',
  '/month-end/:id.pdf': 'reports.read',
  '/month-end/:id/do/provisions': ACCOUNTS,
  '/month-end/:id/do/close': ACCOUNTS,
  '/webhooks': 'reports.read',
  '/webhooks/:id': 'reports.read',
  '/audit': 'reports.read',
  '/audit.csv': 'reports.read',
  '/exports': 'reports.read',
  '/customers.csv': 'reports.read',
  '/loans.csv': 'reports.read',
  '/transactions.csv': 'reports.read',
  '/payments.csv': 'reports.read',
  '/book': 'reports.read',
}

/**
 * Returns what a page needs, by its address and, where it has several actions, the word of the action: for its gate and for the links to it.
 * An action that there is not needs nothing: the page answers that it is not there.
 */
export function pageNeeds(path: string, action = ''): Needs {
  const needs = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined
  invariant(needs !== undefined, `a page in the table of permissions: ${path}`)
  if (typeof needs === 'string' || !('byAction' in needs)) return needs
  return Object.hasOwn(needs.byAction, action) ? needs.byAction[action]! : 'signed in'
}
