import { parseArgs } from 'node:util'

export const PARTS = ['lint', 'schemathesis', 'clients'] as const
export type Part = (typeof PARTS)[number]

/** What one run tries. */
export interface Options {
  readonly parts: readonly Part[]
  /** The generators to try; all when left out. */
  readonly tools: readonly string[] | undefined
  /** Seconds for Schemathesis, all styles together. */
  readonly seconds: number
  /** Test cases for each operation and phase of Schemathesis. */
  readonly examples: number
}

export const USAGE = `npm run try -- clients [options]

  --only a,b      parts: ${PARTS.join(', ')}; default all
  --tools a,b     only these generators, by the names of the table
  --seconds N     time for Schemathesis, default 600 (60 with --quick)
  --quick         one minute of Schemathesis, with few examples`

const LONG = { seconds: 600, examples: 60 }
const QUICK = { seconds: 60, examples: 5 }
const LEAST_SECONDS = 15

/** @throws Error with one line for the first option that is not understood */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      tools: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  })
  const parts = values.only?.split(',') ?? PARTS
  const unknown = parts.find((part) => !(PARTS as readonly string[]).includes(part))
  if (unknown !== undefined) throw new Error(`--only: no such part: ${unknown}; there are ${PARTS.join(', ')}`)
  const bounds = values.quick ? QUICK : LONG
  const seconds = values.seconds === undefined ? bounds.seconds : Number(values.seconds)
  if (!Number.isInteger(seconds) || seconds < LEAST_SECONDS)
    throw new Error(`--seconds: must be a whole number of at least ${LEAST_SECONDS}`)
  return { parts: parts as Part[], tools: values.tools?.split(','), seconds, examples: bounds.examples }
}
