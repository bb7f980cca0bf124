import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import ofPrisma from '../prisma/package.json' with { type: 'json' }

// The rules of the packages, and of the code that Prisma makes.

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const manifests = [manifest, ofPrisma]
const lockFiles = ['package-lock.json', 'prisma/package-lock.json']

describe('the packages', () => {
  it('have exact versions', () => {
    const versions = manifests.flatMap((one) => [
      ...Object.entries('dependencies' in one ? one.dependencies : {}),
      ...Object.entries(one.devDependencies),
    ])
    expect(versions.length).toBeGreaterThan(50)
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  })

  it.each(lockFiles)('%s has a checksum of each package, and names no registry', (file) => {
    const { packages } = JSON.parse(read(file)) as { packages: Record<string, Locked> }
    const locked = Object.entries(packages).filter(([path]) => path !== '')
    expect(locked.length).toBeGreaterThan(100)
    expect(locked.filter(([, { integrity, inBundle }]) => !integrity && !inBundle).map(([path]) => path)).toEqual([])
    expect(locked.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([])
  })
})

interface Locked {
  readonly integrity?: string
  readonly inBundle?: boolean
  readonly resolved?: string
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
