import { chmod, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { inSnapshot } from '../../src/db/postgres/transaction.ts'
import { addPeriods, dateIn } from '../../src/domain/dates.ts'
import { PRESETS } from '../../src/domain/delinquency/presets.ts'
import { readCells } from '../../src/services/portfolio/positions.ts'
import { fillBook } from '../fillBook.ts'

const { values } = parseArgs({
  options: {
    loans: { type: 'string', default: '1000000' },
    transactions: { type: 'string', default: '3000000' },
    directory: { type: 'string', default: join(tmpdir(), 'mkopo-portfolio') },
  },
})
const say = (text: string) => process.stdout.write(`${text}\n`)
const quiet = { debug: () => undefined, info: () => undefined, warn: say }
await mkdir(values.directory, { recursive: true })
await chmod(values.directory, 0o755)
const server = await startEmbedded({ directory: join(values.directory, 'data'), durable: false, log: quiet })
const config = readConfig({ KEY_ENCRYPTION_SECRET: 'a secret of the tests', SEED_DEMO: 'true' })
const deps = await openService({ config, databaseUrl: server.url, now: Date.now })
const { rows } = await deps.db.pool.query('SELECT count(*) AS n FROM loan')
if (rows[0].n < 1000n) {
  const t = performance.now()
  const book = await fillBook(
    deps.db.pool,
    { loans: Number(values.loans), transactions: Number(values.transactions) },
    config.zone,
    1,
  )
  say(`laid ${book.loans} in ${((performance.now() - t) / 1000).toFixed(0)} s`)
}
const now = Date.now()
const today = dateIn(config.zone, now)
for (const back of [0, 1, 30, 60]) {
  const t = performance.now()
  const asked = {
    organizationId: 1,
    policy: PRESETS[1]!.policy,
    days: [addPeriods(today, -back, 'days')],
    knownAt: undefined,
    now,
    today,
  }
  const cells = [...(await inSnapshot(deps.db, (s) => readCells(deps, s, asked))).values()][0]!
  const loans = cells.reduce((n, c) => n + c.loans, 0)
  say(
    `${back} days ago: ${((performance.now() - t) / 1000).toFixed(2)} s, ${cells.length} cells, ${loans} loans, RSS ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
  )
}
await deps.db.close()
await server.stop()
process.exit(0)
