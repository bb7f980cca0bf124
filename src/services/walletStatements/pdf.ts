import { getDocumentProxy } from 'unpdf'
import type { WorkerTask } from './limits.ts'
import { type Line, linesOf, type Placed } from './text.ts'

/** The reason why a PDF has no lines. */
export type Unreadable =
  | { readonly is: 'damaged' | 'encrypted' | 'noText' | 'tooMuchText' }
  | { readonly is: 'tooManyPages'; readonly pages: number }

type Limits = Pick<WorkerTask['limits'], 'pages' | 'characters'>

/** Options for text alone: nothing is drawn, and no font, script or attachment of the file is run or unpacked. */
const OPTIONS = {
  verbosity: 0,
  disableFontFace: true,
  useSystemFonts: false,
  isOffscreenCanvasSupported: false,
  isImageDecoderSupported: false,
  enableXfa: false,
}

/**
 * Reads the lines of a PDF, page by page, or returns why there are none: every error of the library is taken for a
 * fault of the file. Call it in a process that can be killed, because it may take any time and memory.
 */
export async function readPdf(bytes: Uint8Array, limits: Limits): Promise<Line[][] | Unreadable> {
  try {
    return await linesOfPages(bytes, limits)
  } catch (error) {
    return { is: error instanceof Error && error.name === 'PasswordException' ? 'encrypted' : 'damaged' }
  }
}

async function linesOfPages(bytes: Uint8Array, limits: Limits): Promise<Line[][] | Unreadable> {
  const document = await getDocumentProxy(bytes, OPTIONS)
  if (await opensWithoutPassword(document)) return { is: 'encrypted' }
  if (document.numPages > limits.pages) return { is: 'tooManyPages', pages: document.numPages }
  const pages: Line[][] = []
  let room = limits.characters
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const pieces = items.flatMap((item) => ('str' in item ? [placed(item)] : []))
    room -= pieces.reduce((total, { text }) => total + text.length, 0)
    if (room < 0) return { is: 'tooMuchText' }
    pages.push(linesOf(pieces))
    page.cleanup()
  }
  return pages.some((lines) => lines.length > 0) ? pages : { is: 'noText' }
}

/** Returns whether a document is encrypted with an empty password, which every reader opens without a question. */
async function opensWithoutPassword(document: { getMetadata(): Promise<{ info: object }> }): Promise<boolean> {
  const { info } = await document.getMetadata()
  return 'EncryptFilterName' in info && info.EncryptFilterName !== null
}

function placed(item: { str: string; transform: number[]; width: number }): Placed {
  const [a = 0, b = 0, , , left = 0, base = 0] = item.transform
  return { text: item.str, left, base, width: item.width, size: Math.hypot(a, b) }
}
