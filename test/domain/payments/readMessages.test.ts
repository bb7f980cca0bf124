import { describe, expect, it } from 'vitest'
import type { Status, StatusTable } from '../../../src/domain/payments/adapters/adapter.ts'
import { readTime, writeTime } from '../../../src/domain/payments/adapters/times.ts'
import { at, put, type Tree, textAt, type Written } from '../../../src/domain/payments/adapters/tree.ts'
import { tellsReversals, writeMessage } from '../../../src/domain/payments/adapters/write.ts'
import { ADAPTERS, type AdapterName } from '../../../src/domain/payments/adapters.ts'
import { readAs, readMany } from '../../support/fuzz/messages.ts'
import { within } from '../../support/patience.ts'
import { randomFrom } from '../../support/random.ts'

const NAMES = Object.keys(ADAPTERS) as AdapterName[]
const PAID_AT = Date.parse('2026-01-30T23:30:05+03:00')
const ZONE = 'Africa/Nairobi'

const payment = {
  receipt: 'R<1>',
  amount: '12.50',
  currency: 'KES',
  paidAt: PAID_AT,
  reference: 'a & "b"',
  phone: '254700000001',
}

describe('a message that the simulator writes', () => {
  it.each(NAMES)('of %s is read as what it was to tell', (name) => {
    const read = readAs(name, Buffer.from(writeMessage(ADAPTERS[name], payment, ZONE)!))
    expect(read).toMatchObject({
      tells: 'payment',
      payment: {
        receipt: payment.receipt,
        amount: { units: 125n, scale: 1 },
        reference: payment.reference,
        payerPhone: payment.phone,
      },
    })
  })

  it.each(NAMES.filter((name) => tellsReversals(ADAPTERS[name])))('of %s takes a payment back', (name) => {
    const told = { ...payment, receipt: 'R2', reverses: 'R1' }
    expect(readAs(name, Buffer.from(writeMessage(ADAPTERS[name], told, ZONE)!))).toMatchObject({
      tells: 'reversal',
      reversal: { receipt: 'R2', reverses: 'R1', amount: { units: 125n, scale: 1 }, reversedAt: PAID_AT },
    })
  })
})

describe('a status', () => {
  const tables = NAMES.flatMap((name) =>
    ADAPTERS[name].shapes.flatMap((shape): [AdapterName, StatusTable][] =>
      'status' in shape && shape.status ? [[name, shape.status]] : [],
    ),
  )

  it.each(NAMES)('that %s does not know is never taken for paid', (name) => {
    const random = randomFrom(7)
    const { format } = ADAPTERS[name]
    const known = new Set(
      tables.flatMap(([of, { words }]) => (of === name ? Object.keys(words).map((word) => word.toLowerCase()) : [])),
    )
    const written = writeMessage(ADAPTERS[name], payment, ZONE)!
    // The kind of message that the simulator writes: the first one of a payment.
    const shape = ADAPTERS[name].shapes.find(({ tells }) => tells === 'payment')!
    const paths = 'status' in shape ? (shape.status?.at ?? []) : []
    for (const path of paths)
      for (let count = 0; count < 50; count++) {
        const word = Array.from({ length: 1 + random(8) }, () => 'ACDEFNORSTUX019 _'[random(17)])
          .join('')
          .trim()
        if (known.has(word.toLowerCase())) continue
        if (format === 'xml') {
          const changed = written.replace(/<TYPE>[^<]*/, `<TYPE>${word}`)
          expect(readAs(name, Buffer.from(changed)).tells, word).not.toBe('payment')
          continue
        }
        const tree: Written = JSON.parse(written)
        put(tree, path, word)
        expect(readAs(name, Buffer.from(JSON.stringify(tree))).tells, word).not.toBe('payment')
      }
  })

  it('means what its table says, whatever its capitals', () => {
    const meaning = (status: string): string => {
      const body = `{"amount":"5","currency":"UGX","financialTransactionId":"1","externalId":"l","status":${status}}`
      const read = readAs('mtn_collection', Buffer.from(body))
      return 'why' in read ? read.why : read.tells
    }
    const words: Readonly<Record<string, RegExp>> = {
      '"Successful"': /^payment$/,
      '"FAILED"': /^the status FAILED means failed/,
      '"pending"': /^the status pending means pending/,
      '"OK"': /^the status OK is unknown here/,
      null: /^it is no message of the provider/,
      '["SUCCESSFUL"]': /^no status is unknown here/,
      '""': /^no status is unknown here/,
      true: /^the status true is unknown here/,
    }
    for (const [status, why] of Object.entries(words)) expect(meaning(status)).toMatch(why)
    const all = tables.flatMap(([, { words: own }]) => Object.values(own))
    expect(new Set<Status>(all)).toEqual(new Set(['done', 'failed', 'pending', 'reversed', 'unknown']))
  })
})

