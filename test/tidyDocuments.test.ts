import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { CAMPAIGNS } from '../bench/try.ts'
import manifest from '../package.json' with { type: 'json' }

// The rules of the documents, and of what a newcomer starts with.

const root = fileURLToPath(new URL('..', import.meta.url))
const MOST_BYTES_OF_README = 8_000
const MOST_BYTES_OF_DOCS = 440_000
/** The styles whose routes and examples an author of an operation writes. */
const STYLES = ['partner', 'record']
const MOST_FILES_IN_A_FOLDER = 15
const MOST_CHARACTERS_OF_A_RULE = 600
/** The client that Prisma generates: nobody reads it. */
const MADE_BY_PRISMA = 'db/generated'

const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...documentsIn('docs')]

describe('the documents', () => {
  it('are found', () => {
    expect(documents).toEqual(expect.arrayContaining(['docs/contract.md', 'docs/operating/recovery.md']))
  })

  it(`README.md has at most ${MOST_BYTES_OF_README} bytes: what is longer belongs in docs/`, () => {
    expect(statSync(join(root, 'README.md')).size).toBeLessThanOrEqual(MOST_BYTES_OF_README)
  })

  it(`docs/ has at most ${MOST_BYTES_OF_DOCS} bytes: tell each thing in one paper, and link to its heading from the others`, () => {
    const bytes = documentsIn('docs').reduce((sum, document) => sum + statSync(join(root, document)).size, 0)
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES_OF_DOCS)
  })

  it('every relative link leads to a file that is there, and to a heading that it has', () => {
    expect(documents.flatMap((document) => brokenLinks(document, read(document)))).toEqual([])
  })

  it('every path of a file that a document names is there', () => {
    const missing = documents.flatMap((document) =>
      [...withoutBlocks(read(document)).matchAll(/`((?:src|test|bench|prisma|deploy)\/[\w./-]+\.\w+)`/g)]
        .filter(([, path]) => !existsSync(join(root, path!)))
        .map(([, path]) => `${document} names ${path}, which is not there`),
    )
    expect(missing).toEqual([])
  })

  it('every path of a style that a document names is there in a style', () => {
    const missing = documents.flatMap((document) =>
      [...read(document).matchAll(/`(src\/api\/<style>\/[^`<]+)`/g)]
        .filter(([, path]) => STYLES.every((style) => !existsSync(join(root, path!.replace('<style>', style)))))
        .map(([, path]) => `${document} names ${path}, which no style has`),
    )
    expect(missing).toEqual([])
  })

  it('every script and every campaign that a document names is there', () => {
    const wrong = documents.flatMap((document) =>
      [...read(document).matchAll(/\bnpm run ([\w:]+)(?: -- ([a-z][\w-]*))?/g)]
        .filter(([, script, campaign]) =>
          script === 'try' && campaign !== undefined ? !(campaign in CAMPAIGNS) : !(script! in manifest.scripts),
        )
        .map(([command]) => `${document} names ${command}, which is not there`),
    )
    expect(wrong).toEqual([])
  })

  it('every document of docs/ is linked from another one', () => {
    const linked = new Set(
      documents.flatMap((document) => linksIn(read(document)).map((link) => fileOf(document, link))),
    )
    expect(documents.filter((document) => document.startsWith('docs/') && !linked.has(document))).toEqual([])
  })

  it(`docs/contract.md has no paragraph of more than ${MOST_CHARACTERS_OF_A_RULE} characters, so that a change of one can be reviewed`, () => {
    const paragraphs = withoutBlocks(read('docs/contract.md'))
      .replace(/^\|.*$/gm, '')
      .split(/\n(?=\s*(?:\n|- |\d+\. ))/)
      .map((paragraph) => paragraph.replace(/\s+/g, ' ').trim())
    expect(paragraphs.length).toBeGreaterThan(200)
    expect(paragraphs.filter(({ length }) => length > MOST_CHARACTERS_OF_A_RULE)).toEqual([])
  })

  it('every decision has a context, a decision and consequences, and a number that no other has', () => {
    const decisions = documents.filter((document) => /^docs\/decisions\/\w+\//.test(document))
    for (const document of decisions) {
      const [, number] = /\/(\d{4})-[a-z0-9-]+\.md$/.exec(document) ?? []
      expect({ document, title: read(document).split('\n')[0] }).toEqual({
        document,
        title: expect.stringMatching(new RegExp(`^# ${number}: `)),
      })
      expect({ document, chapters: headingsOf(read(document)).slice(1) }).toEqual({
        document,
        chapters: ['context', 'decision', 'consequences'],
      })
    }
    const numbers = decisions.map((document) => document.replace(/^.*\/(\d+)-.*$/, '$1'))
    expect(new Set(numbers).size).toBe(decisions.length)
    expect(decisions.length).toBeGreaterThan(40)
  })

  it('the table of rooms in docs/architecture.md has each folder of src, and no other', () => {
    const rooms = read('docs/architecture.md').split('\n## Rooms\n')[1]?.split('\n## ')[0] ?? ''
    const named = [...rooms.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) => cell!.replaceAll('`', '').split(', '))
    const folders = globSync('src/*/*', { cwd: root, withFileTypes: true }).filter((entry) => entry.isDirectory())
    const there = folders
      .map((folder) => relative(join(root, 'src'), join(folder.parentPath, folder.name)).replaceAll('\\', '/'))
      .filter((folder) => folder !== MADE_BY_PRISMA)
    expect(named.toSorted()).toEqual(there.toSorted())
  })

  it('docs/architecture.md names each layer', () => {
    const text = read('docs/architecture.md').split('\n## Rooms\n')[0]!
    const layers = globSync('src/*', { cwd: root }).map((folder) => basename(folder))
    expect(layers.filter((layer) => !text.includes(`\`${layer}\``))).toEqual([])
  })

  it(`no folder of docs/ has more than ${MOST_FILES_IN_A_FOLDER} files`, () => {
    const folders = Map.groupBy(documentsIn('docs'), (document) => dirname(document))
    const full = [...folders].filter(([, files]) => files.length > MOST_FILES_IN_A_FOLDER)
    expect(full.map(([folder]) => folder)).toEqual([])
  })
})

