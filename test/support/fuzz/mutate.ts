/** Returns a whole number from 0, below the bound. */
export type Random = (below: number) => number

export const oneOf = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!

const LONG = 'x'.repeat(2_000)

/** Texts that programs have stumbled over. */
const TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1',
    '00',
    '1e3',
    '1e999',
    '-0',
    '0x10',
    'NaN',
    'Infinity',
    'null',
    'true',
    'undefined',
    '[]',
    '{}',
  ],
  ...['9007199254740993', '9223372036854775807', '9223372036854775808', '-9223372036854775809', '9'.repeat(400)],
  ...['0.1', '1.005', '0.00000000001', '99999999999999.99', '1,000', '１２', '٣'],
  ...[
    '2026-02-30',
    '2026-02-28',
    '0000-01-01',
    '0001-01-01',
    '9999-12-31',
    '10000-01-01',
    '-000001-01-01',
    '+275760-09-14',
  ],
  ...[
    'infinity',
    '-infinity',
    'now',
    'today',
    '2026-03-01T00:00:00Z',
    '2026-03-01T24:00:00+18:00',
    '1969-12-31T23:59:60Z',
  ],
  ...[
    '\u0000',
    'a\u0000b',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u0085',
    '\t',
    '\n',
    'a\r\nSet-Cookie: b=c',
    '\ufeff',
    '\u202e',
  ],
  ...['\ud800', 'a\udfff', '\ufffe', '張三', 'é', 'ÿ', '👩‍👩‍👧', 'e\u0301', 'İ', 'ß', '\u{10ffff}'],
  ...[
    '%',
    '%00',
    '%0a',
    '%ff',
    '%E0%A4%A',
    '%u0041',
    '+',
    '&',
    '=',
    ';',
    ',',
    '#',
    '?',
    '/',
    '//',
    '\\',
    '.',
    '..',
    '../../x',
  ],
  ...["'", '"', "' OR 1=1 --", '$1', '{{7*7}}', '<script>', '=1+1', '`id`', '(', ')', '*', '_', '%%', '\\\\'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', LONG, '日'.repeat(700)],
]

/** Values of JSON that are not texts, as they are written. */
const RAW: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '0.1', '1e308', '1e-7', '1e400', '-1e400', '9007199254740993'],
  ...[
    '9223372036854775808',
    '1'.repeat(500),
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '{"a":1}',
    '{"__proto__":{"a":1}}',
    '"\\u0000"',
  ],
  ...['"\\ud800"', `${'['.repeat(400)}${']'.repeat(400)}`, '1.00000000000000000001', '100', '2', '1000', '"1"'],
]

/** Returns a text that programs have stumbled over, or a long or a random one. */
export function anyText(random: Random): string {
  if (random(12) > 0) return oneOf(random, TEXTS)
  return Array.from({ length: random(40) }, () => String.fromCharCode(random(random(3) === 0 ? 0x10000 : 0x180))).join(
    '',
  )
}

/** Returns a value as JSON writes it. */
const anyRaw = (random: Random): string => (random(2) === 0 ? oneOf(random, RAW) : JSON.stringify(anyText(random)))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Writes a value as JSON with some of it changed: another value, a member less, one more, one twice.
 * @param share of a thousand values: how many are changed
 */
export function mutatedJson(random: Random, value: unknown, share: number): string {
  if (random(1_000) < share) return anyRaw(random)
  if (Array.isArray(value)) {
    const items = value.map((item) => mutatedJson(random, item, share))
    if (random(1_000) < share) items.push(...Array.from({ length: random(300) }, () => items[0] ?? 'null'))
    return `[${items.join(',')}]`
  }
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (random(1_000) < share) continue
    const written = `${JSON.stringify(random(1_000) < share / 4 ? anyText(random) : name)}:${mutatedJson(random, member, share)}`
    members.push(written)
    if (random(1_000) < share / 4) members.push(written)
  }
  if (random(1_000) < share) members.push(`${JSON.stringify(anyText(random))}:${anyRaw(random)}`)
  return `{${members.join(',')}}`
}

/** Changes bytes: cuts some off, turns one, puts one in. */
export function mutatedBytes(random: Random, bytes: Buffer): Buffer {
  const at = random(bytes.length + 1)
  const kind = random(4)
  if (kind === 0) return bytes.subarray(0, at)
  if (kind === 1) return Buffer.concat([bytes.subarray(0, at), Buffer.from([random(256)]), bytes.subarray(at)])
  if (kind === 2) return Buffer.concat([bytes, bytes])
  const turned = Buffer.from(bytes)
  if (at < turned.length) turned[at] = random(256)
  return turned
}

/** Writes a text for a path or a query: escaped, partly escaped, or as it is where HTTP can carry it. */
export function written(random: Random, text: string): string {
  const escaped = encodeURIComponent(text.toWellFormed())
  if (random(3) > 0) return escaped
  const raw = text.replace(/[^\u0021-\u00ff]/g, (one) => encodeURIComponent(one.toWellFormed()))
  return random(4) === 0 ? raw.replace(/[a-z]/g, (one) => `%${one.charCodeAt(0).toString(16)}`) : raw
}

/** Writes a text for a header: what HTTP cannot carry is left out. */
export const inHeader = (text: string): string => text.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '')

/** Returns a path without what only a request that is no HTTP has: its refusal has a body, which the answer of a HEAD cannot have. */
export const inAscii = (path: string): string => path.replace(/[^\u0021-\u007e]/g, encodeURIComponent)
