import { workerData } from 'node:worker_threads'
import type { WorkerTask } from './limits.ts'

/** How often the process is looked at; a bomb writes some tens of megabytes in between. */
const EVERY_MS = 10

const { memory, milliseconds, patience } = workerData as WorkerTask['limits']
// A little later than whoever started the process does it: this is for when that one is gone.
const deadline = performance.now() + patience + 2000

function hasComputedTooLong(): boolean {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 > milliseconds
}

// A thread of its own, because the one that reads may be in a loop that never comes back. Signals that nothing here
// listens to, because nothing else ends such a loop; which of them says why.
setInterval(() => {
  if (process.memoryUsage.rss() > memory || performance.now() > deadline) process.kill(process.pid, 'SIGKILL')
  if (hasComputedTooLong()) process.kill(process.pid, 'SIGXCPU')
}, EVERY_MS)
