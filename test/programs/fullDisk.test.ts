import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { type BehindGateway, startBehindGateway } from '../support/behindGateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { expectBook, type Sent, startLoad } from '../support/load.ts'
import { within } from '../support/patience.ts'
import type { ServiceProcess } from '../support/process.ts'
import { ask } from '../support/standby.ts'

/** `npm run try -- outages` takes more. */
const TIMES = Number(process.env.MKOPO_FULL_DISKS ?? 1)

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** A file system of its own for the database, so that nothing else is filled; undefined where none may be mounted. */
const disk = await mkdtemp(join(tmpdir(), 'mkopo-disk-')).then((directory) => {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=0755', 'tmpfs', directory], { stdio: 'ignore' })
    return directory
  } catch {
    return rm(directory, { recursive: true }).then(() => undefined)
  }
})

describe.skipIf(disk === undefined)('a full disk', { timeout: within(60_000 + TIMES * 60_000) }, () => {
  let server: EmbeddedServer
  let gateway: Gateway
  let service: ServiceProcess
  let behind: BehindGateway | undefined
  let lent: { authorization: string; loans: string[] }
  const sent: Sent[] = []

  beforeAll(async () => {
    await chmod(disk!, 0o755)
    server = await startEmbedded({ directory: disk!, log })
    await ask(server.url, `ALTER SYSTEM SET max_wal_size = '64MB'`, 'SELECT pg_reload_conf()')
    behind = await startBehindGateway(server.url)
    ;({ gateway, service, lent } = behind)
  })
  afterAll(async () => {
    await behind?.close()
    await server?.stop()
    execFileSync('umount', ['-l', disk!])
    await rm(disk!, { recursive: true, force: true })
  })

  const ready = async () => (await fetch(`${service.origin}/health/ready`)).status
  const ballast = join(disk ?? '', 'ballast')

  /** Ends where nothing more can be written. */
  async function fill(): Promise<void> {
    const block = Buffer.alloc(1 << 20)
    for (let size = block.length; size >= 4096; ) {
      try {
        await writeFile(ballast, block.subarray(0, size), { flag: 'a' })
      } catch {
        size >>= 1
      }
    }
  }

  /** The server ends itself where there is no room for its log; its supervisor starts it again. */
  async function revive(): Promise<void> {
    if (await ask(server.url, 'SELECT 1').catch(() => undefined)) return
    await server.stop()
    server = await startEmbedded({ directory: disk!, log })
    gateway.lead(server.url)
  }

  it('under load: changes are unavailable, not ready; once there is room all is served, nothing lost or doubled', async () => {
    for (let time = 0; time < TIMES; time++) {
      const load = startLoad({ origin: service.origin, ...lent, connections: 20, everyMs: 20, name: `full-${time}` })
      await pause(1_000)
      await fill()
      await expect.poll(ready, { timeout: within(30_000), interval: 50 }).toBe(503)
      const refused = load.sent.length
      await expect
        .poll(() => load.sent.slice(refused).some(({ status }) => status === 503), { timeout: within(10_000) })
        .toBe(true)
      await pause(1_500)
      expect(await ready()).toBe(503)
      expect((await fetch(`${service.origin}/health/live`)).status).toBe(200)
      await rm(ballast)
      await pause(1_500)
      await revive()
      await expect.poll(ready, { timeout: within(20_000), interval: 50 }).toBe(200)
      await pause(1_000)
      await load.stop()
      sent.push(...load.sent)
      await expectBook(server.url, sent, lent.loans)
    }
    expect(service.child.exitCode).toBeNull()
  })
})
