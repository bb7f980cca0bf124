import cluster from 'node:cluster'
import { makeLog } from '../observability/log.ts'
import { readConfig } from './config.ts'
import { explain, printStartFailure } from './explain.ts'

// Each kind of process loads only its own code: the primary serves no client.
try {
  const config = readConfig()
  const several = cluster.isWorker || config.webConcurrency > 1
  const log = makeLog(config, { several })
  if (cluster.isWorker) await (await import('../process/worker.ts')).serveAsWorker(config, log)
  else if (several) await (await import('../process/primary.ts')).lead(config, log)
  else await (await import('../process/alone.ts')).serveAlone(config, log)
} catch (error) {
  printStartFailure(explain(error))
  process.exit(1)
}
