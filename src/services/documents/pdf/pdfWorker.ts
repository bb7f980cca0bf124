import { type PdfRequest, toPdf } from './pages.ts'

/** Writes a PDF, on a thread of the pool of `printer.ts`. */
export default (request: PdfRequest): Promise<Uint8Array> => toPdf(request)
