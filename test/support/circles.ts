/**
 * Returns the groups of files that import each other, directly or over others; each group as its sorted names.
 * @param imports the files that each file imports
 */
export function circlesIn(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map([...imports.keys()].map((file) => [file, reachableFrom(imports, file)]))
  const groups = new Map<string, string[]>()
  for (const [file, others] of reached) {
    const group = [...others].filter((other) => reached.get(other)?.has(file)).toSorted()
    if (group.length > 0) groups.set(group.join(' '), group)
  }
  return [...groups.values()]
}

/** Returns the files that a file leads to: itself only where it is in a circle. */
function reachableFrom(imports: ReadonlyMap<string, readonly string[]>, file: string): Set<string> {
  const reached = new Set<string>()
  const waiting = [...(imports.get(file) ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    waiting.push(...(imports.get(next) ?? []))
  }
  return reached
}
