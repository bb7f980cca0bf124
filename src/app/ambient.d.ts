// What Node 24 has and the library of the language does not declare yet.

interface JSON {
  /** A value that `JSON.stringify` writes as this text: a number of any length, to the last digit. */
  rawJSON(text: string): unknown
  /** With the text that a number, or another value that holds no others, was written as. */
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
}
