import { describe, expect, it } from 'vitest'
import { toRfc3339 } from '../../../../src/domain/dates.ts'
import { inNames, LendingError } from '../../../../src/domain/errors.ts'
import type { StatementLayout } from '../../../../src/domain/payments/statementLayouts.ts'
import { MOST_STATEMENT_LINES, readStatement } from '../../../../src/services/payments/reconciliation/readStatement.ts'

const CHANNEL = { currency: 'TZS', zone: 'Africa/Dar_es_Salaam' }

const read = (text: string | Uint8Array, layout: StatementLayout = 'plain') =>
  readStatement(typeof text === 'string' ? Buffer.from(text) : text, layout, CHANNEL)

/** Returns the refusal of a statement: the field, and the message. */
function refusalOf(...statement: Parameters<typeof read>): string {
  try {
    read(...statement)
  } catch (error) {
    if (error instanceof LendingError)
      return inNames(error, {})
        .details.map(({ field, message }) => `${field}: ${message}`)
        .join()
    throw error
  }
  return 'it was read'
}

/** Returns the lines of a statement, without the members that are null. */
const linesOf = (...statement: Parameters<typeof read>) =>
  read(...statement).lines.map(({ at, ...line }) => ({
    ...Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null)),
    at: toRfc3339(at, CHANNEL.zone),
  }))

const TEN = '2026-02-10T10:00:00.000+03:00'

describe('a statement as CSV', () => {
  const HEAD = 'receipt,at,amount,reference,reverses'
  const plain = (...rows: string[]) => [HEAD, ...rows].join('\n')

  it('has its lines with their sign; a row of nothing is none', () => {
    const rows = ['R1,2026-02-10 10:00:00,"1,000.50",LOAN-1,', 'R2,2026-02-10 10:00:00,-20,,R1']
    expect(linesOf(plain(...rows, 'R3,2026-02-10 10:00:00,0,,', 'R4,2026-02-10 10:00:00,-,,'))).toEqual([
      { receipt: 'R1', at: TEN, amount: 100_050n, reference: 'LOAN-1' },
      { receipt: 'R2', at: TEN, amount: -2_000n, reverses: 'R1' },
    ])
  })

  it('takes back nothing by a payment that came in, and may leave out what not all have', () => {
    expect(linesOf(plain('R1,2026-02-10 10:00:00,5,,R0'))).toEqual([{ receipt: 'R1', at: TEN, amount: 500n }])
    expect(linesOf('\uFEFFamount,at,receipt\n5,2026-02-10 10:00:00,R1')).toHaveLength(1)
    expect(linesOf('receipt,at,amount,reference\nR1,2026-02-10 10:00:00,5')).toHaveLength(1)
  })

  it('of Daraja counts what was withdrawn as money that went out, with or without a sign', () => {
    const head = 'Receipt No.,Completion Time,Transaction Status,Paid In,Withdrawn'
    const rows = ['A,2026-02-10 10:00:00,Completed,,7.00', 'B,2026-02-10 10:00:00,Completed,,-7.00']
    expect(linesOf([head, ...rows].join('\n'), 'daraja_organization')).toEqual([
      { receipt: 'A', at: TEN, amount: -700n },
      { receipt: 'B', at: TEN, amount: -700n },
    ])
  })

  it.each([
    ['a byte that is no UTF-8', Uint8Array.of(0xff, 0xfe), 'must be a text in UTF-8'],
    ['a quote that is not closed', `${HEAD}\n"R1,2026-02-10 10:00:00,5`, 'must be CSV: '],
    ['no column of the receipt', 'a,b\n1,2', 'must have a column receipt'],
    ['no column of the moment', 'receipt,amount\nR1,5', 'must have a column at'],
    ['no column of the amount', 'receipt,at\nR1,2026-02-10 10:00:00', 'must have a column amount'],
    ['no receipt', plain(',2026-02-10 10:00:00,5,,'), 'line 2: must have a receipt of 1 to '],
    ['a receipt that is too long', plain(`${'R'.repeat(300)},2026-02-10 10:00:00,5,,`), 'line 2: must have a receipt'],
    ['an amount in words', plain('R1,2026-02-10 10:00:00,five,,'), 'line 2: must have amounts such as 5,000.00'],
    ['a moment in words', plain('R1,today,5,,'), 'line 2: at must be a time such as 2026-02-10 09:29:40'],
  ])('is refused where it has %s', (_, text, message) => {
    expect(refusalOf(text)).toContain(`statement: ${message}`)
  })

  it('is refused by the line of the file, whatever lines are empty, above the columns, or in quotes', () => {
    const rows = ['Account,Demo Lender', '', HEAD, '', '"R\n1",2026-02-10 10:00:00,5,,', '', 'R2,today,5,,']
    expect(refusalOf(rows.join('\r\n'))).toContain('statement: line 8: at must be a time')
  })

  it('has a bound', () => {
    const row = 'R,2026-02-10 10:00:00,5,,'
    expect(read(plain(...new Array<string>(MOST_STATEMENT_LINES).fill(row))).lines).toHaveLength(MOST_STATEMENT_LINES)
    expect(refusalOf(plain(...new Array<string>(MOST_STATEMENT_LINES + 1).fill(row)))).toBe(
      'statement: has 50001 lines, and at most 50000 are compared: divide it by days',
    )
  })
})

