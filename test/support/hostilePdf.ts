import { crc32, deflateRawSync, constants as zlib } from 'node:zlib'

/** The objects of a PDF: number → what stands between `obj` and `endobj`. */
export type PdfObjects = ReadonlyMap<number, string | Buffer>

/**
 * Writes a PDF by hand, true or not.
 * @param trailer further entries of the trailer; the root is object 1
 */
function pdfOf(objects: PdfObjects, trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  let length = parts[0]!.length
  const offsets = new Map<number, number>()
  const push = (part: string | Buffer) => {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : part
    parts.push(bytes)
    length += bytes.length
  }
  for (const [number, body] of objects) {
    offsets.set(number, length)
    push(`${number} 0 obj\n`)
    push(body)
    push('\nendobj\n')
  }
  const start = length
  const size = Math.max(...objects.keys()) + 1
  const table = Array.from({ length: size }, (_, number) => {
    const offset = offsets.get(number)
    return offset === undefined ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  push(`xref\n0 ${size}\n${table.join('')}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\n`)
  push(`startxref\n${start}\n%%EOF\n`)
  return Buffer.concat(parts)
}

const streamOf = (data: Buffer, entries = ''): Buffer =>
  Buffer.concat([Buffer.from(`<< /Length ${data.length} ${entries} >>\nstream\n`), data, Buffer.from('\nendstream')])

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
const page = (contents: string, more = '') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 9 0 R >> >> ${contents} ${more} >>`

/** One page with a content stream, and whatever else. */
function onePage(content: Buffer, catalog = '', more: readonly (readonly [number, string | Buffer])[] = []): Buffer {
  return pdfOf(
    new Map<number, string | Buffer>([
      [1, `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`],
      [2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
      [3, page('/Contents 4 0 R')],
      [4, content],
      [9, FONT],
      ...more,
    ]),
  )
}

const showing = (text: string): Buffer => streamOf(Buffer.from(`BT /F1 12 Tf 30 700 Td (${text}) Tj ET`))

/** A page tree whose node is its own child. */
export const pageTreeLoop = (count: number): Buffer =>
  pdfOf(
    new Map([
      [1, '<< /Type /Catalog /Pages 2 0 R >>'],
      [2, `<< /Type /Pages /Kids [2 0 R 2 0 R] /Count ${count} >>`],
    ]),
  )

/** A cross-reference table that names itself as the one before. */
export function crossReferenceLoop(): Buffer {
  const honest = onePage(showing('round and round')).toString('latin1')
  const start = /startxref\n(\d+)/.exec(honest)?.[1]
  return Buffer.from(honest.replace('/Root 1 0 R', `/Root 1 0 R /Prev ${start}`), 'latin1')
}

/** About a megabyte that inflates to `bytes` of nought: as what a page shows, or as the file's own table of contents. */
export function decompressionBomb(bytes: number, where: 'content' | 'structure'): Buffer {
  const bomb = zlibOfNoughts(bytes)
  if (where === 'content') return onePage(streamOf(bomb, '/Filter /FlateDecode'))
  const table = '/Type /XRef /Size 200000000 /W [1 4 0] /Root 1 0 R /Filter /FlateDecode'
  const head = Buffer.from('%PDF-1.7\n')
  const object = Buffer.concat([Buffer.from('10 0 obj\n'), streamOf(bomb, table), Buffer.from('\nendobj\n')])
  return Buffer.concat([head, object, Buffer.from(`startxref\n${head.length}\n%%EOF\n`)])
}

/** Lists in lists in lists. */
export const deepNesting = (depth: number): Buffer =>
  onePage(showing('deep'), `/Deep ${'['.repeat(depth)}${']'.repeat(depth)}`)

/** A zlib stream of noughts, put together from one deflated mebibyte. */
function zlibOfNoughts(bytes: number): Buffer {
  const piece = 1024 * 1024
  const block = deflateRawSync(Buffer.alloc(piece), { finishFlush: zlib.Z_FULL_FLUSH })
  // Adler-32 of n noughts: the low sum stays 1, the high one counts them.
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE((((bytes % 65521) << 16) | 1) >>> 0)
  const blocks = Array.from({ length: Math.floor(bytes / piece) }, () => block)
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, Buffer.from([0x03, 0x00]), sum])
}

/** A tree that really has that many pages, or only says so. */
export function manyPages(count: number, really: boolean): Buffer {
  const objects = new Map<number, string>([[1, '<< /Type /Catalog /Pages 2 0 R >>']])
  const kids = really ? Array.from({ length: count }, (_, index) => `${index + 10} 0 R`) : ['10 0 R']
  objects.set(2, `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${count} >>`)
  for (let index = 0; index < kids.length; index++) objects.set(index + 10, '<</Type/Page/Parent 2 0 R>>')
  return pdfOf(objects)
}

/** A page with one picture and no text. */
export const imageOnly = (): Buffer => {
  const image = '/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8'
  return pdfOf(
    new Map<number, string | Buffer>([
      [1, '<< /Type /Catalog /Pages 2 0 R >>'],
      [2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
      [3, '<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>'],
      [4, streamOf(Buffer.from('q 500 0 0 700 40 70 cm /I Do Q'))],
      [5, streamOf(Buffer.alloc(64, 0x7f), image)],
    ]),
  )
}

/** A document that wants to run a script when opened, and carries a program along. */
export const scriptAndAttachment = (): Buffer =>
  onePage(
    showing('please enable scripts'),
    '/OpenAction 5 0 R /Names << /JavaScript << /Names [(run) 5 0 R] >> /EmbeddedFiles << /Names [(x.exe) 6 0 R] >> >>',
    [
      [5, '<< /S /JavaScript /JS (for \\(;;\\) { app.alert\\("hello"\\) }) >>'],
      [6, '<< /Type /Filespec /F (x.exe) /EF << /F 7 0 R >> >>'],
      [7, streamOf(zlibOfNoughts(512 * 1024 * 1024), '/Type /EmbeddedFile /Filter /FlateDecode')],
    ],
  )

/** A page that says something, over and over: small, and long to read. */
export const endlessText = (times: number): Buffer => {
  const line = Buffer.from('BT /F1 9 Tf 30 700 Td (01/01/2026 lorem ipsum) Tj ET\n')
  return onePage(streamOf(Buffer.alloc(line.length * times, line)))
}

/** A form that draws itself. */
export const formLoop = (): Buffer =>
  pdfOf(
    new Map<number, string | Buffer>([
      [1, '<< /Type /Catalog /Pages 2 0 R >>'],
      [2, '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
      [3, page('/Contents 4 0 R').replace('/Font', '/XObject << /X 5 0 R >> /Font')],
      [4, streamOf(Buffer.from('/X Do'))],
      [
        5,
        streamOf(
          Buffer.from('/X Do /X Do'),
          '/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>',
        ),
      ],
      [9, FONT],
    ]),
  )

/** A ZIP of one empty file, as it looks when it was only renamed. */
export function zipFile(): Buffer {
  const name = Buffer.from('statement.pdf')
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50)
  local.writeUInt32LE(crc32(Buffer.alloc(0)), 14)
  local.writeUInt16LE(name.length, 26)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  return Buffer.concat([local, name, end])
}
