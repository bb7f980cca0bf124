import { workerData } from 'node:worker_threads'
import type { WorkerTask } from './limits.ts'

/** The pause between checks of the process; a decompression bomb writes some tens of megabytes in it. */
const EVERY_MS = 10

const { memory, milliseconds, patience } = workerData as WorkerTask['limits']
// A little later than the process that started this one kills it: for the case that it is gone.
const deadline = performance.now() + patience + 2000

function hasComputedTooLong(): boolean {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 > milliseconds
}

// This is a thread of its own, because the thread that reads may be in an endless loop. Only a signal that nothing
// listens to ends such a loop; the signal names the reason.
setInterval(() => {
  if (process.memoryUsage.rss() > memory || performance.now() > deadline) process.kill(process.pid, 'SIGKILL')
  if (hasComputedTooLong()) process.kill(process.pid, 'SIGXCPU')
}, EVERY_MS)