describe('a statement as camt.053', () => {
  const document = (...parts: string[]) =>
    `<Document><BkToCstmrStmt>${parts.map((part) => `<Stmt>${part}</Stmt>`).join('')}</BkToCstmrStmt></Document>`
  const balance = (code: string, amount: string, sign = 'CRDT') =>
    `<Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp><Amt>${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd></Bal>`
  const entry = (amount: string, sign: string, more: string, day = '<Dt>2026-02-10</Dt>') =>
    `<Ntry><Amt>${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd><BookgDt>${day}</BookgDt>${more}</Ntry>`
  const details = (more: string) => `<NtryDtls><TxDtls>${more}</TxDtls></NtryDtls>`
  const MIDNIGHT = '2026-02-10T00:00:00.000+03:00'

  it('has balances with their sign; of several statements together, none', () => {
    const one = balance('OPBD', '10.00', 'DBIT') + balance('CLBD', '5.00')
    expect(read(document(one), 'camt053')).toEqual({ lines: [], opening: -1_000n, closing: 500n })
    expect(read(document(one, one), 'camt053')).toEqual({ lines: [], opening: null, closing: null })
    expect(read(document(balance('CLBD', '5.00')), 'camt053')).toMatchObject({ opening: null, closing: 500n })
  })

  it('has the receipt of the bank, else that of the transaction, and what a reversal takes back', () => {
    const own = details(
      '<Refs><AcctSvcrRef>T1</AcctSvcrRef></Refs><RmtInf><Strd><CdtrRefInf><Ref>L-1</Ref></CdtrRefInf></Strd></RmtInf>',
    )
    const reversal = `<RvslInd>true</RvslInd><AcctSvcrRef>B2</AcctSvcrRef>${details('<Refs><EndToEndId>T1</EndToEndId></Refs>')}`
    const entries = [entry('5.00', 'CRDT', own), entry('5.00', 'DBIT', reversal), entry('0.00', 'CRDT', '')]
    expect(linesOf(document(entries.join('')), 'camt053')).toEqual([
      { receipt: 'T1', at: MIDNIGHT, amount: 500n, reference: 'L-1' },
      { receipt: 'B2', at: MIDNIGHT, amount: -500n, reverses: 'T1' },
    ])
  })

  it.each([
    ['no XML', 'receipt,at', 'the body is not well-formed XML'],
    ['no statement', document(), 'must be a camt.053'],
    ['no receipt', document(entry('5.00', 'CRDT', '')), 'entry 1: must have a receipt of 1 to '],
    [
      'a second entry without a day',
      document(entry('0.00', 'CRDT', '') + entry('5.00', 'CRDT', '<AcctSvcrRef>B</AcctSvcrRef>', '')),
      'entry 2: must have a booking date',
    ],
    [
      'an amount in words',
      document(entry('five', 'CRDT', '<AcctSvcrRef>B</AcctSvcrRef>')),
      'entry 1: must have amounts',
    ],
    ['a balance in words', document(balance('OPBD', 'ten')), 'balance OPBD: must have amounts such as 5,000.00'],
  ])('is refused where it has %s', (_, text, message) => {
    expect(refusalOf(text, 'camt053')).toContain(`statement: ${message}`)
  })
})
