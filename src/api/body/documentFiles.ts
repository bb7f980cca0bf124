import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { LendingError } from '../../domain/errors.ts'
import { isLanguage, LANGUAGES, type Language } from '../../words/words.ts'
import { codec, localDate, Refused } from '../wire.ts'
import { CSV_TYPE, JSON_TYPE, preferredOf } from './accepted.ts'

/** The media types of a statement or a receipt, the first where a client has no preference. */
export const DOCUMENT_TYPES = [JSON_TYPE, 'application/pdf', CSV_TYPE] as const
export type DocumentType = (typeof DOCUMENT_TYPES)[number]

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

const CSV = 'date,type,description,transactionId,…\n2026-02-10,Repayment,Repayment,4000000000000001,…\n'

/** Describes the answer of a document in its media types, for the OpenAPI document. */
export const documentAnswer = <T extends z.ZodType>(schema: T) => ({
  description: 'The document, in the media type that `Accept` asks for: JSON by default.',
  content: {
    [JSON_TYPE]: { schema },
    'application/pdf': {
      schema: z.string().meta({ format: 'binary', description: 'The PDF.', examples: ['%PDF-1.7 …'] }),
    },
    [CSV_TYPE]: {
      schema: z.string().meta({ description: 'A row for each line, and one with the code.', examples: [CSV] }),
    },
  },
})

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
