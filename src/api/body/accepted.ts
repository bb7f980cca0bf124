import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'

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
