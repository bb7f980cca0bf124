import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { LendingError } from '../../../domain/errors.ts'
import type { PdfRequest } from './pages.ts'

/** The PDFs that a process makes at once. */
const PLACES = 2
const AGAIN_SECONDS = 1
const IDLE_MS = 30_000
/** The longest that a PDF may take: one of `MOST_LINES` takes a few seconds. */
const PATIENCE_MS = 30_000
/** The memory of a thread, for one document of `MOST_LINES` and the fonts. */
const MOST_MEGABYTES = 512

/** Makes PDFs off the event loop. */
export interface Printer {
  /** @throws LendingError `resource_exhausted` while all places are taken; `unavailable` for one that took too long */
  print(request: PdfRequest): Promise<Buffer>
}

/**
 * Creates the threads that make PDFs: at a low priority where the system has one, so that requests about money come
 * first. Nothing waits for a place: a caller who is refused comes again, and costs nothing meanwhile.
 */
export function createPrinter(): Printer {
  let threads: Piscina<PdfRequest, Uint8Array> | undefined
  let printing = 0
  const pool = () => {
    threads ??= new Piscina({
      filename: fileURLToPath(new URL('./pdfWorker.ts', import.meta.url)),
      minThreads: 0,
      maxThreads: PLACES,
      idleTimeout: IDLE_MS,
      niceIncrement: 10,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
    })
    return threads
  }
  /** Makes a PDF on a thread. @throws LendingError `unavailable` for one that takes too long */
  async function run(request: PdfRequest): Promise<Buffer> {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      const { buffer, byteOffset, byteLength } = await pool().run(request, { signal })
      return Buffer.from(buffer, byteOffset, byteLength)
    } catch (error) {
      if (!signal.aborted) throw error
      throw new LendingError('unavailable', 'the PDF took too long to make; try again', [], AGAIN_SECONDS)
    }
  }
  return {
    async print(request) {
      if (printing >= PLACES)
        throw new LendingError('resource_exhausted', 'too many PDFs are being made; try again', [], AGAIN_SECONDS)
      printing++
      try {
        return await run(request).catch((error) => {
          // A picture can pass as one and still be broken inside: the document is made without it.
          if (request.logo === null || error instanceof LendingError) throw error
          return run({ ...request, logo: null })
        })
      } finally {
        printing--
      }
    },
  }
}
