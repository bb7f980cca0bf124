import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** What is counted, by name. */
type Counts = Record<string, number>

/** A comparison of many random things, which a script makes on all cores. */
interface Comparison {
  /** The URL of the script: each of its threads runs it again. */
  readonly script: string
  /** What is compared, in the plural. */
  readonly of: string
  readonly many: number
  readonly seed: number
  /** Compares some of one seed, and counts. @throws the first difference */
  compare(seed: number, many: number): Counts | Promise<Counts>
}

/** The things of one seed. */
const AT_ONCE = 1_000

/** The least time between two lines of progress. */
const PROGRESS_MS = 15_000

/** What a thread says: what it has compared, or a difference. */
type Said = { readonly counts: Counts } | { readonly difference: string }

/** Compares on all cores; prints what there was, and the first difference with its seed, with which the process ends. */
export function compareOnAllCores(comparison: Comparison): void {
  if (isMainThread) {
    startThreads(comparison)
    return
  }
  compareInThread(comparison).catch((error) => say({ difference: wordsOf(error) }))
}

const say = (said: Said): void => parentPort?.postMessage(said)

/** Compares every `threads`-th thousand from the `thread`-th on. */
async function compareInThread({ many, seed, compare }: Comparison): Promise<void> {
  const { thread, threads } = workerData
  for (let part = thread; part * AT_ONCE < many; part += threads)
    say({ counts: await compare(seed * 1_000_000 + part, Math.min(AT_ONCE, many - part * AT_ONCE)) })
}

/** Returns the words of a failure and of what caused it. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n${wordsOf(error.cause)}`
}

function startThreads({ script, of, many, seed }: Comparison): void {
  const begun = performance.now()
  const seconds = () => `${((performance.now() - begun) / 1_000).toFixed(0)} s`
  const sum: Counts = {}
  let [parts, told] = [0, begun]
  const threads = availableParallelism()
  console.info(`${many} ${of} of seed ${seed} on ${threads} cores`)
  for (let thread = 0; thread < threads; thread++) {
    const worker = new Worker(new URL(script), { workerData: { thread, threads } })
    worker.on('message', (said: Said) => {
      if ('difference' in said) {
        console.error(said.difference)
        process.exit(1)
      }
      for (const [name, count] of Object.entries(said.counts)) sum[name] = (sum[name] ?? 0) + count
      parts++
      if (performance.now() - told < PROGRESS_MS) return
      told = performance.now()
      console.info(`${seconds()}: ${Math.min(many, parts * AT_ONCE)} of ${many} ${of}; ${JSON.stringify(sum)}`)
    })
  }
  process.on('exit', (code) => {
    if (code === 0) console.info(`${seconds()}: no difference; ${JSON.stringify(sum)}`)
  })
}
