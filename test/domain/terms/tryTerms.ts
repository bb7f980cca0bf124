import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { COUNTED, type Counts, compareMany, noCounts } from './manyLoans.ts'

// `npm run terms:try`: random products, loans and histories against the model, on all cores. MKOPO_LOANS and MKOPO_SEED
// say how many and which. It prints what there was, and the first difference with its seed.

const LOANS = Number(process.env.MKOPO_LOANS ?? 200_000)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
/** The loans of one seed. */
const AT_ONCE = 1_000

/** What a thread says: what it has compared, or a difference. */
type Said = { readonly counts: Counts } | { readonly difference: string }

/** Adds counts to a sum. */
function plus(sum: Counts, more: Counts): void {
  for (const name of COUNTED) sum[name] += more[name]
}

/** Compares every `threads`-th thousand from the `thread`-th on. */
function compare(thread: number, threads: number): void {
  for (let part = thread; part * AT_ONCE < LOANS; part += threads)
    say({ counts: compareMany(SEED * 1_000_000 + part, Math.min(AT_ONCE, LOANS - part * AT_ONCE)) })
}

const say = (said: Said): void => parentPort?.postMessage(said)

/** Returns the words of a failure and of what caused it. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n${wordsOf(error.cause)}`
}

function start(): void {
  const begun = performance.now()
  const seconds = () => `${((performance.now() - begun) / 1_000).toFixed(0)} s`
  const sum = noCounts()
  const threads = availableParallelism()
  console.info(`${LOANS} loans of seed ${SEED} on ${threads} cores`)
  for (let thread = 0; thread < threads; thread++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: { thread, threads } })
    worker.on('message', (said: Said) => {
      if ('difference' in said) {
        console.error(said.difference)
        process.exit(1)
      }
      plus(sum, said.counts)
      if (sum.loans % 20_000 === 0) console.info(`${seconds()}: ${JSON.stringify(sum)}`)
    })
  }
  process.on('exit', (code) => {
    if (code === 0) console.info(`${seconds()}: no difference; ${JSON.stringify(sum)}`)
  })
}

if (isMainThread) start()
else
  try {
    compare(workerData.thread, workerData.threads)
  } catch (error) {
    say({ difference: wordsOf(error) })
  }
