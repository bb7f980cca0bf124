// What source texts say of other files, for the tests that read sources.

/** An import of a file: what it names, a path or a package, and whether it takes types only. */
export interface Import {
  readonly from: string
  readonly typeOnly: boolean
}

/** Returns the imports of a source text, those within functions included. */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text)
  const fixed = code.matchAll(/^\s*(?:import|export)\s+(type\s+)?(?:[\w*{},\s$]*?\sfrom\s*)?(['"])([^'"\n]+)\2/gm)
  const dynamic = code.matchAll(/\bimport\(\s*(['"`])([^'"`$]+)/g)
  return [
    ...[...fixed].map((match) => ({ from: match[3]!, typeOnly: match[1] !== undefined })),
    ...[...dynamic].map((match) => ({ from: match[2]!, typeOnly: false })),
  ]
}

/** Returns a source text without its comments, line by line; `://` within an address is none. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}