describe('what a newcomer starts with', () => {
  it('README.md has each folder of src, and no other', () => {
    const tree = /^src\/\n((?: {2}\S.*\n)+)/m.exec(read('README.md'))?.[1] ?? ''
    const named = [...tree.matchAll(/^ {2}(\w+)\/ /gm)].map(([, folder]) => folder)
    expect(named.toSorted()).toEqual(
      globSync('src/*', { cwd: root })
        .map((folder) => basename(folder))
        .toSorted(),
    )
  })

  it('README.md names the rooms of api', () => {
    const rooms = globSync('src/api/*/', { cwd: root }).map((folder) => `${basename(folder)}/`)
    const line = /^ {2}api\/.*$/m.exec(read('README.md'))?.[0] ?? ''
    expect(
      [...line.matchAll(/\b(\w+\/)/g)]
        .map(([, room]) => room)
        .slice(1)
        .toSorted(),
    ).toEqual(expect.arrayContaining(rooms.filter((room) => !/^(auth|partner|record)\/$/.test(room)).toSorted()))
  })

  it('.vscode/launch.json starts programs that are there', () => {
    const { configurations } = JSON.parse(read('.vscode/launch.json')) as { configurations: { program?: string }[] }
    const programs = configurations.flatMap(({ program }) => program ?? [])
    expect(programs.length).toBeGreaterThan(0)
    expect(
      programs.filter(
        (program) => !program.includes('node_modules') && !existsSync(program.replace(/^\$\{workspaceFolder\}/, root)),
      ),
    ).toEqual([])
  })

  it('.node-version has the Node of the lock file', () => {
    expect(read('.node-version').trim()).toBe(manifest.devDependencies.node)
  })

  it.each([
    ['watch', '--watch'],
    ['debug', '--inspect'],
  ] as const)('npm run %s starts what npm start starts, with %s', (script, flag) => {
    expect(manifest.scripts[script]).toBe(manifest.scripts.start.replace('exec node', `exec node ${flag}`))
  })

  it.each(['settings', 'extensions', 'launch'])('.vscode/%s.json is JSON', (name) => {
    expect(JSON.parse(read(`.vscode/${name}.json`))).toBeTypeOf('object')
  })
})

describe('the rules of the documents themselves', () => {
  it.each([
    ['[a](docs/nowhere.md)', 'README.md links to docs/nowhere.md, which is not there'],
    ['[a](docs/credit.md#nothing)', 'README.md links to docs/credit.md#nothing, and the document has no such heading'],
    ['[a](#nothing)', 'README.md links to #nothing, and the document has no such heading'],
  ])('%s is refused', (text, message) => expect(brokenLinks('README.md', text)).toEqual([message]))

  it.each([
    '[a](docs/credit.md)',
    '[a](docs/credit.md#the-policy)',
    '[a](https://example.com/nowhere)',
    '```\n[a](nowhere.md)\n```',
    '# One `two`, three\n[a](#one-two-three)',
  ])('%j is accepted', (text) => expect(brokenLinks('README.md', text)).toEqual([]))
})

/** A message for each relative link of a document that leads nowhere. */
function brokenLinks(document: string, text: string): string[] {
  return linksIn(text).flatMap((link) => {
    const [, anchor] = link.split('#')
    const file = fileOf(document, link)
    if (!existsSync(join(root, file))) return [`${document} links to ${link}, which is not there`]
    if (anchor === undefined) return []
    const target = file === document ? text : read(file)
    return headingsOf(target).includes(anchor)
      ? []
      : [`${document} links to ${link}, and the document has no such heading`]
  })
}

/** The file that a relative link leads to, by its path from the root. */
function fileOf(document: string, link: string): string {
  const [path = ''] = link.split('#')
  return path === '' ? document : normalize(join(dirname(document), path))
}

/** The relative links of a document, as they are written. */
function linksIn(text: string): string[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link))
}

/** The anchors that GitHub makes of a document's headings. */
function headingsOf(text: string): string[] {
  const seen = new Map<string, number>()
  return [...withoutBlocks(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => {
    const words = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
}

const withoutBlocks = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```$/gm, '')

function documentsIn(folder: string): string[] {
  return globSync(`${folder}/**/*.md`, { cwd: root }).map((file) => file.replaceAll('\\', '/'))
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
