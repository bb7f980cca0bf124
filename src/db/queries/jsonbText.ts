/**
 * Returns JSON as Postgres writes a `jsonb`: members in the order of the lengths of their names, then of their bytes, and
 * numbers without an exponent. A text that is sent in this form is read back the same.
 * @param value what JSON can say; a bigint is a number, digit by digit, and a Date a text as in `JSON.stringify`
 */
export function jsonbText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return numberText(value)
  if (typeof value !== 'object' || value === null) return 'null'
  if (value instanceof Date) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([one], [other]) => compareNames(one, other))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}: ${jsonbText(member)}`).join(', ')}}`
}

const ASCII = /^[\x20-\x7e]*$/

/** Compares names of members by their length in UTF-8, and then by their bytes. */
function compareNames(one: string, other: string): number {
  if (ASCII.test(one) && ASCII.test(other)) {
    if (one.length !== other.length) return one.length - other.length
    return one < other ? -1 : 1
  }
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length - second.length || Buffer.compare(first, second)
}

/** Returns a number as `numeric` has it: JavaScript writes 1e-7 and 1e+21, Postgres all the digits. */
function numberText(value: number): string {
  const text = JSON.stringify(value)
  const [, sign, whole, fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (whole === undefined || exponent === undefined) return text
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
