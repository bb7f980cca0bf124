import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { example } from '../../test/support/compose.ts'
import { bash, say } from './shell.ts'

// The images that docker-compose.yml and the Dockerfile name: those of this machine, else those of a registry, else
// stand-ins of Debian's packages under the same names.

const ROOT = join(import.meta.dirname, '../..')
export const PROMETHEUS_IMAGE = 'mkopo-try-prometheus:latest'

interface Base {
  readonly folder: string
  readonly image: string
  /** The release of Debian that it is made of. */
  readonly release: Release
}

/** A release of Debian, and the script of debootstrap that knows how to lay it. */
interface Release {
  readonly name: string
  readonly script: string
}

const BOOKWORM: Release = { name: 'bookworm', script: 'bookworm' }
/** It has Postgres 18 and HAProxy 3.2. Older debootstraps do not know its name. */
const FORKY: Release = { name: 'forky', script: 'sid' }

const BASES: readonly Base[] = [
  { folder: 'node', image: example.NODE_IMAGE!, release: BOOKWORM },
  { folder: 'postgres', image: example.DATABASE_IMAGE!, release: FORKY },
  { folder: 'haproxy', image: example.PROXY_IMAGE!, release: FORKY },
  { folder: 'prometheus', image: PROMETHEUS_IMAGE, release: FORKY },
]

/** Makes every image that is missing here, and says of each where it came from. */
export async function haveBaseImages(): Promise<void> {
  for (const base of BASES) {
    if (await succeeds(`docker image inspect ${base.image}`)) say(`${base.image}: is here already`)
    else if (base.image !== PROMETHEUS_IMAGE && (await succeeds(`timeout 60 docker pull ${base.image}`)))
      say(`${base.image}: the official one`)
    else {
      await layDebian(base.release)
      await build(base)
      say(`${base.image}: made of Debian ${base.release.name}`)
    }
  }
}

async function succeeds(command: string): Promise<boolean> {
  try {
    await bash(command, { cwd: ROOT })
    return true
  } catch {
    return false
  }
}

/** Lays a bare Debian, unless its image is there. */
async function layDebian({ name, script }: Release): Promise<void> {
  const image = `mkopo-try-debian:${name}`
  if (await succeeds(`docker image inspect ${image}`)) return
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-try-'))
  await bash(
    `nice debootstrap --variant=minbase ${name} ${folder}/root http://deb.debian.org/debian ${script}
    tar --directory=${folder}/root --create . | docker import - ${image}`,
    { cwd: folder },
  )
  await rm(folder, { recursive: true })
}

async function build({ folder, image }: Base): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), 'mkopo-try-'))
  await cp(join(import.meta.dirname, 'images', folder), context, { recursive: true })
  if (folder === 'node') await addNode(context)
  await bash(`nice docker build --tag ${image} .`, { cwd: context })
  await rm(context, { recursive: true })
}

/** Adds the Node of the lock file, the npm of this machine, and whom this machine trusts. */
async function addNode(context: string): Promise<void> {
  await bash(
    `cp ${process.execPath} node
    cp --recursive --dereference "$(dirname "$(readlink --canonicalize "$(command -v npm)")")/.." npm
    cp /etc/ssl/certs/ca-certificates.crt .`,
    { cwd: context },
  )
  await writeFile(join(context, 'npmrc'), 'cafile=/etc/ssl/certs/ca-certificates.crt\n')
}
