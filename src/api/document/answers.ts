import { z } from 'zod'
import { openText } from './openText.ts'

// Schemas of values in answers. The views that build answers are typed by them; nothing is checked with them.

/** A number of things that stays small. */
export const count = z.int().meta({ minimum: 0 })

/** A number of rows, which may grow beyond 2^31. */
export const total = z.int().meta({ format: 'int64', minimum: 0 })

/** A rate in percent: 10 is 10%. */
export const percent = z.number().meta({ minimum: 0 })

/** A text of a vocabulary to which a later version may add. */
export const word = (description: string, values: readonly string[]) => z.string().meta(openText(description, values))
