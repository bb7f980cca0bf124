import { openService } from '../../src/app/service.ts'
import { startKeeper, startSequencer } from './jobs.ts'
import { testConfig } from './service.ts'

// A process that does nothing but seal changes of a database and keep its journals, until it is killed: `node sequencerProcess.ts <url>`.

const [, , databaseUrl = ''] = process.argv
// Few connections: a killed process leaves its own open until the server notices, and tests share the server.
const config = testConfig({ DATABASE_CONNECTIONS: '4' })
const deps = await openService({ config, databaseUrl, now: Date.now, skipMigrations: true, patience: 'always' })
const log = {
  info: () => undefined,
  error: (context: object, message: string) => void process.stdout.write(`${message} ${JSON.stringify(context)}\n`),
}
startSequencer(deps, log)
startKeeper(deps, log)
process.stdout.write('seals\n')
