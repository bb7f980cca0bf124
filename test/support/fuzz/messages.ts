import { type Reading, readTold } from '../../../src/domain/payments/adapters/read.ts'
import { ADAPTERS, type AdapterName } from '../../../src/domain/payments/adapters.ts'
import { readBody } from '../../../src/services/payments/inbound/messageBody.ts'
import { REAL } from '../realMessages.ts'

/** What breaks readers of JSON, of XML, of numbers and of times. */
const TOKENS = [
  ...[
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '<',
    '>',
    '</',
    '/>',
    '&',
    '&amp;',
    '&#0;',
    '&#x110000;',
    '&x;',
    '\\',
    '\\u0000',
  ],
  ...[
    '\\ud800',
    '\u0000',
    '\uFEFF',
    '\u202e',
    'null',
    'true',
    '-',
    '-1',
    '0',
    '1e999',
    '1e-9',
    '99999999999999999999',
    '0.001',
  ],
  ...[
    '"__proto__":{"a":1},',
    '"constructor":1,',
    '<__proto__>1</__proto__>',
    '<!DOCTYPE a [<!ENTITY x "&x;&x;">]>',
    '<![CDATA[',
    ']]>',
  ],
  ...[
    '<!--',
    '-->',
    '<?x ?>',
    ' ',
    '\n',
    '20260230250000',
    '2026-02-30',
    'TS',
    'FAILED',
    'SUCCESSFUL',
    'COMPLETED',
    '000',
    'success',
  ],
  ...['['.repeat(40), '<a>'.repeat(40), '{"a":'.repeat(40), '9'.repeat(500), 'x'.repeat(300)],
]

/** Returns a body that was changed at some places. */
export function mutated(body: string, random: (below: number) => number): Buffer {
  let bytes = Buffer.from(body)
  for (let left = 1 + random(4); left > 0; left--) {
    const from = random(bytes.length + 1)
    const to = from + random(Math.min(20, bytes.length - from) + 1)
    const token = Buffer.from(TOKENS[random(TOKENS.length)]!)
    const middle = [
      () => token,
      () => Buffer.alloc(0),
      () => Buffer.from([random(256)]),
      () => Buffer.concat([bytes.subarray(from, to), bytes.subarray(from, to)]),
      () => Buffer.concat([bytes.subarray(from, to), token]),
    ][random(5)]!()
    bytes = Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)])
  }
  return bytes
}

const CONTEXT = { zone: 'Africa/Nairobi', receivedAt: Date.parse('2026-01-31T09:30:00+03:00') }

/** Reads a body as the payments job does. */
export function readAs(name: AdapterName, body: Buffer): Reading {
  const adapter = ADAPTERS[name]
  const read = readBody(adapter, body)
  return 'why' in read ? { tells: 'unreadable', why: read.why } : readTold(adapter, read.tree, CONTEXT)
}

/** Returns what is wrong with what was read of a body; undefined for nothing. */
export function wrongIn(reading: Reading, body: Buffer): string | undefined {
  if ('why' in reading) return reading.why.length > 0 && reading.why.length < 500 ? undefined : 'no word of why'
  const told = reading.tells === 'payment' ? reading.payment : reading.reversal
  const { receipt, amount } = told
  if (receipt.length === 0 || receipt.length > 100) return 'a receipt of a wrong length'
  if (typeof amount.units !== 'bigint' || amount.scale < 0) return 'no amount'
  const at = reading.tells === 'payment' ? reading.payment.paidAt : reading.reversal.reversedAt
  if (!Number.isSafeInteger(at)) return 'no time'
  // What is taken is in the message: a digit at least of the amount, and the letters of the receipt.
  const text = body.toString('utf8')
  if (!text.includes(receipt.slice(0, 3)) && !/[&\\]|<!\[CDATA/.test(text)) return 'a receipt from nowhere'
  return undefined
}

/** Reads many changed messages of each adapter. @returns what was wrong, and how many were read as what */
export function readMany(count: number, random: (below: number) => number) {
  const wrong: string[] = []
  const counts = new Map<string, number>()
  let slowest = 0
  for (const { adapter, sent } of REAL)
    for (let done = 0; done < count; done++) {
      const body = mutated(sent, random)
      const begun = performance.now()
      try {
        const reading = readAs(adapter, body)
        const fault = wrongIn(reading, body)
        const key = `${adapter} ${reading.tells}`
        counts.set(key, (counts.get(key) ?? 0) + 1)
        if (fault !== undefined) wrong.push(`${adapter}: ${fault}: ${body.toString('base64')}`)
      } catch (error) {
        wrong.push(`${adapter}: threw ${String(error)}: ${body.toString('base64')}`)
      }
      slowest = Math.max(slowest, performance.now() - begun)
    }
  return { wrong, counts, slowest }
}
