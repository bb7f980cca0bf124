import PDFDocument from 'pdfkit'
import { addPeriods } from '../../src/domain/dates.ts'
import { currencyOf } from '../../src/domain/money.ts'
import { type Listed, type Movement, STYLES, type StatementSketch } from './statementStyles.ts'

export type { Movement, StatementSketch } from './statementStyles.ts'

const TZS = currencyOf('TZS')
const ROWS_A_PAGE = 46
const FIRST_ROWS = 38
const ROW_HEIGHT = 14
const FONT_SIZE = 7

/** A statement of a person who does not exist, for the half year to 30 June 2026; any part may be given. */
export function fictionalStatement(changes: Partial<StatementSketch> = {}): StatementSketch {
  const from = changes.from ?? '2026-01-01'
  const to = changes.to ?? '2026-06-30'
  return {
    layout: 'mpesa',
    owner: 'ASHA WANJIKU MWANGI',
    phone: '255754000123',
    currency: TZS,
    opening: 85_000_00n,
    movements: changes.movements ?? movementsOf(from, to, changes.layout ?? 'mpesa'),
    ...changes,
    from,
    to,
  }
}

/** A statement of nine transactions, all in its first days, which is quick to read. */
export function smallStatement(from: string, to: string, layout: StatementSketch['layout'] = 'bank'): Promise<Buffer> {
  const { movements } = fictionalStatement({ layout, from, to })
  return statementPdf(fictionalStatement({ layout, from, to, movements: movements.slice(0, 9) }))
}

/** Wages, sales and spending, the same every time: three movements a day, a loan and a failed one now and then. */
function movementsOf(from: string, to: string, layout: StatementSketch['layout']): Movement[] {
  const fees = layout === 'airtel' || layout === 'yas'
  const statuses = layout === 'mpesa' || layout === 'airtel'
  const movements: Movement[] = []
  let seed = 20260601
  const random = (below: number): bigint => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return BigInt(Math.floor((seed / 2147483648) * below))
  }
  const add = (on: string, time: string, details: string, amount: bigint, rest: Partial<Movement> = {}) => {
    const reference = `SF${(10_000_000 + movements.length * 7919).toString(36).toUpperCase()}`
    movements.push({ on, time, reference, details, amount, fee: fees && amount < 0n ? 150_00n : 0n, ...rest })
  }
  for (let on = from; on <= to; on = addPeriods(on, 1, 'days')) {
    if (on.endsWith('-05')) add(on, '09:00:00', 'Salary Payment from KILIMO BORA LTD', 1_200_000_00n)
    if (on.endsWith('-12')) add(on, '10:30:00', 'Business Payment from 300600 - Loan disbursement', 500_000_00n)
    if (statuses && on.endsWith('-20'))
      add(on, '11:45:10', 'Customer Transfer to 2557***881', -90_000_00n, { failed: true, fee: 0n })
    add(on, '12:10:59', 'Funds received from 2557***204 JUMA PEMBE', 20_000_00n + random(3_000_000))
    add(on, '15:42:07', 'Pay Bill to 888880 LUKU', -(5_000_00n + random(1_500_000)))
    add(on, '18:22:31', 'Merchant Payment to 541234 DUKA LA MAMA', -(9_000_00n + random(2_000_050)))
  }
  return movements
}

/** Changes the cells that are drawn. */
type Redraw = (rows: string[][]) => string[][]

/**
 * Draws a statement as its issuer would: titles repeated on every page, footers, thousands separated.
 * @param redraw falsifies the rows, in the order in which they are listed
 */
export async function statementPdf(sketch: StatementSketch, redraw: Redraw = (rows) => rows): Promise<Buffer> {
  const style = STYLES[sketch.layout]
  const listed = listedOf(sketch)
  const shown = style.newestFirst ? listed.toReversed() : listed
  const rows = redraw(shown.map((movement) => style.cells(movement, sketch)))
  const pages = 1 + Math.ceil(Math.max(0, rows.length - FIRST_ROWS) / ROWS_A_PAGE)

  return drawn((document) => {
    document.fontSize(14).text(style.heading, 30, 30, { lineBreak: false }).fontSize(FONT_SIZE)
    for (const [index, [label, value]] of style.head(sketch, listed).entries()) {
      document.text(label, 30, 60 + index * 12, { lineBreak: false })
      document.text(value, 130, 60 + index * 12, { lineBreak: false })
    }
    let next = 0
    for (let page = 1; page <= pages; page++) {
      if (page > 1) document.addPage()
      let y = page === 1 ? 145 : 40
      const line = (cells: readonly string[]) => {
        for (const [index, { left, width, right }] of style.columns.entries()) {
          const align = right ? 'right' : 'left'
          for (const [below, text] of (cells[index] ?? '').split('\n').entries())
            if (text !== '') document.text(text, left, y + below * FONT_SIZE, { width, align, lineBreak: false })
        }
        y += ROW_HEIGHT
      }
      line(style.columns.map(({ title }) => title))
      const before = shown[next - 1]
      if (page > 1 && before && style.carried) line(style.carried(before.balance, before.on, sketch))
      const room = page === 1 ? FIRST_ROWS : ROWS_A_PAGE
      for (const cells of rows.slice(next, next + room)) line(cells)
      next += room
      document.text(style.footer(page, pages, sketch), 30, 810, { lineBreak: false })
    }
  })
}

/** A PDF with whatever is drawn on it. */
export function drawn(draw: (document: PDFKit.PDFDocument) => void, options: PDFKit.PDFDocumentOptions = {}) {
  return new Promise<Buffer>((resolve, reject) => {
    const document = new PDFDocument({ size: 'A4', margin: 0, ...options })
    const chunks: Buffer[] = []
    document.on('data', (chunk: Buffer) => chunks.push(chunk))
    document.on('end', () => resolve(Buffer.concat(chunks)))
    document.on('error', reject)
    draw(document)
    document.end()
  })
}

function listedOf({ opening, movements }: StatementSketch): Listed[] {
  let balance = opening
  return movements.map((movement) => {
    if (!movement.failed) balance += movement.amount - movement.fee
    return { ...movement, balance }
  })
}
