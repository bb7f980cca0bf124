import { mkdtemp, chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { startService } from './startService.ts'
import { residentBytes } from './processes.ts'
const directory = await mkdtemp(join(tmpdir(), 'mkopo-rss-')); await chmod(directory, 0o755)
const quiet = { debug: () => undefined, info: () => undefined, warn: console.log }
for (const [checkout, flags] of process.argv.slice(2).map((one) => one.split('|'))) {
  const server = await startEmbedded({ directory: join(directory, `d${Math.random()}`), durable: false, log: quiet })
  const service = await startService(checkout!, server.url, { processes: undefined, environment: { SEED_DEMO: 'true' }, log: '/tmp/rss.log' }, flags ? flags.split(' ') : [])
  await sleep(8000)
  console.log(checkout, flags, service.startMs.toFixed(0), 'ms, MiB', (residentBytes(service.pid).now / 2 ** 20).toFixed(0), (residentBytes(service.pid).peak / 2 ** 20).toFixed(0))
  await service.stop(); await server.stop()
}
await rm(directory, { recursive: true, force: true })
process.exit(0)
