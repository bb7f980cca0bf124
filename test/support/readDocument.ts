import { readPdf } from '../../src/services/walletStatements/pdf.ts'
import type { Line } from '../../src/services/walletStatements/text.ts'
import { DOCUMENT_WORDS } from '../../src/words/documents.ts'
import { type Language, speak } from '../../src/words/words.ts'

/** A line of a statement as its PDF shows it. Spaces of details are left out: a long word is divided without a dash. */
export interface ReadLine {
  readonly date: string
  readonly details: string
  readonly charged: string
  readonly credited: string
  readonly balance: string
}

/** A statement as its PDF shows it. */
export interface ReadStatement {
  readonly code: string
  readonly pages: number
  /** The values of the band: opening balance, charged, credited, closing balance. */
  readonly sums: readonly string[]
  readonly lines: readonly ReadLine[]
  /** The amounts at the end, by their labels. */
  readonly balances: Readonly<Record<string, string>>
  readonly instalments: readonly (readonly string[])[]
  /** All words of the first page. */
  readonly text: string
}

const LIMITS = { pages: 2_000, characters: 20_000_000 }
const DATE = /^\d{4}-\d{2}-\d{2}$/
/** The right edges of the columns of amounts, in points. */
const [CHARGED, CREDITED, BALANCE] = [382, 466, 550]

export const squeezed = (text: string): string => text.replace(/\s/g, '')

const wordsOf = (line: Line): string => line.map(({ text }) => text).join(' ')

/** Returns the pages of a PDF, as lines of cells. @throws Error where it cannot be read */
export async function pagesOf(pdf: Uint8Array): Promise<Line[][]> {
  const pages = await readPdf(Uint8Array.from(pdf), LIMITS)
  if (!Array.isArray(pages)) throw new Error(`the PDF is ${pages.is}`)
  return pages
}

/** Reads a statement back from its PDF. */
export async function readStatement(pdf: Uint8Array, language: Language): Promise<ReadStatement> {
  const say = speak(DOCUMENT_WORDS, language)
  const pages = await pagesOf(pdf)
  const foot = pages[0]!.at(-1)!
  const lines = pages.flatMap((page, number) => withoutEdges(page, number > 0))
  const at = (text: string, from = 0) => lines.findIndex((line, index) => index >= from && wordsOf(line) === text)
  const band = lines.findIndex((line) => wordsOf(line).startsWith(`${say('opening')} ${say('charged')}`))
  const end = at(say('balances'), band)
  const schedule = at(say('schedule'), end)
  const titles = `${say('date')} ${say('details')} `
  const ofTable = lines.slice(band + 2, end).filter((line) => !wordsOf(line).startsWith(titles))
  return {
    code: wordsOf(foot).split(' ')[1]!,
    pages: pages.length,
    sums: lines[band + 1]!.map(({ text }) => text),
    lines: rowsOf(ofTable.filter((line) => wordsOf(line) !== say('noLines'))),
    balances: Object.fromEntries(lines.slice(end + 1, schedule).flatMap(pairsOf)),
    instalments: lines
      .slice(schedule + 1)
      .map((line) => line.map(({ text }) => text))
      .filter((cells) => DATE.test(cells[1] ?? '')),
    text: squeezed(pages[0]!.map(wordsOf).join(' ')),
  }
}

/** Leaves out the foot of a page, and the head of each page but the first. */
const withoutEdges = (page: readonly Line[], hasHead: boolean): Line[] => page.slice(hasHead ? 1 : 0, -1)

function rowsOf(lines: readonly Line[]): ReadLine[] {
  const rows: { -readonly [Member in keyof ReadLine]: string }[] = []
  for (const line of lines) {
    const ending = (edge: number) => line.find(({ right }) => Math.abs(right - edge) < 2)?.text ?? ''
    const isFirst = DATE.test(line[0]!.text)
    if (isFirst) {
      const amounts = { charged: ending(CHARGED), credited: ending(CREDITED), balance: ending(BALANCE) }
      rows.push({ date: line[0]!.text, details: '', ...amounts })
    }
    const details = line.filter(({ left, right }) => left > 90 && right < 300)
    rows.at(-1)!.details += squeezed(wordsOf(details))
  }
  return rows
}

/** Reads labels and values that stand beside each other. */
function pairsOf(line: Line): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index + 1 < line.length; index += 2) pairs.push([line[index]!.text, line[index + 1]!.text])
  return pairs
}
