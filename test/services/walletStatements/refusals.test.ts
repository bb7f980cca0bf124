import { describe, expect, it } from 'vitest'
import { currencyOf } from '../../../src/domain/money.ts'
import { patientReader } from '../../support/patientReader.ts'
import { readHere } from '../../support/readHere.ts'
import { drawn, fictionalStatement, type StatementSketch, statementPdf } from '../../support/statementPdf.ts'

const TZS = currencyOf('TZS')

const refusal = (message: string | RegExp) =>
  expect.objectContaining({
    code: 'invalid_argument',
    faults: [{ role: 'statement', wording: expect.stringMatching(message) }],
  })

/** Two months, so that drawing and reading are quick. */
const short = (changes: Partial<StatementSketch> = {}) =>
  fictionalStatement({ layout: 'bank', from: '2026-05-01', ...changes })

describe('a statement that was altered does not agree with itself', () => {
  const CREDIT = 5
  const DEBIT = 4
  const BALANCE = 6
  const alter = (change: (rows: string[][]) => void) => (rows: string[][]) => {
    change(rows)
    return rows
  }

  it.each([
    ['an inflow made larger', alter((rows) => (rows[60]![CREDIT] = '9,000,000.00')), /balance of 2026-05-20 on page 2/],
    ['an outflow turned into an inflow', alter((rows) => rows[61]!.splice(DEBIT, 2, '', rows[61]![DEBIT]!)), /page 2/],
    ['a balance made larger', alter((rows) => (rows[90]![BALANCE] = '99,000,000.00')), /does not follow/],
    ['a line left out', alter((rows) => rows.splice(40, 1)), /page 2 does not follow/],
    ['a line twice', alter((rows) => rows.splice(40, 0, rows[40]!)), /does not follow/],
    ['the first line left out', alter((rows) => rows.splice(0, 1)), /does not follow from the opening balance/],
    ['a date outside the period', alter((rows) => (rows[80]![0] = '01/07/2026')), /2026-07-01, is outside its period/],
    ['an amount that is none', alter((rows) => (rows[30]![CREDIT] = '1.000,00')), /whose amounts cannot be read/],
  ])('%s', async (_name, redraw, message) => {
    await expect(readHere(await statementPdf(short(), redraw), TZS)).rejects.toEqual(refusal(message))
  })

  it('the last lines left out, where the statement sums itself up', async () => {
    const cut = (rows: string[][]) => rows.slice(0, -2)
    const airtel = await statementPdf(short({ layout: 'airtel' }), cut)
    await expect(readHere(airtel, TZS)).rejects.toEqual(refusal(/the closing balance is not that of the last/))
    const mpesa = await statementPdf(short({ layout: 'mpesa' }), cut)
    await expect(readHere(mpesa, TZS)).rejects.toEqual(refusal(/its totals are not the sums/))
  })
})

describe('a PDF that is no statement we read', () => {
  const letter = (...lines: string[]) =>
    drawn((document) => {
      for (const [at, line] of lines.entries()) document.text(line, 30, 30 + at * 20)
    })

  it.each([
    [
      'a letter',
      () => letter('Dear Sir,', 'I hereby apply for a loan.'),
      /fits no layout .*M-Pesa, Airtel Money, Mixx/,
    ],
    ['a title without a table', () => letter('M-PESA STATEMENT', 'Customer Name: ASHA'), /fits no layout/],
    ['no owner', () => statementPdf(short({ owner: ' ' })), /layout bank, but its owner cannot be read/],
    ['no period', () => statementPdf(short({ to: 'somewhen', movements: [] })), /its period cannot be read/],
    ['a period that runs backwards', () => statementPdf(short({ from: '2026-07-01', movements: [] })), /2026-07-01 to/],
    ['no transactions', () => statementPdf(short({ movements: [] })), /lists no transactions/],
    [
      'another currency',
      () => statementPdf(short({ currency: currencyOf('KES') })),
      /is in KES: limits here are in TZS/,
    ],
    [
      'another currency, by the phone',
      () => statementPdf(short({ layout: 'mpesa', phone: '254712000123' })),
      /is in KES/,
    ],
  ])('%s', async (_name, draw, message) => {
    await expect(readHere(await draw(), TZS)).rejects.toEqual(refusal(message))
  })

  it.each([
    ['encrypted', { userPassword: '12345' }],
    ['encrypted, but open to everybody', { ownerPassword: '12345' }],
  ])('%s', async (_name, options) => {
    const pdf = await drawn((document) => document.text('x'), options)
    await expect(patientReader().read(pdf, TZS)).rejects.toEqual(refusal('is encrypted: send it without a password'))
  })

  it('more bytes, pages or characters than are read', async () => {
    const pdf = await statementPdf(short())
    const small = (limits: object) => patientReader(limits).read(pdf, TZS)
    await expect(small({ bytes: 1024 })).rejects.toEqual(refusal(/^is \d+ bytes: at most 1024/))
    await expect(small({ pages: 3 })).rejects.toEqual(refusal('has 5 pages: at most 3 are read'))
    await expect(small({ characters: 999 })).rejects.toEqual(refusal('holds more than 999 characters'))
  })
})

describe('a reading', () => {
  it('is ended where its caller goes', async () => {
    const request = new AbortController()
    const gone = patientReader().read(await statementPdf(short()), TZS, request.signal)
    request.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
  })

  it('is ended by the close, after which none begins', async () => {
    const pdf = await statementPdf(short())
    const reader = patientReader()
    const reading = reader.read(pdf, TZS)
    reader.close()
    const refused = { status: 'rejected', reason: { code: 'unavailable' } }
    expect(await Promise.allSettled([reading, reader.read(pdf, TZS)])).toMatchObject([refused, refused])
  })
})
