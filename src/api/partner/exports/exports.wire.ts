import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { EXCLUSIONS } from '../../../domain/exports/figures.ts'
import { LINE_RULES } from '../../../domain/exports/line.ts'
import { EXPORT_MODES, EXPORT_STATES, LINE_KINDS } from '../../../domain/exports/vocabulary.ts'
import { currencyOf, minorToNumber } from '../../../domain/money.ts'
import type { ExcludedLoan, ExportException, ExportFile, ExportSum } from '../../../services/exports/exports.ts'
import { listQuery } from '../../lists/query.ts'
import { count, total, word } from '../../openapi/answers.ts'
import { codec, idParam, instant, localDate, money, Refused, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'

/** A number that no file has. */
const NONE = 0n

/** The number of a file in a path. */
export const exportParams = z
  .object({ id: idParam.meta({ examples: [examples.exportFile.id] }) })
  .transform(({ id }) => ({ id: id ?? NONE }))

/** The most settings of a request, and the most characters of a value. */
const SETTINGS = { most: 50, longest: 500 } as const

const settings = named(
  'ExportSettingsRequest',
  codec<Record<string, string>>(
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Refused('must be an object')
      const entries = Object.entries(value as Record<string, unknown>)
      if (entries.length > SETTINGS.most) return new Refused(`must have at most ${SETTINGS.most} members`)
      const isRight = entries.every(([, one]) => typeof one === 'string' && one.length <= SETTINGS.longest)
      if (!isRight) return new Refused(`must have texts of at most ${SETTINGS.longest} characters`)
      return value as Record<string, string>
    },
    {
      type: 'object',
      additionalProperties: { type: 'string', maxLength: SETTINGS.longest },
      description:
        'Constants of yours that the format takes, by the names of its settings: codes that a bureau gave you.',
    },
  ),
  { example: {} },
)

/** The name of a format, with or without its version. */
export const formatName = text({ max: 61 }).meta({
  description: 'The name of a format, or `name@version`; the newest version when left out.',
  examples: [examples.newExport.format],
})

export const createExportRequest = named(
  'CreateExportRequest',
  z.strictObject({
    format: formatName,
    asOf: localDate
      .optional()
      .describe('A day that is over. Of corrections the day of an accepted file; that of the last one when left out.'),
    mode: codec<(typeof EXPORT_MODES)[number]>(
      (value) => EXPORT_MODES.find((one) => one === value) ?? new Refused(`must be one of ${EXPORT_MODES.join(', ')}`),
      { type: 'string', enum: [...EXPORT_MODES] },
    )
      .optional()
      .describe(
        '`full` (the default), or `corrections`: loans alone whose lines are others than in the accepted file.',
      ),
    settings: settings.optional(),
  }),
  { example: examples.newExport },
)

const totals = named(
  'ExportTotals',
  z.object({
    kind: word('What became of the loans', LINE_KINDS),
    currencyCode: z.string(),
    loans: total(),
    principal: money.describe('What was lent.'),
    principalOutstanding: money,
    outstanding: money,
    overdue: money,
  }),
  { example: examples.exportFile.totals[0]! },
)

const progress = named('ExportProgress', z.object({ done: total(), total: total() }), {
  example: examples.exportFile.progress,
})

const reason = named('ExportReason', z.object({ reason: word('Why loans are left out', EXCLUSIONS), loans: total() }), {
  example: examples.exportFile.reasons[0]!,
})

const settingsSchema = named('ExportSettings', z.record(z.string(), z.string()), { example: {} })

