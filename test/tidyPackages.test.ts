import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import ofReporting from '../bench/reporting/package.json' with { type: 'json' }
import manifest from '../package.json' with { type: 'json' }
import ofPrisma from '../prisma/package.json' with { type: 'json' }

// The rules of the packages, and of the code that Prisma makes.

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const MOST_MEGABYTES = 530
const MOST_MEGABYTES_WITHOUT_DEV = 200

const manifests = [manifest, ofPrisma, ofReporting]
/** The lock files, with the least packages that each has. */
const lockFiles = [
  ['package-lock.json', 100],
  ['prisma/package-lock.json', 100],
  ['bench/reporting/package-lock.json', 2],
] as const

describe('the packages', () => {
  it('have exact versions', () => {
    const versions = manifests.flatMap((one) => [
      ...Object.entries('dependencies' in one ? one.dependencies : {}),
      ...Object.entries('devDependencies' in one ? one.devDependencies : {}),
    ])
    expect(versions.length).toBeGreaterThan(50)
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  })

  it.each(lockFiles)('%s has a checksum of each package, and names no registry', (file, least) => {
    const locked = lockedIn(file)
    expect(locked.length).toBeGreaterThan(least)
    expect(locked.filter(([, { integrity, inBundle }]) => !integrity && !inBundle).map(([path]) => path)).toEqual([])
    expect(locked.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([])
  })
})

describe('node_modules, as `npm ci` leaves it', () => {
  const megabytes = (bytes: number) => Math.ceil(bytes / 2 ** 20)

  it(`has at most ${MOST_MEGABYTES} MB: what only one campaign needs has a folder and a lock file of its own`, () => {
    // What tools keep there is not installed.
    const installed = readdirSync(join(root, 'node_modules')).filter((name) => !name.startsWith('.'))
    const bytes = installed.reduce((sum, name) => sum + bytesIn(`node_modules/${name}`, () => true), 0)
    expect(megabytes(bytes)).toBeGreaterThan(300)
    expect(megabytes(bytes)).toBeLessThanOrEqual(MOST_MEGABYTES)
  })

  it(`has at most ${MOST_MEGABYTES_WITHOUT_DEV} MB with --omit=dev`, () => {
    const needed = lockedIn('package-lock.json').filter(([path, { dev }]) => !dev && existsSync(join(root, path)))
    const ofOthers = (name: string) => name !== 'node_modules'
    const bytes = needed.reduce((sum, [path]) => sum + bytesIn(path, ofOthers), 0)
    expect(megabytes(bytes)).toBeGreaterThan(100)
    expect(megabytes(bytes)).toBeLessThanOrEqual(MOST_MEGABYTES_WITHOUT_DEV)
  })

  it('has no headers of Node, and of the query compilers of Prisma the one for Postgres', () => {
    expect(globSync('node_modules/node/node_modules/node-*/include', { cwd: root })).toEqual([])
    const compilers = globSync('node_modules/@prisma/client/runtime/query_compiler_*', { cwd: root })
    expect(compilers.length).toBeGreaterThan(1)
    expect(compilers.filter((file) => !basename(file).startsWith('query_compiler_small_bg.postgresql.'))).toEqual([])
  })
})

interface Locked {
  readonly dev?: boolean
  readonly integrity?: string
  readonly inBundle?: boolean
  readonly resolved?: string
}

/** The packages of a lock file, by the folder that each is installed in. */
function lockedIn(file: string): [path: string, Locked][] {
  const { packages } = JSON.parse(read(file)) as { packages: Record<string, Locked> }
  return Object.entries(packages).filter(([path]) => path !== '')
}

const BLOCK = 4_096

/** The bytes that a folder takes on a disk, as `du` counts them: whole blocks, and a file with two names once. */
function bytesIn(folder: string, within: (name: string) => boolean, counted = new Set<number>()): number {
  return readdirSync(join(root, folder), { withFileTypes: true }).reduce((sum, entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return within(entry.name) ? sum + bytesIn(path, within, counted) : sum
    const { size, ino, nlink } = lstatSync(join(root, path))
    if (nlink > 1 && counted.has(ino)) return sum
    counted.add(ino)
    return sum + Math.ceil(size / BLOCK) * BLOCK
  }, BLOCK)
}

describe('src/db/generated is what `npm run prisma` makes', () => {
  const generated = read('src/db/generated/internal/class.ts')
  const schema = read('prisma/schema.prisma')

  it('of prisma/schema.prisma', () => {
    const [, literal = '""'] = /^ {2}"inlineSchema": (".*"),$/m.exec(generated) ?? []
    expect(JSON.parse(literal)).toBe(schema)
    const models = [...schema.matchAll(/^model (\w+) \{$/gm)].map(([, name]) => name)
    const files = globSync('src/db/generated/models/*.ts', { cwd: root }).map((file) => basename(file, '.ts'))
    expect(files.toSorted()).toEqual(models.toSorted())
  })

  it('by the version of Prisma that runs it', () => {
    const [, version] = /^ {2}"clientVersion": "(.*)",$/m.exec(generated) ?? []
    const { '@prisma/client': client, '@prisma/adapter-pg': adapter } = manifest.dependencies
    expect([version, adapter, ofPrisma.devDependencies.prisma]).toEqual([client, client, client])
  })
})
