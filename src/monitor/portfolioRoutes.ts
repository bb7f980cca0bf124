import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../app/deps.ts'
import type { Caller } from '../services/access/caller.ts'
import { type ArrearsQuery, arrearsFile, arrearsPage } from './pages/arrears.ts'
import { portfolioTimeFile, portfolioTimePage } from './pages/portfolioTime.ts'
import type { SignedIn } from './signedIn.ts'

const HTML = 'text/html; charset=utf-8'
const CSV = 'text/csv; charset=utf-8'

/** Adds the pages of the portfolio, each with its file for spreadsheets. */
export function addPortfolioPages(app: FastifyInstance, deps: Deps, signedIn: SignedIn): void {
  const operatorOf = async (request: FastifyRequest): Promise<Caller> => ({
    ...(await signedIn(request.headers.authorization, request.ip)),
    requestId: request.id,
  })
  const sendFile = (reply: FastifyReply, { name, text }: { readonly name: string; readonly text: string }) =>
    reply.header('content-disposition', `attachment; filename="${name}"`).type(CSV).send(text)

  app.get<{ Querystring: ArrearsQuery }>('/arrears', async (request, reply) =>
    reply.type(HTML).send(await arrearsPage(deps, await operatorOf(request), request.query)),
  )
  app.get<{ Querystring: ArrearsQuery }>('/arrears.csv', async (request, reply) =>
    sendFile(reply, await arrearsFile(deps, await operatorOf(request), request.query)),
  )
  app.get('/portfolio-at-risk', async (request, reply) =>
    reply.type(HTML).send(await portfolioTimePage(deps, await operatorOf(request))),
  )
  app.get('/portfolio-at-risk.csv', async (request, reply) =>
    sendFile(reply, await portfolioTimeFile(deps, await operatorOf(request))),
  )
}
