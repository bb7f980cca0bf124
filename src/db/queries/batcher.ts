/** The result or the failure of one item of a batch. */
export type Settled<Result> = { readonly result: Result } | { readonly error: unknown }

/** The options of a batcher. */
export interface BatcherOptions<Item, Result> {
  /** Runs several items in one go, and says in the same order what became of each. Rejecting fails them all. */
  readonly run: (items: readonly Item[]) => Promise<readonly Settled<Result>[]>
  /** Items in one go at most. */
  readonly most: number
  /** Batches under way at once at most: while one waits for the disk, the next is made ready. */
  readonly inFlight: number
  /** The number of batches, under way for `lateMs` milliseconds, that do not count: their answers may never come. */
  readonly mostLate?: number
  readonly lateMs?: number
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Lets items that arrive together travel together: those that arrive in one turn of the event loop, and those that
 * arrive while all that may be under way is. One that comes alone to an idle batcher goes at once, without waiting for
 * company. Items run in the order in which they came, each succeeding or failing alone. A batch whose answer is late holds
 * up its own items only.
 */
export function createBatcher<Item, Result>({
  run,
  most,
  inFlight,
  mostLate = 0,
  lateMs = 0,
}: BatcherOptions<Item, Result>) {
  let waiting: Waiting<Item, Result>[] = []
  let underWay = 0
  let late = 0
  let scheduled = false

  const hasRoom = () => underWay - Math.min(late, mostLate) < inFlight

  function launch(): void {
    scheduled = false
    while (hasRoom() && waiting.length > 0) {
      const batch = waiting.slice(0, most)
      waiting = waiting.slice(most)
      underWay++
      void runBatch(batch)
    }
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const settle = mostLate > 0 ? watchLate() : () => undefined
    try {
      const settled = await run(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = settled[index]
        if (outcome === undefined) reject(new Error('a batch says of every item what became of it'))
        else if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.result)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    underWay--
    settle()
    launch()
  }

  /** Counts the batch that has just begun as late once its time has passed. @returns to be called when it has ended */
  function watchLate(): () => void {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      late++
      launch()
    }, lateMs)
    return () => {
      clearTimeout(timer)
      if (isLate) late--
    }
  }

  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (scheduled || !hasRoom()) return
      scheduled = true
      // After the input of this turn has been read: what came with it goes with it.
      setImmediate(launch)
    })
}
