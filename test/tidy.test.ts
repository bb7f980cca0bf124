import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { circlesIn } from './support/circles.ts'
import { importsOf, withoutComments } from './support/imports.ts'
import { database, layers } from './support/layers.ts'

// The rules of the house, as tables. A rule that is not here is not a rule.

interface Ban {
  readonly what: RegExp
  readonly where: RegExp
  readonly except?: RegExp
  readonly instead: string
}

/**
 * The services that go by the clock of the machine: access, the sessions of the office pages, the delivery of events,
 * the progress of imports, the sums of the operators' page, the jobs, and the file that names the clocks.
 */
const timelessServices = new RegExp(
  `^src/services/(access/|signIn/|base\\.ts|office/pageSessions\\.ts|webhooks/|events/(eventList|keptHeads|sequencer)\\.ts|${'organizations/(organizations|products)\\.ts|payments/channels\\.ts|book/(bookImport|totals)\\.ts|jobs/serviceJobs\\.ts'})`,
)

/** What the code of a file may not say; comments and quoted text do not count. */
const bans: readonly Ban[] = [
  {
    what: /\b(async|await|Promise)\b/,
    where: /^src\/domain\//,
    instead: 'domain decides without waiting: load first, in a service',
  },
  {
    what: /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bDateTime\.(now|local|utc)\(\s*\)/,
    where: /^src\/domain\//,
    instead: 'time is an argument: take the instant from the caller, who has deps.now(organizationId)',
  },
  {
    what: /\bDate\.now\b|\bnew Date\(\s*\)|\bDateTime\.(now|local|utc)\(\s*\)/,
    where: /^src\/services\//,
    except: /^src\/services\/webhooks\/poster\.ts$/,
    instead: 'ask deps.now(organizationId) for business time, and deps.machineNow() for the time of tokens and leases',
  },
  {
    what: /\bmachineNow\b/,
    where: /^src\/(domain|services)\//,
    except: timelessServices,
    instead: 'what happens in a book has business time: ask deps.now(organizationId)',
  },
  {
    what: /\bDeps\b/,
    where: /^src\/services\/loans\//,
    instead:
      'take the groups that the function needs, Core, Writing and Caches, or members of them: only a root takes all',
  },
  {
    what: /\bMath\.random\b|\brandomUUID\b|\bcrypto\b/,
    where: /^src\/domain\//,
    instead: 'domain gives the same answer to the same question: take what is random as an argument',
  },
  {
    what: /\.\.\.\{/,
    where: /^src\//,
    instead: 'write the members of the object, one a line: a literal that is spread into a literal only saves lines',
  },
  { what: /\bprocess\.|\bfetch\(/, where: /^src\/domain\//, instead: 'domain does not reach for the world around it' },
  {
    what: /\bprocess\.env\b|\bimport\.meta\.env\b|\benv\b.*from 'node:process'/,
    where: /^src\//,
    except: /^src\/app\/config\.ts$/,
    instead: 'only src/app/config.ts reads the environment: add a setting there, and take it as an argument',
  },
  {
    what: /\bcsv-stringify\b|\bmarkText\b/,
    where: /^src\//,
    except: /^src\/(services\/csv|domain\/visibleText)\.ts$/,
    instead: 'one piece writes CSV, src/services/csv.ts: give it columns and rows',
  },
  {
    what: /\bexport\b[^=({]*\b\w*(Dto|DTO|Impl)(?![a-z])/,
    where: /^src\//,
    instead: "use the field's word: the thing itself, or to… for the view of it",
  },
]

const longest = 400
const mostFiles = 15
const cited = /\bcontract(?: |\s+(?:\*|\/\/)\s+)(\d+(?:\.\d+)*(?:(?:, |–)\d+(?:\.\d+)*)*)/g
const vague = /utils?|helpers?|manager/i

const root = fileURLToPath(new URL('..', import.meta.url))
const files = ['src', 'test', 'bench', 'clients']
  .flatMap(filesIn)
  .filter((file) => !/^(src\/db\/generated|clients\/typescript\/(src\/generated|dist))\//.test(file))
  .filter((file) => !file.includes('/node_modules/'))
const sources = files.filter((file) => file.startsWith('src/') && file.endsWith('.ts'))

describe('the house', () => {
  it('is found', () => expect(sources).toContain('src/app/config.ts'))

  it('every file of src is in a layer, and imports what the layer may', () => {
    expect(sources.flatMap((file) => wrongImports(file))).toEqual([])
  })

  it('the code says nothing that its layer may not', () => {
    const broken = sources.flatMap((file) => {
      const code = codeOf(read(file))
      return bans
        .filter(({ where, except }) => where.test(file) && !except?.test(file))
        .flatMap(({ what, instead }) => {
          const found = what.exec(code)
          return found ? [`${file} says "${found[0].trim()}": ${instead}`] : []
        })
    })
    expect(broken).toEqual([])
  })

  it(`no file has more than ${longest} lines`, () => {
    const broken = files
      .map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > longest)
      .map(({ file, lines }) => `${file} has ${lines} lines: it has two subjects: split it by what the parts are about`)
    expect(broken).toEqual([])
  })

  it(`no folder of src has more than ${mostFiles} files`, () => {
    const folders = Map.groupBy(sources, (file) => dirname(file))
    expect([...folders].filter(([, within]) => within.length > mostFiles).map(([folder]) => folder)).toEqual([])
  })

  it('no import of src leads back to its file, over others or not', () => {
    const ofFile = (file: string) => importsOf(read(file)).map(({ from }) => join(dirname(file), from))
    const imports = new Map(sources.map((file) => [file, ofFile(file)]))
    expect(circlesIn(imports)).toEqual([])
    expect(circlesIn(new Map([...imports, ['src/a.ts', ['src/b.ts']], ['src/b.ts', ['src/a.ts']]]))).toEqual([
      ['src/a.ts', 'src/b.ts'],
    ])
  })

  it('every number of the contract that the code cites is in docs/contract.md', () => {
    const known = sectionsOf(read('docs/contract.md'))
    const broken = files.flatMap((file) =>
      citationsIn(read(file))
        .filter((section) => !known.has(section))
        .map((section) => `${file} cites contract ${section}, which docs/contract.md does not have`),
    )
    expect(broken).toEqual([])
  })

  it('no file name is vague', () => {
    const broken = files
      .filter((file) => vague.test(basename(file)))
      .map((file) => `${file}: name it by what it does, in the words of the field`)
    expect(broken).toEqual([])
  })
})

describe('the rules themselves', () => {
  it.each([
    ['src/domain/loan/loan.ts', "import { readFile } from 'node:fs'"],
    ['src/domain/loan/loan.ts', "import type { Db } from '../../db/client.ts'"],
    ['src/domain/loan/loan.ts', "import { DateTime } from 'luxon'"],
    ['src/db/loans/loans.ts', "import { post } from '../../services/post.ts'"],
    ['src/db/loans/loans.ts', "export { app } from '../../app/app.ts'"],
    ['src/services/loans/loans.ts', "import pg from 'pg'"],
    ['src/services/loans/loans.ts', "import type { Loan } from '../../db/generated/client.ts'"],
    ['src/services/loans/loans.ts', "import type { FastifyRequest } from 'fastify'"],
    ['src/services/loans/loans.ts', "import { readConfig } from '../../app/config.ts'"],
    ['src/api/style.ts', "import { partner } from './partner/index.ts'"],
    ['src/api/style.ts', "import {\n  type Db,\n} from '../db/client.ts'"],
    ['src/api/partner/loans.ts', "import { view } from '../record/loans.ts'"],
    ['src/api/auth/token.ts', "const { Pool } = await import('pg')"],
    ['src/app/main.ts', "import '@prisma/client'"],
    ['src/strange/file.ts', "import 'zod'"],
  ])('%s may not: %s', (file, text) => expect(wrongImports(file, text)).toHaveLength(1))

  it.each([
    ['src/domain/dates.ts', "import { DateTime } from 'luxon'"],
    ['src/db/loans/loans.ts', "import pg from 'pg'"],
    ['src/services/loans/loans.ts', "import type { Config } from '../../app/config.ts'"],
    ['src/api/partner/loans.ts', "import { toPage } from '../wire.ts'"],
    ['src/app/app.ts', "import { partner } from '../api/partner/index.ts'"],
    ['src/domain/loan/loan.ts', "// not an import { x } from 'pg'\nexport const a = 1"],
  ])('%s may: %s', (file, text) => expect(wrongImports(file, text)).toEqual([]))

  it.each([
    ['contract 4.3.1', ['4.3.1']],
    ['(contract 4.2, 4.3.1–2; more)', ['4.2', '4.3.1', '4.3.2']],
    ['contract 5.1–5.3 and contract 7', ['5.1', '5.3', '7']],
  ])('%s cites %j', (text, sections) => expect(citationsIn(text)).toEqual(sections))

  it('a section of the contract has the numbers of its headings and of its rules', () => {
    const text = '## 3. Money\n1. One\n2. Two\n### 3.4 Rules\n1. First\n   - not 9.'
    expect([...sectionsOf(text)]).toEqual(['3', '3.1', '3.2', '3.4', '3.4.1'])
  })
})

/** The sections of the contract that a text cites: `4.3.1–2` is 4.3.1 and 4.3.2. */
function citationsIn(text: string): string[] {
  return [...text.matchAll(cited)].flatMap(([, list]) =>
    list!.split(', ').flatMap((part) => {
      const [first = '', last] = part.split('–')
      if (last === undefined) return [first]
      return [first, last.includes('.') ? last : first.replace(/\d+$/, last)]
    }),
  )
}

/** The numbers of the contract's headings (`3`, `4.3`) and of the rules under them (`3.1`, `4.3.1`). */
function sectionsOf(contract: string): Set<string> {
  const found = new Set<string>()
  let heading = ''
  for (const line of contract.split('\n')) {
    const number = /^##+ (\d+(?:\.\d+)*)\.? /.exec(line)?.[1]
    if (number !== undefined) heading = number
    const rule = /^(\d+)\. /.exec(line)?.[1]
    if (heading !== '') found.add(rule === undefined ? heading : `${heading}.${rule}`)
  }
  return found
}

/** A message for each import that the file's layer does not have. */
function wrongImports(file: string, text = read(file)): string[] {
  const layer = layers.find(({ files }) => files.test(file))
  if (!layer) return [`${file} is in no layer: put it into one (see the table of test/support/layers.ts)`]
  const allowed = [...layer.may, ...(layer.also ?? []).flatMap(([of, may]) => (of.test(file) ? [may] : []))]
  return importsOf(text).flatMap(({ from, typeOnly }) => {
    const target = from.startsWith('.') ? join(dirname(file), from) : from
    const patterns = typeOnly ? [...allowed, ...(layer.types ?? [])] : allowed
    const outside = database.test(target) && layer.name !== 'db' && !(typeOnly && layer.name === 'settings and wiring')
    if (patterns.some((pattern) => pattern.test(target)) && !outside) return []
    return [`${file} (${layer.name}) imports ${target}: ${layer.instead}`]
  })
}

/** Quoted text is prose, except where it names a module. */
function codeOf(text: string): string {
  return withoutComments(text).replace(/(?<!from )'(?:[^'\\\n]|\\.)*'/g, "''")
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
