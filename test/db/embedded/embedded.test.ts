import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedServer, startEmbedded } from '../../../src/db/embedded/embedded.ts'
import { within } from '../../support/patience.ts'

const module = new URL('../../../src/db/embedded/embedded.ts', import.meta.url).href
const isRoot = process.getuid?.() === 0
const said: string[] = []
const log = { debug: () => undefined, info: (text: string) => said.push(text), warn: (text: string) => said.push(text) }

let directory: string
const cleanup: (() => Promise<unknown>)[] = []
const servers: EmbeddedServer[] = []
const children: ChildProcess[] = []

beforeAll(async () => {
  directory = await openDirectory()
})
afterEach(async () => {
  said.length = 0
  for (const server of servers.splice(0)) await server.stop()
  for (const child of children.splice(0)) await kill(child)
})
afterAll(async () => {
  for (const undo of cleanup) await undo()
})

/** A new directory that the account which runs Postgres can enter. */
async function openDirectory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'mkopo-embedded-'))
  await chmod(made, 0o755)
  cleanup.push(() => rm(made, { recursive: true, force: true }))
  return made
}

async function start(where = directory): Promise<EmbeddedServer> {
  const server = await startEmbedded({ directory: where, durable: false, log })
  servers.push(server)
  return server
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

/** Another mkopo: a node process that starts the database and stays. */
async function otherMkopo(where: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawnMkopo(where)
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the other mkopo ended')))
  const [url] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])
  return { child, url }
}

