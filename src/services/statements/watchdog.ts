import { workerData } from 'node:worker_threads'
import type { WorkerTask } from './limits.ts'

/** How often the process is looked at; a bomb writes some tens of megabytes in between. */
const EVERY_MS = 10

const { memory, milliseconds } = workerData as WorkerTask['limits']
// A little later than whoever started the process does it: this is for when that one is gone.
const deadline = performance.now() + milliseconds + 2000

// A thread of its own, because the one that reads may be in a loop that never comes back. SIGKILL, because nothing
// else ends such a loop.
setInterval(() => {
  if (process.memoryUsage.rss() > memory || performance.now() > deadline) process.kill(process.pid, 'SIGKILL')
}, EVERY_MS)
