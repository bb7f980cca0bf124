import type { Shape } from './operation.ts'

/** One token of JSON, after white space. */
const TOKEN =
  /[ \t\n\r]*(?:([[\]{},:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null))/y

/**
 * Reads JSON. Where `shape` says so, a whole number becomes a `bigint`, exact to the last digit; every other number becomes
 * a `number`, as by `JSON.parse`.
 * @throws SyntaxError for a text that is no JSON
 */
export function parseJson(text: string, shape?: Shape): unknown {
  if (shape === undefined) return JSON.parse(text)
  let at = 0
  /** The last token: its text, and whether it is a number. */
  let token = ''
  let isNumber = false

  const fail = (): never => {
    throw new SyntaxError(`no JSON at position ${at}`)
  }
  const advance = (): string => {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text) ?? fail()
    at = TOKEN.lastIndex
    isNumber = found[3] !== undefined
    token = found[1] ?? found[2] ?? found[3] ?? found[4]!
    return token
  }

  /** Reads the value that begins with the last token. */
  const value = (shape: Shape | undefined): unknown => {
    if (isNumber) return shape === 1 && /^-?\d+$/.test(token) ? BigInt(token) : Number(token)
    if (token === '[') return list(shape)
    if (token === '{') return members(shape)
    // A name of one sign, such as a comma, is no JSON for JSON.parse either.
    return JSON.parse(token)
  }
  const list = (shape: Shape | undefined): unknown[] => {
    const items: unknown[] = []
    if (advance() === ']') return items
    for (;;) {
      items.push(value(shape))
      if (advance() === ']') return items
      if (token !== ',') fail()
      advance()
    }
  }
  const members = (shape: Shape | undefined): object => {
    const object = {}
    if (advance() === '}') return object
    for (;;) {
      if (!token.startsWith('"')) fail()
      const name: string = JSON.parse(token)
      if (advance() !== ':') fail()
      advance()
      const below = typeof shape === 'object' && Object.hasOwn(shape, name) ? shape[name] : undefined
      // An assignment to `__proto__` would not make a member.
      Object.defineProperty(object, name, { value: value(below), writable: true, enumerable: true, configurable: true })
      if (advance() === '}') return object
      if (token !== ',') fail()
      advance()
    }
  }

  advance()
  const read = value(shape)
  if (/[^ \t\n\r]/.test(text.slice(at))) fail()
  return read
}

/**
 * Writes JSON, a `bigint` in its digits.
 * @throws TypeError for a number that JSON has not: it would be written as null, which means "left out"
 */
export function writeJson(value: unknown): string {
  return write(value, 'the body') ?? 'null'
}

function write(given: unknown, place: string): string | undefined {
  const value = (given as { toJSON?: unknown } | null | undefined)?.toJSON ? JSON.parse(JSON.stringify(given)) : given
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${place} must not be ${value}`)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item, index) => write(item, `${place}[${index}]`) ?? 'null').join()}]`
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const text = write(inner, name)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${members.join()}}`
}