function spawnMkopo(where: string): ChildProcess {
  const script = `
    import { startEmbedded } from ${JSON.stringify(module)}
    process.on('SIGINT', () => {})
    const log = { debug() {}, info() {}, warn() {} }
    const { url } = await startEmbedded({ directory: ${JSON.stringify(where)}, durable: false, log })
    console.log(url)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

/** As `kill -9` does, and waits until it is dead. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const dead = once(child, 'exit')
  child.kill('SIGKILL')
  await dead
}

const pidFile = () => join(directory, 'postgres/data/postmaster.pid')
const postmaster = async () => Number((await readFile(pidFile(), 'utf8')).split('\n')[0])

describe('a directory', () => {
  it('keeps its data from one start to the next', async () => {
    const first = await start()
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS n')
    await first.stop()
    const second = await start()
    expect(await query(second.url, 'SELECT n FROM kept')).toEqual([7])
  })

  it('is durable unless told otherwise, and listens on loopback only', async () => {
    const server = await startEmbedded({ directory, log })
    servers.push(server)
    expect(
      await query(
        server.url,
        `SELECT current_setting('fsync'), current_setting('synchronous_commit'), current_setting('listen_addresses')`,
      ),
    ).toEqual(['on', 'on', '127.0.0.1'])
    await server.stop()
    const fast = await start()
    expect(await query(fast.url, 'SHOW fsync')).toEqual(['off'])
  })

  it("has a role for the service beside the owner's: no superuser, with the same password at the next start", async () => {
    const first = await start()
    const mine = `SELECT current_user::text, rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user`
    expect(await query(first.url, mine)).toEqual(['mkopo', true])
    expect(await query(first.serviceUrl, mine)).toEqual(['mkopo_service', false])
    await first.stop()
    const second = await start()
    expect(new URL(second.serviceUrl).password).toBe(new URL(first.serviceUrl).password)
    expect((await stat(join(directory, 'postgres/service-password'))).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['of an earlier version, which had no such role', 'DROP ROLE mkopo_service'],
    ['whose role has another password', `ALTER ROLE mkopo_service PASSWORD 'other'`],
    ['whose role was made a superuser', 'ALTER ROLE mkopo_service SUPERUSER'],
  ])('%s, gets it at the next start', async (_, change) => {
    const before = await start()
    await query(before.url, change)
    await before.stop()
    if (change.startsWith('DROP')) await rm(join(directory, 'postgres/service-password'))
    const { serviceUrl } = await start()
    const mine = 'SELECT current_user::text, rolsuper FROM pg_roles WHERE rolname = current_user'
    expect(await query(serviceUrl, mine)).toEqual(['mkopo_service', false])
  })

  it('asks for the password, which is not in it for everybody to read', async () => {
    const { url } = await start()
    const guessed = new URL(url)
    guessed.password = 'mkopo'
    await expect(query(guessed.href, 'SELECT 1')).rejects.toThrow('password authentication failed')
    expect((await stat(join(directory, 'postgres/password'))).mode & 0o077).toBe(0)
  })

  it('is used by one mkopo at a time: the second says who has it', async () => {
    const { child, url } = await otherMkopo(directory)
    await expect(start()).rejects.toThrow(`another mkopo (pid ${child.pid}) is using ${directory}`)
    expect(await query(url, 'SELECT 1')).toEqual([1])
  })

  it('refuses the same process a second time too', async () => {
    await start()
    await expect(start()).rejects.toThrow(`another mkopo (pid ${process.pid})`)
  })

  it('takes Ctrl-C for the service only: the database goes on until it is stopped', async () => {
    const { child, url } = await otherMkopo(directory)
    process.kill(-child.pid!, 'SIGINT')
    await sleep(300)
    expect(await query(url, 'SELECT 1')).toEqual([1])
  })
})

describe('after a crash', () => {
  it('starts again when node was killed', async () => {
    const { child, url } = await otherMkopo(directory)
    await query(url, 'CREATE TABLE crashed AS SELECT 8 AS n')
    await kill(child)
    const again = await start()
    expect(await query(again.url, 'SELECT n FROM crashed')).toEqual([8])
  })

  it('Postgres ends by itself when node was killed', async () => {
    const { child } = await otherMkopo(directory)
    const pid = await postmaster()
    await kill(child)
    await expect.poll(() => isAlive(pid), { timeout: within(10_000) }).toBe(false)
  })

  it('stops the Postgres that was left running', async () => {
    const { child } = await otherMkopo(directory)
    const pid = await postmaster()
    // Suspended, it cannot end by itself before the next start finds it.
    process.kill(pid, 'SIGSTOP')
    await kill(child)
    const resume = async () => {
      await expect.poll(() => said.length, { timeout: within(10_000) }).toBe(1)
      process.kill(pid, 'SIGCONT')
    }
    const resumed = resume()
    const again = await start()
    await resumed
    expect(await query(again.url, 'SELECT 1')).toEqual([1])
    expect(await postmaster()).not.toBe(pid)
    expect(said).toEqual([`stopping the Postgres (pid ${pid}) that an earlier run left behind`])
  })

  it('is not held up by a pid file whose number is another process now, and lets that live', async () => {
    const server = await start()
    const text = await readFile(pidFile(), 'utf8')
    await server.stop()
    const bystander = spawn('sleep', ['60'])
    cleanup.push(async () => bystander.kill())
    await writeFile(pidFile(), text.replace(/^\d+/, String(bystander.pid)))
    const again = await start()
    expect(await query(again.url, 'SELECT 1')).toEqual([1])
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull()
  })

  it('begins again when the making of the data directory was interrupted', async () => {
    let fresh: string
    const names = async () => (await readdir(fresh)).filter((name) => name.startsWith('postgres'))
    do {
      fresh = await openDirectory()
      await mkdir(join(fresh, 'postgres.new-old/data/base'), { recursive: true })
      const other = spawnMkopo(fresh)
      const made = expect.stringMatching(/^postgres(\.new-(?!old)\w+)?$/)
      await expect.poll(names, { timeout: within(10_000), interval: 5 }).toEqual([made])
      await sleep(100)
      await kill(other)
      // It was made before this process looked: it has to be interrupted in another one.
    } while ((await names()).includes('postgres'))
    const server = await start(fresh)
    expect(await query(server.url, 'SELECT 1')).toEqual([1])
    expect(await names()).toEqual(['postgres'])
  })

  it('a start that fails shows the last lines of Postgres', async () => {
    const settings = join(directory, 'postgres/data/postgresql.conf')
    const good = await readFile(settings, 'utf8')
    await writeFile(settings, `${good}\nno_such_setting = 1\n`)
    await expect(start()).rejects.toThrow(/Postgres did not start[\s\S]*no_such_setting/)
    await writeFile(settings, good)
    await start()
  })
})

describe('a directory that only its owner may enter', () => {
  it(
    isRoot ? 'as root: the data is elsewhere, and found again' : 'as an ordinary user: the data is in it',
    async () => {
      const closed = await mkdtemp(join(tmpdir(), 'mkopo-closed-'))
      cleanup.push(() => rm(closed, { recursive: true, force: true }))
      const inside = join(closed, '.data')
      const first = await start(inside)
      await query(first.url, 'CREATE TABLE kept AS SELECT 9 AS n')
      await first.stop()
      expect((await stat(closed)).mode & 0o777).toBe(0o700)
      if (isRoot) {
        const note = await readFile(join(inside, 'database-is-elsewhere.txt'), 'utf8')
        const home = note.split('\n')[1]!
        cleanup.push(() => rm(home, { recursive: true, force: true }))
        expect(said.join()).toContain(home)
        expect(dirname(home)).toMatch(/mkopo$/)
        expect(await readdir(inside)).not.toContain('postgres')
      } else expect(await readdir(inside)).toContain('postgres')
      const second = await start(inside)
      expect(await query(second.url, 'SELECT n FROM kept')).toEqual([9])
    },
  )
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
