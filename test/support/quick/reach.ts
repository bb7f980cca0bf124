import { basename, dirname, join } from 'node:path/posix'
import { importsOf, withoutComments } from '../imports.ts'

/** The text of each file of the repository, by its path. */
export type Texts = ReadonlyMap<string, string>

const isCode = (file: string) => /\.(ts|mjs|cjs)$/.test(file)
const isTest = (file: string) => file.endsWith('.test.ts')

/** What starts the service, by the manifest's script: it imports nothing of it. */
const STARTERS: Readonly<Record<string, string>> = { 'test/support/process.ts': 'src/app/main.ts' }
/** Packages whose source is here. */
const OWN_PACKAGES: Readonly<Record<string, string>> = { '@mkopo/client': 'clients/typescript/src/index.ts' }

/**
 * Returns the test files that the changed files can reach, the nearest first: those that changed themselves, then those
 * that import a changed file, then those that import one over another file, and so on. A file is reached, too, from a
 * file whose path or name it has as a text, such as a program that it starts, or a document that it reads. Of tests
 * that are equally near, those whose folders are most like a changed file's are the first.
 */
export function reachedTests(texts: Texts, changed: readonly string[]): string[] {
  const users = usersOf(texts, changed)
  const reached = new Set(changed)
  let nearest = [...reached]
  const tests: string[] = []
  while (nearest.length > 0) {
    tests.push(...nearest.filter((file) => isTest(file) && texts.has(file)).toSorted(mirrorsFirst(changed)))
    nearest = [...new Set(nearest.flatMap((file) => users.get(file) ?? []))].filter((file) => !reached.has(file))
    for (const file of nearest) reached.add(file)
  }
  return tests
}

/** Returns the files that use each file: by an import that brings more than types, or by its path or name as a text. */
function usersOf(texts: Texts, changed: readonly string[]): Map<string, string[]> {
  const users = new Map<string, string[]>()
  const documents = changed.filter((file) => !isCode(file))
  for (const [file, text] of texts) {
    if (!isCode(file)) continue
    const imports = importsOf(text)
    const typesOnly = new Set(imports.flatMap(({ from, typeOnly }) => (typeOnly ? [from] : [])))
    const imported = imports.flatMap(({ from, typeOnly }) => (typeOnly ? [] : [from]))
    const named = [...imported, ...stringsIn(text).filter((string) => !typesOnly.has(string))]
    const used = new Set(named.map((name) => pathOf(file, name)))
    for (const document of documents)
      if ([basename(document), ...foldersOf(document)].some((name) => used.has(name))) used.add(document)
    if (file in STARTERS) used.add(STARTERS[file]!)
    for (const other of used) users.set(other, [...(users.get(other) ?? []), file])
  }
  return users
}

/** Returns the path in the repository of what a file names, or the name itself where it is of a package. */
const pathOf = (file: string, named: string): string =>
  named.startsWith('.') ? join(dirname(file), named) : (OWN_PACKAGES[named] ?? named)

/** Returns the quoted texts of a source. */
const stringsIn = (text: string): string[] =>
  [...withoutComments(text).matchAll(/(['"`])([\w@./-]+)\1/g)].map(([, , string]) => string!)

/** Returns the folders of a file that have a name of two parts or more: what reads one reads all of it. */
function foldersOf(file: string): string[] {
  const parts = dirname(file).split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/')).filter((folder) => folder.includes('/'))
}

/** Returns the order of tests that are equally near: those whose folders are most like a changed file's, then by path. */
function mirrorsFirst(changed: readonly string[]): (a: string, b: string) => number {
  const mirrors = changed.map((file) => partsOf(file.replace(/^src\//, 'test/')))
  const likeness = (test: string) => Math.max(...mirrors.map((mirror) => sharedParts(mirror, partsOf(test))))
  return (a, b) => likeness(b) - likeness(a) || (a < b ? -1 : 1)
}

const partsOf = (file: string) => file.replace(/(\.test)?\.\w+$/, '').split('/')

/** Returns how many parts two paths begin with that are the same. */
function sharedParts(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((part, index) => part !== other[index])
  return differs === -1 ? one.length : differs
}
