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
