import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { within } from '../support/patience.ts'
import { listening, type Spawned, spawnProcess, tokenFrom } from '../support/process.ts'

// Starting a database and a service several times takes as long as the machine is busy.
vi.setConfig({ testTimeout: 120_000 })

let directory: string
const running: ChildProcess[] = []
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mkopo-main-'))
  await chmod(directory, 0o755)
})
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL')
  await pause(500)
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

/** What `npm start` runs, on the embedded database that the first of these starts makes. */
function start(settings: Record<string, string> = {}): Spawned {
  const started = spawnProcess({ DATA_DIR: directory, STOP_GRACE_MS: '0', ...settings })
  running.push(started.child)
  return started
}

const customers = async (origin: string, token: string, body?: object) => {
  const answer = await fetch(`${origin}/v1/customers`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as { externalId: string; total: number }
}

describe('npm start', { timeout: within(90_000) }, () => {
  it('serves on the embedded database; stopped, killed and started again, it finds the same data and token', async () => {
    const first = await listening(start())
    expect(first.output()).toContain('partner@example.com')
    const token = await tokenFrom(first.origin)
    // Beside the customer of the demonstration data.
    expect(await customers(first.origin, token, { externalId: 'asha' })).toMatchObject({ externalId: 'asha' })
    first.child.kill('SIGINT')
    expect(await first.ended).toBe(0)

    const second = await listening(start())
    expect(await customers(second.origin, token)).toMatchObject({ total: 2 })
    second.child.kill('SIGKILL')
    expect(await second.ended).toBe('SIGKILL')

    const third = await listening(start())
    expect(await customers(third.origin, token)).toMatchObject({ total: 2 })

    // While it runs: another on the same data, and another on the same port.
    const fourth = start()
    expect(await fourth.ended).toBe(1)
    expect(fourth.output()).toMatch(/^mkopo could not start: .*using/m)
    third.child.kill('SIGTERM')
    expect(await third.ended).toBe(0)
  })

  it.each(['PORT', 'OPS_PORT'])('%s that is taken: one line that names it', async (setting) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const refused = start({ [setting]: String(port) })
    expect(await refused.ended).toBe(1)
    expect(refused.output().trim()).toBe(
      `mkopo could not start: ${setting}: ${port} on 127.0.0.1 is taken by another program; stop it, or set ${setting} to a free one`,
    )
    taken.close()
  })

  it('a bad setting: one line that names it', async () => {
    const refused = start({ TENANT_ZONE: 'Nowhere' })
    expect(await refused.ended).toBe(1)
    expect(refused.output().trim()).toMatch(/^mkopo could not start: TENANT_ZONE: must be .* \(it is "Nowhere"\)$/)
  })

  it.each([{}, { KEY_ENCRYPTION_SECRET: 'a secret of the tests' }])(
    'DATA_DIR that is a file, or below one: %j',
    async (more) => {
      const file = join(directory, 'a-file')
      await writeFile(file, '')
      const path = 'KEY_ENCRYPTION_SECRET' in more ? file : join(file, 'below')
      const refused = start({ ...more, DATA_DIR: path })
      expect(await refused.ended).toBe(1)
      expect(refused.output().trim()).toBe(
        `mkopo could not start: DATA_DIR: cannot be made, and the embedded database needs it (or set DATABASE_URL): a file is there (it is "${path}")`,
      )
    },
  )

  it('a wrong KEY_ENCRYPTION_SECRET: one line that names it', async () => {
    const refused = start({ KEY_ENCRYPTION_SECRET: 'not the one of before' })
    expect(await refused.ended).toBe(1)
    expect(refused.output().trim()).toMatch(/^mkopo could not start: KEY_ENCRYPTION_SECRET: is not the one[^\n]+$/)
  })

  // `test/ops/process.test.ts` has the other ways in which it cannot be reached.
  it('a database that cannot be reached: one line that names the setting', async () => {
    const DATABASE_URL = 'postgres://nobody:hidden@localhost:1/none'
    const refused = start({ DATABASE_URL, KEY_ENCRYPTION_SECRET: 'a secret of the tests' })
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toMatch(/^mkopo could not start: DATABASE_URL: the database cannot be reached: .+\n$/)
    expect(refused.output()).toMatch(/ECONNREFUSED/)
    expect(refused.output()).not.toContain('hidden')
  })
})
