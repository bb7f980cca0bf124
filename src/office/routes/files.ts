import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type ResultFile, writeDataResult } from '../../api/partner/people/results.wire.ts'
import { exportJournal, type JournalFormat } from '../../services/accounting/exportJournal.ts'
import { printDataResult, type ResultPdf } from '../../services/customers/dataResultPdf.ts'
import type { DocumentFile } from '../../services/documents/documents.ts'
import { readExportFile } from '../../services/exports/exportFile.ts'
import type { MonthPdf } from '../../services/monthEnd/pdf.ts'
import { GROWTH_FILES } from '../../services/portfolio/growth.ts'
import { holderOf } from '../../toolbox/gate.ts'
import { LANGUAGES } from '../../words/words.ts'
import { type Fields, idOf, textOf, wordOf } from '../desk.ts'
import { monthEndFile, monthEndPdf } from '../monthEnd/page.ts'
import { arrearsFile, portfolioTimeFile } from '../pages/arrears.ts'
import { auditFile, bookFile } from '../pages/bookFiles.ts'
import { receiptFile, statementFile } from '../pages/documents.ts'
import { growthFile, type SumGrowth } from '../pages/growth.ts'
import { suspenseFile } from '../payments/payments.ts'
import { linesFile } from '../payments/reconciliation.ts'

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

const sendDocument = (
  reply: FastifyReply,
  { bytes, type, name }: DocumentFile | ResultFile | ResultPdf | MonthPdf,
): FastifyReply => send(reply, { name, content: bytes }, type)

/** Sends a file, in a place of the person. @throws LendingError `resource_exhausted` */
async function sendInPlace(
  { desk: { deps, caller } }: Request,
  reply: FastifyReply,
  write: () => File | Promise<File>,
  type = CSV,
): Promise<FastifyReply> {
  const leave = await deps.gates.files.take(holderOf(caller))
  try {
    const file = await write()
    const { content } = file
    if (content instanceof Readable) content.once('close', leave)
    else leave()
    // Nobody reads what is sent to a client that hung up while the file waited for its place.
    if (content instanceof Readable && reply.raw.destroyed) content.destroy()
    return send(reply, file, type)
  } catch (error) {
    leave()
    throw error
  }
}

/** Adds the files of the pages: tables for spreadsheets, and the journal for a ledger. */
export function addFiles(app: FastifyInstance, sumGrowth: SumGrowth): void {
  const ownPlace = { config: { ownPlace: true } }
  app.get('/arrears.csv', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => arrearsFile(request.desk, request.query)),
  )
  app.get('/portfolio-at-risk.csv', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => portfolioTimeFile(request.desk)),
  )
  app.get('/loans/:id/statement', ownPlace, async ({ desk, query, params }: Request, reply) =>
    sendDocument(reply, await statementFile(desk, params.id, query)),
  )
  app.get('/loans/:id/transactions/:transactionId/receipt', ownPlace, async ({ desk, query, params }: Request, reply) =>
    sendDocument(reply, await receiptFile(desk, params.id, params.transactionId, query)),
  )
  app.get('/audit.csv', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => auditFile(request.desk)),
  )
  app.get('/payments-in-suspense.csv', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => suspenseFile(request.desk)),
  )
  app.get('/reconciliations/:id/lines.csv', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => linesFile(request.desk, request.params.id, request.query)),
  )
  app.get('/data-requests/:id/result.json', ownPlace, async ({ desk, params }: Request, reply) =>
    sendDocument(reply, await writeDataResult(desk.deps, desk.caller, idOf(params.id, 'data request'))),
  )
  app.get('/data-requests/:id/result.pdf', ownPlace, async ({ desk, query, params }: Request, reply) => {
    const language = wordOf(LANGUAGES, query, 'language')
    const id = idOf(params.id, 'data request')
    return sendDocument(reply, await printDataResult(desk.deps, desk.caller, id, language))
  })
  app.get('/bureau-files/:id/file', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => bureauFile(request.desk, request.params.id)),
  )
  for (const file of GROWTH_FILES)
    app.get(`/growth-${file}.csv`, ownPlace, (request: Request, reply) =>
      sendInPlace(request, reply, () => growthFile(request.desk, file, sumGrowth)),
    )
  app.get('/month-end/:id.csv', ownPlace, (request: Request, reply) =>
    sendInPlace(request, reply, () => monthEndFile(request.desk, request.params.id)),
  )
  app.get('/month-end/:id.pdf', ownPlace, async ({ desk, query, params }: Request, reply) =>
    sendDocument(reply, await monthEndPdf(desk, params.id, query)),
  )
  for (const kind of ['customers', 'loans', 'transactions', 'payments'] as const)
    app.get(`/${kind}.csv`, ownPlace, (request: Request, reply) =>
      sendInPlace(request, reply, () => bookFile(request.desk, kind)),
    )
  for (const format of ['csv', 'hledger'] as const)
    app.get(`/journal.${format}`, ownPlace, (request: Request, reply) =>
      sendInPlace(
        request,
        reply,
        () => journalFile(request.desk, request.query, format),
        format === 'csv' ? CSV : TEXT,
      ),
    )
}

async function bureauFile({ deps, caller }: Request['desk'], id: string): Promise<File> {
  const { name, parts } = await readExportFile(deps, caller, idOf(id, 'export'))
  return { name, content: Readable.from(parts, { objectMode: false, highWaterMark: 1 }) }
}

async function journalFile({ deps, caller }: Request['desk'], query: Fields, format: JournalFormat): Promise<File> {
  const period = textOf(query, 'period', 7) ?? ''
  const parts = await exportJournal(deps, caller, { period, format })
  return { name: `journal-${period}.${format}`, content: Readable.from(parts) }
}
