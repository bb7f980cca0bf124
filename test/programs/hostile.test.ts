import { beforeAll, describe, expect, it } from 'vitest'
import { currencyOf } from '../../src/domain/money.ts'
import * as hostile from '../support/hostilePdf.ts'
import { turnsDuring, within } from '../support/patience.ts'
import { patientReader, READER_PATIENCE_MS } from '../support/patientReader.ts'
import { drawn, fictionalStatement, statementPdf } from '../support/statementPdf.ts'

const TZS = currencyOf('TZS')
/** Three times that of the service: the process that reads has a low priority, and the tests beside it have all cores busy. */
const reader = patientReader()
const GIB = 2 ** 30
/** The longest time of a processor for which the service's event loop may be blocked. */
const LONGEST_PAUSE_MS = 3_000

/** A statement of a few lines, sent meanwhile. */
const FEW = fictionalStatement({ layout: 'bank', from: '2026-05-01' }).movements.slice(0, 9)
let small: Buffer
beforeAll(async () => {
  small = await statementPdf(fictionalStatement({ layout: 'bank', from: '2026-05-01', movements: FEW }))
})

describe('hostile files are answered within the limit, while another statement is read', {
  timeout: READER_PATIENCE_MS + within(10_000),
}, () => {
  const cut = async () => (await statementPdf(fictionalStatement())).subarray(0, 20_000)
  const memory = /needs too much memory to read/
  const unknown = /fits no layout/
  const LONG = ['1 GB deflated, as what a page shows', '100,000 pages', 'encrypted', 'text without end']

  it.each([
    ['a page tree that is its own child', () => hostile.pageTreeLoop(3), /damaged/],
    ['the same, of 150 pages', () => hostile.pageTreeLoop(150), /damaged/],
    ['cross-references that name themselves', hostile.crossReferenceLoop, unknown],
    ['1 GB deflated, as what a page shows', () => hostile.decompressionBomb(GIB, 'content'), memory],
    ['1 GB deflated, as the table of contents', () => hostile.decompressionBomb(GIB, 'structure'), memory],
    ['100,000 pages', () => hostile.manyPages(100_000, true), /has 100000 pages: at most 200 are read/],
    ['one page that says it is 100,000', () => hostile.manyPages(100_000, false), /holds no text/],
    ['truncated', cut, /cut short: its end is missing/],
    [
      'truncated, and an end put on',
      async () => Buffer.concat([await cut(), Buffer.from('\nstartxref\n9\n%%EOF')]),
      /damaged/,
    ],
    ['encrypted', () => drawn((document) => document.text('x'), { userPassword: 'secret' }), /is encrypted/],
    ['a picture only', hostile.imageOnly, /holds no text: a scan or a picture cannot be read/],
    ['a script, and 512 MB of an attached program', hostile.scriptAndAttachment, unknown],
    ['a ZIP renamed', hostile.zipFile, /is not a PDF/],
    ['a PDF in name only', () => Buffer.from('%PDF-1.7 startxref'), /damaged/],
    ['nothing at all', () => Buffer.alloc(0), /is not a PDF/],
    ['a million lists in lists', () => hostile.deepNesting(1_000_000), /damaged/],
    ['a form that draws itself', hostile.formLoop, /holds no text/],
    ['text without end', () => hostile.endlessText(60_000), unknown],
  ])('%s', async (name, make, message) => {
    const file = await make()
    const before = process.memoryUsage.rss()
    const started = performance.now()
    // A file that is refused at once keeps nobody waiting.
    const isLong = LONG.includes(name)
    const [answer, other] = [reader.read(file, TZS), isLong ? reader.read(small, TZS) : undefined]
    const turns = turnsDuring(Promise.allSettled([answer, other]))
    await expect(answer).rejects.toMatchObject({
      code: 'invalid_argument',
      faults: [{ role: 'statement', wording: expect.stringMatching(message) }],
    })
    expect(performance.now() - started).toBeLessThan(READER_PATIENCE_MS + within(1000))
    if (isLong) expect(await other).toMatchObject({ months: 2 })
    expect((await turns).longestMs).toBeLessThan(LONGEST_PAUSE_MS)
    // A bomb does not grow the process that serves.
    if (name.startsWith('1 GB')) expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024)
  })

  it('a reading longer than the limit is killed, with that reason', async () => {
    const hurried = patientReader({ milliseconds: 1000 })
    await expect(hurried.read(hostile.endlessText(180_000), TZS)).rejects.toThrow('took longer than 1 seconds to read')
  })

  it('what there is no time for is not called the file’s fault', async () => {
    const impatient = patientReader({ patience: 20 })
    await expect(impatient.read(small, TZS)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 })
  })
})
