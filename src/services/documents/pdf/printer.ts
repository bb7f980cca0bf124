import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { LendingError } from '../../../domain/errors.ts'
import type { GateBounds } from '../../../toolbox/gate.ts'
import type { PdfRequest } from './pages.ts'

/** The places of PDFs in a process: an account has one, and waits a moment for the next. */
export const PDF_PLACES: GateBounds = {
  atOnce: 2,
  ofMember: 1,
  waiting: { all: 16, ofGroup: 4, ofMember: 2 },
  waitMs: 5_000,
  // As a heavy read: so that one account leaves most of a core to others.
  restMs: (tookMs) => Math.min(1_000, 2 * tookMs),
  refusal: 'too many PDFs are being made; try again',
  againSeconds: 1,
}
const IDLE_MS = 30_000
/** The longest that a PDF may take: one of `MOST_LINES` takes a few seconds. */
export const PATIENCE_MS = 30_000
/** The memory of a thread, for one document of `MOST_LINES` and the fonts. */
const MOST_MEGABYTES = 512

/** Makes PDFs off the event loop. */
export interface Printer {
  /** Makes a PDF, for one who has a place. @throws LendingError `unavailable` for one that took too long */
  print(request: PdfRequest): Promise<Buffer>
}

/**
 * Creates the threads that make PDFs: at a low priority where the system has one, so that requests about money come
 * first.
 * @param options.patienceMs the longest that a PDF may take; `nice`: by how much the priority is lower
 */
export function createPrinter({ patienceMs = PATIENCE_MS, nice = 10 } = {}): Printer {
  let threads: Piscina<PdfRequest, Uint8Array> | undefined
  const pool = () => {
    threads ??= new Piscina({
      filename: fileURLToPath(new URL('./pdfWorker.ts', import.meta.url)),
      minThreads: 0,
      maxThreads: PDF_PLACES.atOnce,
      idleTimeout: IDLE_MS,
      niceIncrement: nice,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
    })
    return threads
  }
  /** Makes a PDF on a thread. @throws LendingError `unavailable` for one that takes too long */
  async function run(request: PdfRequest): Promise<Buffer> {
    const signal = AbortSignal.timeout(patienceMs)
    try {
      const { buffer, byteOffset, byteLength } = await pool().run(request, { signal })
      return Buffer.from(buffer, byteOffset, byteLength)
    } catch (error) {
      if (!signal.aborted) throw error
      throw new LendingError('unavailable', 'the PDF took too long to make; try again', [], PDF_PLACES.againSeconds)
    }
  }
  return {
    print: (request) =>
      run(request).catch((error) => {
        // A picture can pass as one and still be broken inside: the document is made without it.
        if (request.logo === null || error instanceof LendingError) throw error
        return run({ ...request, logo: null })
      }),
  }
}
