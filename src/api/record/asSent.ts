import { z } from 'zod'
import type { Source } from '../../domain/recordStyle/loanRecord.ts'
import { JsonNumber } from '../body/json.ts'
import { textPattern } from '../document/patterns.ts'
import { int64, text } from '../wire.ts'

/**
 * Makes a schema that accepts what `schema` does and keeps the JSON that was sent, so that the value is given back
 * exactly as it was sent; its meaning is read where it is needed.
 */
export function sent(schema: z.ZodType, meta: Record<string, unknown> = z.globalRegistry.get(schema) ?? {}) {
  return z
    .unknown()
    .transform((value, context): Source => {
      const parsed = schema.safeParse(value)
      if (parsed.success) return value instanceof JsonNumber ? value.source : JSON.stringify(value)
      const message = parsed.error.issues[0]?.message ?? 'is not valid'
      context.issues.push({ code: 'custom', message, input: value })
      return z.NEVER
    })
    .meta(meta)
}

/**
 * Makes a schema of a whole number that keeps its digits: `12`, `12.0` and, where `schema` accepts it, `"12"` are the
 * same number, and are given back as `12`.
 */
export const sentInteger = (schema: z.ZodType<bigint | number>) => {
  const meta = z.globalRegistry.get(schema) ?? {}
  return schema.transform((value): Source => String(value)).meta(meta)
}

const LONGEST_TEXT = 100

/** A text, or a whole number for record systems that count; kept and given back as it was sent. */
export const sentText = z
  .unknown()
  .transform((value, context): Source => {
    const read =
      value instanceof JsonNumber ? int64().safeParse(value) : text({ min: 0, max: LONGEST_TEXT }).safeParse(value)
    if (read.success) return value instanceof JsonNumber ? value.source : JSON.stringify(value)
    const message = value instanceof JsonNumber ? 'must be a text, or a whole number' : read.error.issues[0]!.message
    context.issues.push({ code: 'custom', message, input: value })
    return z.NEVER
  })
  .meta({ type: 'string', maxLength: LONGEST_TEXT, pattern: textPattern({ min: 0 }) })

export const LONGEST_WORD = 50

/** A word of a vocabulary, in any of its spellings. */
export const word = (read: (text: string) => string | undefined, words: readonly string[]) =>
  text({ max: LONGEST_WORD })
    .refine((given) => read(given) !== undefined, `must be one of ${words.join(', ')}`)
    .meta({
      type: 'string',
      description: `${words.map((one) => `\`${one}\``).join(', ')}; in any case, with spaces or underscores.`,
      'x-extensible-enum': words,
      examples: [words[0]],
    })

/** A number that may replace a word: 2 for "2". */
export const numberAsWord = z.unknown().transform((value) => (value instanceof JsonNumber ? value.source : value))
