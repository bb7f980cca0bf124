import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { lendFrom, type ServiceProcess, spawnProcess, startProcess, tokenFrom } from '../support/process.ts'

let service: ServiceProcess
/** Of the first start: the others take it, too. */
let token: string
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mkopo-npm-'))
  await chmod(directory, 0o755)
})
afterEach(() => {
  try {
    process.kill(-service.child.pid!, 'SIGKILL')
  } catch {
    // It has ended, as it should.
  }
})
afterAll(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))

/** Starts the service in a process group of its own, on the database that the first of these starts makes. */
async function start(npm: boolean, settings: Record<string, string> = {}): Promise<ServiceProcess> {
  service = await startProcess({ DATA_DIR: directory, STOP_GRACE_MS: '200', ...settings }, { npm, group: true })
  return service
}

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
    socket.unref()
  })

async function read<Page>(path: string): Promise<Page> {
  const answer = await fetch(`${service.origin}${path}`, { headers: { authorization: `Bearer ${token}` } })
  return (await answer.json()) as Page
}

/** Checks what is there: a customer beside that of the demonstration data, whose restructured loan has three schedules. */
async function expectData(): Promise<void> {
  expect(await read('/v1/customers')).toMatchObject({ total: 2 })
  const { items } = await read<{ items?: object[] }>('/v1/loans/external/demo-restructured/schedules')
  expect(items).toHaveLength(3)
}

/** Sends a signal: the service and its database end in good order. */
async function expectEndInOrder(send: (pid: number) => void): Promise<void> {
  const { child, origin, ended, output } = service
  const [url = ''] = (await readFile(join(directory, 'database-url'), 'utf8')).trim().split('\n')
  send(child.pid!)
  expect({ code: await ended, output: output() }).toMatchObject({ code: 0 })
  expect(await isOpen(Number(new URL(origin).port))).toBe(false)
  expect(await isOpen(Number(new URL(url).port))).toBe(false)
  // Only a stop in good order takes it away.
  await expect(stat(join(directory, 'database-url'))).rejects.toThrow('ENOENT')
}

// Of several processes, `ends.test.ts` has Ctrl-C under npm, and `workers.test.ts` the signal to the primary alone.
describe('npm start, on the embedded database', () => {
  it('serves; at SIGTERM to npm alone, as a supervisor sends it, the service and its database end in good order', async () => {
    const { origin, output } = await start(true)
    expect(output()).toContain('partner@example.com')
    token = await tokenFrom(origin)
    await lendFrom({ origin }, 1)
    await expectData()
    await expectEndInOrder((pid) => process.kill(pid, 'SIGTERM'))
  })

  it('after a stop finds the same data and token, and warns in a line of a HOST that lets anybody in', async () => {
    const { child, ended, output } = await start(false, { HOST: '0.0.0.0' })
    await expectData()
    const warnings = () => output().match(/.*published passwords.*/g)
    // The log writes it a turn after the banner.
    await expect.poll(warnings).toEqual([expect.stringContaining('(partner, operator, auditor, sandbox)')])
    expect(output()).not.toContain('0.0.0.0:')
    child.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')
  })

  it('after a kill, too; refuses another one on the same data; ends in good order at Ctrl-C, which npm passes on and every process gets', async () => {
    await start(true)
    await expectData()
    const another = spawnProcess({ DATA_DIR: directory })
    expect(await another.ended).toBe(1)
    expect(another.output()).toMatch(/^mkopo could not start: .*using/m)
    await expectEndInOrder((pid) => process.kill(-pid, 'SIGINT'))
  })
})