describe('a path', () => {
  const tree: Tree = {
    A: { b: ' x\u0000y ' },
    list: [{ Key: 'One', Value: '1' }, { key: 'two', value: '2' }, { Key: 'Two', Value: '3' }, 'text', null],
    same: '1',
    SAME: '2',
    single: { Key: 'One', Value: '9' },
  }
  it.each([
    ['A.b', 'x y'],
    ['a.B', 'x y'],
    ['A', undefined],
    ['A.b.c', undefined],
    ['list[Key=One].Value', '1'],
    ['list[Key=one].value', '1'],
    ['list[Key=Two].Value', undefined],
    ['list', undefined],
    ['single[Key=One].Value', '9'],
    ['same', '1'],
    ['Same', undefined],
    ['none', undefined],
    ['__proto__', undefined],
    ['constructor.name', undefined],
  ])('%s has %s', (path, text) => {
    expect(textAt(tree, [path])).toBe(text)
    expect(at(null, path)).toBeUndefined()
  })
})

describe('a receipt', () => {
  const receiptOf = (receipt: string) => {
    const read = readAs('canonical', Buffer.from(`{"receipt":${receipt},"amount":1,"paidAt":"2026-01-30T20:30:05Z"}`))
    return 'why' in read ? read.why : read.tells === 'payment' && read.payment.receipt
  }
  it.each([
    ['" R-1 "', 'R-1'],
    ['17', '17'],
    ['"R\\u00071"', 'receipt: has a character that no receipt has'],
    ['"R\\n1"', 'receipt: has a character that no receipt has'],
    ['"R\\ud8001"', 'receipt: has a character that no receipt has'],
    ['" "', 'receipt: is missing'],
    ['["R-1"]', 'receipt: is missing'],
    [`"${'R'.repeat(101)}"`, 'receipt: must have at most 100 characters'],
  ])('%s is %s: nothing is changed in it', (sent, read) => expect(receiptOf(sent)).toBe(read))
})

describe('a time', () => {
  it.each([
    ['20260130233005', '2026-01-30T23:30:05+03:00'],
    ['2026-01-30 23:30:05', '2026-01-30T23:30:05+03:00'],
    ['30.01.2026 23:30:05', '2026-01-30T23:30:05+03:00'],
    ['2026-01-30T20:30:05Z', '2026-01-30T23:30:05+03:00'],
    ['20260230233005', undefined],
    ['20260130243005', undefined],
    ['00000130233005', undefined],
    ['2026013023300', undefined],
    ['2026-01-30', undefined],
    ['', undefined],
  ])('%s is %s in the zone of the channel', (text, moment) => {
    const formats = ['yyyyMMddHHmmss', 'yyyy-MM-dd HH:mm:ss', 'dd.MM.yyyy HH:mm:ss', 'RFC 3339'] as const
    const instant = moment === undefined ? undefined : Date.parse(moment)
    expect(readTime(text, formats, ZONE)).toBe(instant)
    if (instant === undefined) return
    for (const format of formats) expect(readTime(writeTime(instant, format, ZONE), [format], ZONE)).toBe(instant)
  })

  it('is the later one where the clocks of the zone are changed', () => {
    expect(readTime('20260329033000', ['yyyyMMddHHmmss'], 'Europe/Berlin')).toBe(
      Date.parse('2026-03-29T03:30:00+02:00'),
    )
    expect(readTime('20261025013000', ['yyyyMMddHHmmss'], 'Europe/Berlin')).toBe(
      Date.parse('2026-10-25T01:30:00+02:00'),
    )
  })
})

// `npm run try -- messages` reads a million of each adapter.
const MESSAGES = Number(process.env.MKOPO_MESSAGES ?? 500)
const SEED = Number(process.env.MKOPO_SEED ?? 1)

describe('changed messages of each adapter', () => {
  it(`${MESSAGES} are read without a fault, and some of them as each thing`, {
    timeout: within(5_000) + MESSAGES * 10,
  }, () => {
    const { wrong, counts, slowest } = readMany(MESSAGES, randomFrom(SEED))
    expect(wrong.slice(0, 5)).toEqual([])
    for (const name of NAMES)
      for (const tells of ['payment', 'unreadable']) expect(counts.get(`${name} ${tells}`), name).toBeGreaterThan(0)
    if (process.env.MKOPO_MESSAGES !== undefined) console.info(Object.fromEntries(counts), 'slowest, ms:', slowest)
  })
})
