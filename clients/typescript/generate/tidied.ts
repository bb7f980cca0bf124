const UNION = /^export type (\w+) =\s+(?:\| )?('[^']*'(?:\s*\| '[^']*')*);?\n/gm
const QUERY = /^export type (\w+Params) = (\{\n[\s\S]*?\n\});?\n/gm

const uses = (source: string, name: string) => [...source.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length

/**
 * Returns generated types in a shorter form that says the same: words of one member stand in it rather than under a name of
 * their own, and queries with the same members share one type.
 */
export const tidied = (source: string): string => withSharedQueries(withWordsInPlace(source))

function withWordsInPlace(source: string): string {
  // The comment of such a name repeats that of the member.
  let tidy = source.replaceAll(/^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?=export type )/gm, '')
  for (const [line, name = '', words = ''] of [...tidy.matchAll(UNION)]) {
    if (uses(tidy, name) !== 2) continue
    tidy = tidy.replace(line, '').replace(new RegExp(`\\b${name}\\b`), words.replaceAll(/\s+/g, ' '))
  }
  return tidy
}

function withSharedQueries(source: string): string {
  let tidy = source
  const known = new Map<string, string>()
  for (const [whole, name = '', members = ''] of [...source.matchAll(QUERY)]) {
    const first = known.get(members)
    known.set(members, first ?? name)
    if (first !== undefined) tidy = tidy.replace(whole, '').replaceAll(new RegExp(`\\b${name}\\b`, 'g'), first)
  }
  return tidy
}
