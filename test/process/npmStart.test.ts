import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { within } from '../support/patience.ts'
import { lendFrom, type ServiceProcess, startProcess, tokenFrom } from '../support/process.ts'

let service: ServiceProcess | undefined
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mkopo-npm-'))
  await chmod(directory, 0o755)
})
afterEach(() => {
  try {
    if (service) process.kill(-service.child.pid!, 'SIGKILL')
  } catch {
    // It has ended, as it should.
  }
})
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))

/** `npm start` in a process group of its own, on the database that the first of these starts makes. */
async function npmStart(settings: Record<string, string>): Promise<ServiceProcess> {
  service = await startProcess({ DATA_DIR: directory, ...settings }, { npm: true, group: true })
  return service
}

/** The port of the embedded database. */
const databasePort = async () => Number(new URL((await readFile(join(directory, 'database-url'), 'utf8')).trim()).port)

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.unref()
  })

/** Returns how many versions of its schedule the restructured loan of the demonstration data has. */
async function demoVersions(origin: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${await tokenFrom(origin)}` }
  const answer = await fetch(`${origin}/v1/loans/external/demo-restructured/schedules`, { headers })
  return ((await answer.json()) as { items?: object[] }).items?.length
}

/** A signal to stop, by its name. */
type Way = [string, (pid: number) => void]

// Of several processes, `ends.test.ts` has Ctrl-C under npm, and `workers.test.ts` the signal to the primary alone.
describe('npm start', { timeout: within(90_000) }, () => {
  const toNpm: Way = ['SIGTERM to npm alone, as a supervisor sends it', (pid) => process.kill(pid, 'SIGTERM')]
  const toAll: Way = ['SIGTERM to every process of the group', (pid) => process.kill(-pid, 'SIGTERM')]
  const ctrlC: Way = ['Ctrl-C, which npm passes on and every process gets', (pid) => process.kill(-pid, 'SIGINT')]
  it.each([toNpm, toAll, ctrlC])('%s: the service and its database end in good order', async (_, send) => {
    const { child, origin, ended, output } = await npmStart({ STOP_GRACE_MS: '200' })
    await lendFrom({ origin }, 1)
    expect(await demoVersions(origin)).toBe(3)
    const port = await databasePort()
    send(child.pid!)
    expect({ code: await ended, output: output() }).toMatchObject({ code: 0 })
    expect(await isOpen(Number(new URL(origin).port))).toBe(false)
    expect(await isOpen(port)).toBe(false)
    // Only a stop in good order takes it away.
    await expect(stat(join(directory, 'database-url'))).rejects.toThrow('ENOENT')
  })
})
