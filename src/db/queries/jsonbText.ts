/**
 * Returns JSON as Postgres writes a `jsonb`: members in the order of the lengths of their names, then of their bytes, and
 * numbers without an exponent. A text that is sent in this form is read back the same.
 * @param value what JSON can say; a bigint is a number, digit by digit, and a Date a text as in `JSON.stringify`
 */
export function jsonbText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isSafeInteger(value) ? `${value}` : numberText(value)
    case 'bigint':
    case 'boolean':
      return `${value}`
    case 'object':
      return value === null ? 'null' : objectText(value)
    default:
      return 'null'
  }
}

function objectText(value: object): string {
  if (value instanceof Date) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(jsonbText).join(', ')}]`
  let text = ''
  for (const { name, quoted } of membersOf(Object.keys(value))) {
    const member = (value as Record<string, unknown>)[name]
    if (member !== undefined)
      text += text === '' ? `${quoted}: ${jsonbText(member)}` : `, ${quoted}: ${jsonbText(member)}`
  }
  return `{${text}}`
}

/** A member of an object: its name, and the name as JSON has it. */
interface Member {
  readonly name: string
  readonly quoted: string
}

/** The members of objects in their order, by their names: the trail has few kinds of objects, and very many of each. */
const orders = new Map<string, readonly Member[]>()
const MOST_ORDERS = 1_000

function membersOf(names: readonly string[]): readonly Member[] {
  const id = names.join('\0')
  const known = orders.get(id)
  if (known) return known
  const members = names.toSorted(compareNames).map((name) => ({ name, quoted: JSON.stringify(name) }))
  // Names that callers chose, as in a record, must not fill the memory.
  if (orders.size === MOST_ORDERS) orders.clear()
  orders.set(id, members)
  return members
}

/** Compares names of members by their length in UTF-8, and then by their bytes. */
function compareNames(one: string, other: string): number {
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
