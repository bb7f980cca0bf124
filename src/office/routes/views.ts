import type { FastifyInstance, FastifyRequest } from 'fastify'
import { worklistPage } from '../collections/worklist.ts'
import type { Desk, Fields } from '../desk.ts'
import { exportFilePage, exportFilesPage } from '../exports/pages.ts'
import { loanPage } from '../loan/loan.ts'
import { monthEndPage } from '../monthEnd/page.ts'
import { arrearsPage, createArrearsSums, portfolioTimePage } from '../pages/arrears.ts'
import { auditPage } from '../pages/audit.ts'
import { bookPage, type Seen, todayPage } from '../pages/book.ts'
import { exportsPage } from '../pages/bookFiles.ts'
import { customerPage, customersPage, searchPage } from '../pages/customers.ts'
import { documentsPage } from '../pages/documents.ts'
import { growthPage, type SumGrowth } from '../pages/growth.ts'
import { journalPage, trialBalancePage } from '../pages/journal.ts'
import { pendingPage } from '../pages/pending.ts'
import { productsPage } from '../pages/products.ts'
import { endpointPage, webhooksPage } from '../pages/webhooks.ts'
import { channelsPage } from '../payments/channels.ts'
import { paymentPage } from '../payments/payment.ts'
import { paymentsPage } from '../payments/payments.ts'
import { reconciliationPage } from '../payments/reconciliation.ts'
import { reconciliationsPage } from '../payments/reconciliations.ts'
import { dataRequestPage, dataRequestsPage } from '../people/dataRequests.ts'

/** A page: the person who looks, the query, and the id in the path; an empty text where the path has none. */
type View = (desk: Desk, query: Fields, id: string) => string | Promise<string>

const VIEWS: Readonly<Record<string, View>> = {
  '/worklist': worklistPage,
  '/search': searchPage,
  '/customers': customersPage,
  '/customers/:id': (desk, query, id) => customerPage(desk, id, query),
  '/loans/:id': (desk, query, id) => loanPage(desk, id, query),
  '/portfolio-at-risk': portfolioTimePage,
  '/payments': paymentsPage,
  '/payments/:id': (desk, query, id) => paymentPage(desk, id, query),
  '/channels': channelsPage,
  '/reconciliations': reconciliationsPage,
  '/reconciliations/:id': (desk, query, id) => reconciliationPage(desk, id, query),
  '/pending': pendingPage,
  '/data-requests': dataRequestsPage,
  '/data-requests/:id': (desk, query, id) => dataRequestPage(desk, id, query),
  '/products': productsPage,
  '/journal': journalPage,
  '/trial-balance': trialBalancePage,
  '/month-end': monthEndPage,
  '/webhooks': webhooksPage,
  '/webhooks/:id': (desk, query, id) => endpointPage(desk, id, query),
  '/audit': auditPage,
  '/exports': exportsPage,
  '/bureau-files': exportFilesPage,
  '/bureau-files/:id': (desk, query, id) => exportFilePage(desk, id, query),
  '/documents': documentsPage,
}

type Request = FastifyRequest<{ Params: { id?: string }; Querystring: Fields }>

/** Adds the pages that show something and change nothing. */
export function addViews(app: FastifyInstance, seen: Seen, sumGrowth: SumGrowth): void {
  const sumArrears = createArrearsSums()
  const views: Readonly<Record<string, View>> = {
    ...VIEWS,
    '/': (desk, query) => todayPage(desk, query, seen),
    '/arrears': (desk, query) => arrearsPage(desk, query, sumArrears),
    '/growth': (desk) => growthPage(desk, sumGrowth),
    '/book': (desk) => bookPage(desk, seen),
  }
  for (const [path, view] of Object.entries(views))
    app.get(path, async ({ desk, query, params }: Request, reply) =>
      reply.type('text/html; charset=utf-8').send(await view(desk, query, params.id ?? '')),
    )
}
