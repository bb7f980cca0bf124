/** JSON text that `JSON.stringify` writes unchanged: an int64 beyond 2^53 keeps all its digits. */
export type RawJson = { readonly rawJSON: string }

const { rawJSON } = JSON as unknown as { rawJSON(text: string): RawJson }

/** Returns a value as the JSON that it was sent as. */
export const wireSource = (source: string): RawJson => rawJSON(source)

/** A number of a JSON text, as it was written: a double would lose digits of an int64 or of a decimal. */
export class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }
  toJSON() {
    return rawJSON(this.source)
  }
}

const MAX_DEPTH = 32
/**
 * Values of one body; a list of a million ones is small, but takes seconds to check. The largest body is a statement of 5,000 lines,
 * each an object of five values.
 */
const MAX_VALUES = 30_100
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** The fault of a text that is no JSON. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
  /** The member that is given twice; undefined for any other fault. */
  readonly twice: string | undefined

  constructor(message: string, twice?: string) {
    super(message)
    this.twice = twice
  }
}

/**
 * Reads JSON text; every number becomes a `JsonNumber`.
 *
 * `JSON.parse` gives neither the text of a number (its reviver does, at five times the cost) nor keys that are given
 * twice, and has no bounds.
 * @param subject names the text in the message of a fault
 * @throws JsonFault with the fault, its line and column; also for a key that is given twice in one object
 */
export function readJson(text: string, subject: string): unknown {
  const reader = new Reader(text, subject)
  const value = reader.value(0)
  reader.space()
  if (reader.at < text.length) reader.fail('there is something after the value')
  return value
}

class Reader {
  readonly text: string
  readonly subject: string
  at = 0
  values = 0

  constructor(text: string, subject: string) {
    this.text = text
    this.subject = subject
  }

  value(depth: number): unknown {
    this.space()
    if (++this.values > MAX_VALUES) this.fail(`more than ${MAX_VALUES} values`)
    switch (this.text.charCodeAt(this.at)) {
      case 0x7b:
        return this.object(depth + 1)
      case 0x5b:
        return this.array(depth + 1)
      case 0x22:
        return this.string()
      case 0x74:
        return this.word('true', true)
      case 0x66:
        return this.word('false', false)
      case 0x6e:
        return this.word('null', null)
      default:
        return this.number()
    }
  }

  object(depth: number): Record<string, unknown> {
    this.open(depth)
    const result: Record<string, unknown> = {}
    if (this.take(0x7d)) return result
    do {
      this.space()
      if (this.text.charCodeAt(this.at) !== 0x22) this.fail('expected a name in double quotes')
      const key = this.string()
      if (Object.hasOwn(result, key)) throw new JsonFault('is given twice', key.slice(0, 100))
      if (!this.take(0x3a)) this.fail('expected a colon')
      const value = this.value(depth)
      // Assigning `__proto__` would replace the prototype; as a plain property it is one more unknown field.
      if (key === '__proto__') Object.defineProperty(result, key, { value, enumerable: true })
      else result[key] = value
    } while (this.take(0x2c))
    if (!this.take(0x7d)) this.fail('expected a comma or a closing brace')
    return result
  }

  array(depth: number): unknown[] {
    this.open(depth)
    const result: unknown[] = []
    if (this.take(0x5d)) return result
    do result.push(this.value(depth))
    while (this.take(0x2c))
    if (!this.take(0x5d)) this.fail('expected a comma or a closing bracket')
    return result
  }

  string(): string {
    const start = this.at++
    for (let escaped = false; ; this.at++) {
      const code = this.text.charCodeAt(this.at)
      if (code === 0x22) {
        const end = ++this.at
        return escaped ? this.unescape(start, end) : this.text.slice(start + 1, end - 1)
      }
      if (code === 0x5c) {
        escaped = true
        this.at++
      } else if (!(code >= 0x20)) this.fail('expected a closing quote (control characters are escaped)')
    }
  }

  unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.text.slice(start, end))
    } catch {
      this.at = start
      return this.fail('there is a bad escape in the text')
    }
  }

  number(): JsonNumber {
    NUMBER.lastIndex = this.at
    const source = NUMBER.exec(this.text)?.[0]
    if (source === undefined) return this.fail('expected a value')
    this.at += source.length
    return new JsonNumber(source)
  }

  word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail('expected a value')
    this.at += word.length
    return value
  }

  open(depth: number) {
    if (depth > MAX_DEPTH) this.fail(`nested more than ${MAX_DEPTH} deep`)
    this.at++
  }

  take(code: number): boolean {
    this.space()
    if (this.text.charCodeAt(this.at) !== code) return false
    this.at++
    return true
  }

  space() {
    for (; ; this.at++) {
      const code = this.text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    }
  }

  fail(what: string): never {
    const before = this.text.slice(0, this.at)
    const line = before.split('\n').length
    const column = this.at - before.lastIndexOf('\n')
    const where = this.at >= this.text.length ? 'where the text ends, ' : ''
    throw new JsonFault(`${this.subject} is not valid JSON: ${what} (${where}line ${line}, column ${column})`)
  }
}
