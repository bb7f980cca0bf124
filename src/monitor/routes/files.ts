import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentFile } from '../../services/documents/documents.ts'
import { exportJournal, type JournalFormat } from '../../services/journal/exportJournal.ts'
import { arrearsFile } from '../pages/arrears.ts'
import { auditFile, bookFile } from '../pages/bookFiles.ts'
import { receiptFile, statementFile } from '../pages/documents.ts'
import { portfolioTimeFile } from '../pages/portfolioTime.ts'
import { type Fields, textOf } from '../query.ts'

const CSV = 'text/csv; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'

/** A file: its name and its content. */
interface File {
  readonly name: string
  readonly content: string | Buffer | Readable
}

type Request = FastifyRequest<{ Querystring: Fields; Params: { id: string; transactionId: string } }>

const send = (reply: FastifyReply, { name, content }: File, type = CSV): FastifyReply =>
  reply.header('content-disposition', `attachment; filename="${name}"`).type(type).send(content)

const sendDocument = (reply: FastifyReply, { bytes, type, name }: DocumentFile): FastifyReply =>
  send(reply, { name, content: bytes }, type)

/** Adds the files of the pages: tables for spreadsheets, and the journal for a ledger. */
export function addFiles(app: FastifyInstance): void {
  app.get('/arrears.csv', async ({ desk, query }: Request, reply) => send(reply, await arrearsFile(desk, query)))
  app.get('/portfolio-at-risk.csv', async ({ desk }: Request, reply) => send(reply, await portfolioTimeFile(desk)))
  app.get('/loans/:id/statement', async ({ desk, query, params }: Request, reply) =>
    sendDocument(reply, await statementFile(desk, params.id, query)),
  )
  app.get('/loans/:id/transactions/:transactionId/receipt', async ({ desk, query, params }: Request, reply) =>
    sendDocument(reply, await receiptFile(desk, params.id, params.transactionId, query)),
  )
  app.get('/audit.csv', async ({ desk }: Request, reply) => send(reply, auditFile(desk)))
  for (const kind of ['customers', 'loans', 'transactions'] as const)
    app.get(`/${kind}.csv`, async ({ desk }: Request, reply) => send(reply, bookFile(desk, kind)))
  for (const format of ['csv', 'hledger'] as const)
    app.get(`/journal.${format}`, async ({ desk, query }: Request, reply) =>
      send(reply, await journalFile(desk, query, format), format === 'csv' ? CSV : TEXT),
    )
}

async function journalFile({ deps, caller }: Request['desk'], query: Fields, format: JournalFormat): Promise<File> {
  const period = textOf(query, 'period', 7) ?? ''
  const parts = await exportJournal(deps, caller, { period, format })
  return { name: `journal-${period}.${format}`, content: Readable.from(parts) }
}
