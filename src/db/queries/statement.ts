import type pg from 'pg'
import type { Stamping } from '../audit/stamp.ts'
import type { Sealing } from '../customers/personBox.ts'

/** A statement as it is sent: its text and its parameters, and the name under which Postgres prepares it. */
export interface Prepared {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

/** Returns the number of a parameter for the text of a statement, `$3`; the same name has the same number. */
export type Parameter<Values extends object> = (name: keyof Values & string) => string

/**
 * Writes a statement whose parameters have names, so that nobody counts them: `p('organizationId')` in the text is the
 * number of that parameter, and a value that is missing does not compile.
 * @param name under which the statement is prepared
 * @param write the text, given the numbers of its parameters
 * @returns a function from the values to what the driver sends
 */
export function statement<Values extends object>(
  name: string,
  write: (p: Parameter<Values>) => string,
): (values: Values) => Prepared {
  const { text, names } = numbered(write)
  return (values) => ({ name, text, values: names.map((one) => values[one]) })
}

/** A statement as `statement` writes it, which Postgres plans each time for its values. */
export function unprepared<Values extends object>(
  write: (p: Parameter<Values>) => string,
): (values: Values) => Omit<Prepared, 'name'> {
  const { text, names } = numbered(write)
  return (values) => ({ text, values: names.map((one) => values[one]) })
}

function numbered<Values extends object>(write: (p: Parameter<Values>) => string) {
  const names: (keyof Values & string)[] = []
  const text = write((name) => {
    const known = names.indexOf(name)
    return `$${known === -1 ? names.push(name) : known + 1}`
  })
  return { text, names }
}

/** The target of statements: the pool, or one connection with a transaction open on it. */
export interface Queries {
  readonly pool: Pick<pg.ClientBase, 'query'> & Stamping & Sealing
}

/** The conditions of a statement that is written for one request, with their parameters. */
export interface Conditions {
  readonly texts: readonly string[]
  readonly values: readonly unknown[]
}

/** A condition in which `?` stands for the value: one text, or a function that returns the text for a value. */
export type ConditionText = string | ((value: unknown) => string)

/**
 * Writes what a filter asks for: the condition of each property that is set. Parameters follow those that are there
 * already.
 */
export function conditionsOf<Filter extends object>(
  table: Readonly<Record<keyof Filter, ConditionText>>,
  filter: Filter,
  { texts, values }: Conditions,
): Conditions {
  const asked = Object.entries<ConditionText>(table).flatMap(([name, text]) => {
    const value = filter[name as keyof Filter] as unknown
    return value === undefined ? [] : [{ text: typeof text === 'string' ? text : text(value), value }]
  })
  const all = { texts: [...texts], values: [...values] }
  for (const { text, value } of asked) {
    all.texts.push(text.includes('?') ? text.replaceAll('?', `$${all.values.push(value)}`) : text)
  }
  return all
}
