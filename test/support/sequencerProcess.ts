import { openService } from '../../src/app/service.ts'
import { startSequencer } from '../../src/services/events/sequencer.ts'
import { testConfig } from './service.ts'

// A process that does nothing but seal changes of a database, until it is killed: `node sequencerProcess.ts <url>`.

const [, , databaseUrl = ''] = process.argv
const deps = await openService({ config: testConfig(), databaseUrl, now: Date.now, skipMigrations: true })
startSequencer(deps, { error: (context, message) => process.stdout.write(`${message} ${JSON.stringify(context)}\n`) })
process.stdout.write('seals\n')
