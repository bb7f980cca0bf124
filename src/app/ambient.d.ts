// Parts of Node 24 that the library of TypeScript does not declare yet.

interface JSON {
  /** Returns a value that `JSON.stringify` writes as this text: a number of any length, to the last digit. */
  rawJSON(text: string): unknown
  /** Returns whether a value is one that `rawJSON` returned. */
  isRawJSON(value: unknown): boolean
  /** Parses JSON; the reviver also gets the source text of a number or another plain value. */
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
}
