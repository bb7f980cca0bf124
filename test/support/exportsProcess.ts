import { openService } from '../../src/app/service.ts'
import { exportsJob } from '../../src/services/exports/exportsJob.ts'
import { workRound } from '../../src/services/jobs/job.ts'
import { testConfig } from './service.ts'

// A process that makes files for bureaux and nothing else, until it is killed: `node exportsProcess.ts <url> <loans of a step>`.

const [, , databaseUrl = '', loansAStep = '500'] = process.argv
const config = testConfig({ DATABASE_CONNECTIONS: '4' })
const deps = await openService({ config, databaseUrl, now: Date.now, skipMigrations: true, patience: 'always' })
const job = exportsJob(deps, { loansAStep: Number(loansAStep) })
process.stdout.write('works\n')
while ((await workRound(job)).left !== 'done');
process.stdout.write('done\n')
