import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { LendingError } from '../../domain/errors.ts'
import { isLanguage, LANGUAGES, type Language } from '../../words/words.ts'
import { codec, localDate, Refused } from '../wire.ts'

// What a client accepts, by the header Accept, and the answers that differ by it.

export const JSON_TYPE = 'application/json'
export const CSV_TYPE = 'text/csv'

/** A range of media types in `Accept`, with its weight. */
interface Accepted {
  readonly range: string
  readonly weight: number
}

function readAccept(header: string): Accepted[] {
  return header.split(',').flatMap((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const weight = parameters.find((one) => one.startsWith('q='))?.slice(2)
    return range === '' ? [] : [{ range, weight: weight === undefined ? 1 : Number(weight) || 0 }]
  })
}

/** Returns the weight that a client gives to a media type: that of the range that names it most closely. */
function weightOf(type: string, accepted: readonly Accepted[]): number {
  for (const range of [type, `${type.split('/')[0]}/*`, '*/*']) {
    const found = accepted.find((one) => one.range === range)
    if (found) return found.weight
  }
  return 0
}

/** Returns which of some media types a client prefers, the first where it has no preference; undefined where it takes none. */
export function preferredOf<Type extends string>(
  types: readonly Type[],
  { headers: { accept } }: Pick<FastifyRequest, 'headers'>,
): Type | undefined {
  const accepted = readAccept(accept ?? '')
  if (accepted.length === 0) return types[0]
  const weights = types.map((type) => weightOf(type, accepted))
  const most = Math.max(...weights)
  return most > 0 ? types[weights.indexOf(most)] : undefined
}

/** Sends a file to be saved under a name. */
export const sendFile = (
  reply: FastifyReply,
  { bytes, type, name }: { readonly bytes: string | Buffer; readonly type: string; readonly name: string },
): FastifyReply => reply.type(type).header('content-disposition', `attachment; filename="${name}"`).send(bytes)

/** How a report is shown. */
interface ReportForms<Report, View> {
  readonly toView: (report: Report) => View
  readonly toCsv: (report: Report) => string
  /** The name of the CSV file, without its ending. */
  readonly nameOf: (report: Report) => string
}

/** Answers a report as CSV where the client prefers that to JSON, and as JSON otherwise, whatever else it accepts. */
export function answerReport<Report, View>(
  request: FastifyRequest,
  reply: FastifyReply,
  report: Report,
  { toView, toCsv, nameOf }: ReportForms<Report, View>,
): View {
  if (preferredOf([JSON_TYPE, CSV_TYPE], request) !== CSV_TYPE) return toView(report)
  const file = { bytes: toCsv(report), type: `${CSV_TYPE}; charset=utf-8`, name: `${nameOf(report)}.csv` }
  return sendFile(reply, file) as never
}

/** Describes the answer of a report, for the OpenAPI document. */
export const reportAnswer = <T extends z.ZodType>(schema: T, example: string) => ({
  description: 'The report, as JSON or as CSV: whichever `Accept` prefers, JSON by default.',
  content: {
    [JSON_TYPE]: { schema },
    [CSV_TYPE]: { schema: z.string().meta({ description: 'The rows of the report.', examples: [example] }) },
  },
})

/** The media types of a statement or a receipt, the first where a client has no preference. */
const DOCUMENT_TYPES = [JSON_TYPE, 'application/pdf', CSV_TYPE] as const
type DocumentType = (typeof DOCUMENT_TYPES)[number]

const language = codec<Language>(
  (value) =>
    typeof value === 'string' && isLanguage(value) ? value : new Refused(`must be one of ${LANGUAGES.join(', ')}`),
  { type: 'string', enum: [...LANGUAGES] },
)
  .optional()
  .describe('The language of its words: English (`en`, the default) or Kiswahili (`sw`).')

export const receiptQuery = z.strictObject({ language })

export const statementQuery = z.strictObject({
  from: localDate
    .meta({ examples: undefined })
    .optional()
    .describe('The first value date that it shows. Default: the day of disbursement.'),
  to: localDate
    .meta({ examples: undefined })
    .optional()
    .describe('The last value date that it shows; not in the future. Default: today.'),
  language,
})

const CSV = 'date,type,description,transactionId,…\n2026-02-10,Repayment,Repayment,4000000000000001,…\n'

/** Reads a code as a person typed it. */
export const typedCode = codec<string>(
  (value) => {
    if (typeof value !== 'string') return new Refused('must be a string')
    return /^[0-9A-Za-z –—-]{16,64}$/.test(value)
      ? value
      : new Refused('must be the 16 letters and digits of a document, such as 7KD2-M9QX-4TZA-1B6C')
  },
  { type: 'string', minLength: 16, maxLength: 64, pattern: '^[0-9A-Za-z –—-]*$', examples: ['7KD2-M9QX-4TZA-1B6C'] },
)

/**
 * Returns the media type in which a client wants a document; JSON where it has no preference.
 * @throws LendingError `invalid_argument` where it takes none of them
 */
export function wantedType(request: Pick<FastifyRequest, 'headers'>): DocumentType {
  const preferred = preferredOf(DOCUMENT_TYPES, request)
  if (preferred !== undefined) return preferred
  throw new LendingError('invalid_argument', `the header Accept must allow one of ${DOCUMENT_TYPES.join(', ')}`)
}

/** Returns the format of the file of a media type; undefined for JSON. */
export const formatOf = (type: DocumentType) => (type === JSON_TYPE ? undefined : type === CSV_TYPE ? 'csv' : 'pdf')

const PDF = {
  schema: z.string().meta({ format: 'binary', description: 'The PDF.', examples: ['%PDF-1.7 …'] }),
}

/** Describes the answer that is a PDF, for the OpenAPI document. */
export const pdfAnswer = { description: 'The PDF.', content: { 'application/pdf': PDF } }

/** Describes the answer of a document in its media types, for the OpenAPI document. */
export const documentAnswer = <T extends z.ZodType>(schema: T) => ({
  description: 'The document, in the media type that `Accept` asks for: JSON by default.',
  content: {
    [JSON_TYPE]: { schema },
    'application/pdf': PDF,
    [CSV_TYPE]: {
      schema: z.string().meta({ description: 'A row for each line, and one with the code.', examples: [CSV] }),
    },
  },
})