export const exportSchema = named(
  'Export',
  z.object({
    id: z.string(),
    format: z.string(),
    formatVersion: z.string(),
    asOf: z.iso.date(),
    mode: word('What it has', EXPORT_MODES),
    corrects: z.string().nullable().describe('Of corrections: the accepted file with which the lines are compared.'),
    settings: settingsSchema,
    knownAt: instant.describe('What was told up to this instant counts.'),
    state: word('How far it is', EXPORT_STATES),
    progress: progress.describe('Loans that were looked at, of all of the day.'),
    accepted: total().describe('Loans that the file has.'),
    excluded: total().describe('Loans that it leaves out.'),
    exceptions: total().describe('Loans that it cannot have: a field is missing or wrong.'),
    reasons: z.array(reason),
    totals: z.array(totals).describe('Control totals; of all kinds together, those of the portfolio of the day.'),
    sha256: z.string().nullable().describe('Null while it is made.'),
    bytes: total().nullable(),
    erased: count.optional().describe('Of one file: lines of customers who were erased since. They are gone.'),
    createdAt: instant,
    finishedAt: instant.nullable(),
    acceptedAt: instant.nullable(),
  }),
  { example: examples.exportFile },
)

export const exportPage = pageOf('ExportPage', exportSchema)

export const exportQuery = listQuery.extend({
  format: text({ max: 40 }).meta({ examples: undefined }).optional().describe('Only files of this format.'),
})

export const partQuery = listQuery.omit({ page: true })

const exceptionSchema = named(
  'ExportException',
  z.object({
    loanId: z.string(),
    field: z.string().describe('The field of the format.'),
    rule: word('The rule that it breaks', [...LINE_RULES, 'erased']),
    value: z.string().nullable().describe('The value that breaks it; null: there is none.'),
  }),
  { example: examples.exception },
)

const excludedSchema = named(
  'ExcludedLoan',
  z.object({ loanId: z.string(), reason: word('Why the file leaves it out', EXCLUSIONS) }),
  { example: examples.excluded },
)

export const exceptionPage = pageOf('ExportExceptionPage', exceptionSchema)
export const excludedPage = pageOf('ExcludedLoanPage', excludedSchema)

/** Builds the view of a file. */
export function toExport(file: ExportFile, zone: string): z.input<typeof exportSchema> {
  const sums = file.figures ?? file.sums
  const countOf = (kind: (typeof LINE_KINDS)[number]) =>
    Object.values(sums[kind] ?? {}).reduce((all, { loans }) => all + loans, 0)
  const when = (at: number | null) => (at === null ? null : toRfc3339(at, zone))
  return {
    id: String(file.id),
    format: file.format,
    formatVersion: file.formatVersion,
    asOf: file.asOf,
    mode: file.mode,
    corrects: file.corrects === null ? null : String(file.corrects),
    settings: { ...file.settings },
    knownAt: toRfc3339(file.knownAt, zone),
    state: file.state,
    progress: { done: file.done, total: file.total },
    accepted: countOf('accepted'),
    excluded: countOf('excluded'),
    exceptions: countOf('exception'),
    reasons: Object.entries(sums.reasons ?? {})
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([reason, loans]) => ({ reason, loans })),
    totals: LINE_KINDS.flatMap((kind) =>
      Object.entries(sums[kind] ?? {})
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([currency, sum]) => toTotals(kind, currency, sum)),
    ),
    sha256: file.sha256 && Buffer.from(file.sha256).toString('hex'),
    bytes: file.bytes === null ? null : Number(file.bytes),
    createdAt: toRfc3339(file.createdAt, zone),
    finishedAt: when(file.finishedAt),
    acceptedAt: when(file.acceptedAt),
  }
}

function toTotals(kind: (typeof LINE_KINDS)[number], currencyCode: string, sum: ExportSum): z.input<typeof totals> {
  const number = (minor: string) => minorToNumber(BigInt(minor), currencyOf(currencyCode))
  return {
    kind,
    currencyCode,
    loans: sum.loans,
    principal: number(sum.principal),
    principalOutstanding: number(sum.principalOutstanding),
    outstanding: number(sum.outstanding),
    overdue: number(sum.overdue),
  }
}

/** Builds the view of a fault of a loan. */
export const toException = ({ loanId, field, rule, value }: ExportException): z.input<typeof exceptionSchema> => ({
  loanId: String(loanId),
  field,
  rule,
  value,
})

/** Builds the view of a loan that is left out. */
export const toExcluded = ({ loanId, reason }: ExcludedLoan): z.input<typeof excludedSchema> => ({
  loanId: String(loanId),
  reason,
})
