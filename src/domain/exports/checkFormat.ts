import { CONDITIONS } from './conditions.ts'
import {
  AMOUNT_STYLES,
  DATE_STYLES,
  type ExportFormat,
  FIELD_TYPES,
  LINE_ENDS,
  NEEDS,
  QUOTES,
  SPANS,
} from './format.ts'
import { OF_FILES, SOURCE_WORDS, SOURCES, type SourceName, type ValueKind } from './sources.ts'

/** A fault of a format: where it is, by its path, and what the rule is. */
export interface FormatFault {
  /** `fields[3].when`; an empty text for the whole document. */
  readonly field: string
  readonly rule: string
}

/** The bounds of a format. */
export const FORMAT_BOUNDS = {
  fields: 250,
  settings: 50,
  maps: 30,
  mapWords: 100,
  classes: 30,
  statuses: 30,
  longestName: 60,
  longestText: 500,
  longestValue: 2_000,
  faults: 100,
} as const

/** The types of fields that take values of a kind. */
const TAKES: Readonly<Record<ValueKind, readonly string[]>> = {
  text: ['text', 'digits'],
  word: ['text', 'digits'],
  date: ['date'],
  amount: ['amount'],
  number: ['number', 'digits'],
  rate: ['decimal'],
}

type Tell = (field: string, rule: string) => void
type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const oneOf = (names: readonly string[]): string => `must be one of ${names.join(', ')}`

/** Checks parts of a document, and collects the faults. */
class Check {
  readonly faults: FormatFault[] = []

  readonly tell: Tell = (field, rule) => {
    if (this.faults.length < FORMAT_BOUNDS.faults) this.faults.push({ field, rule })
  }

  /** Returns the value where it is a text of a pattern and length. */
  text(value: unknown, field: string, { longest, pattern, rule }: TextRule): string | undefined {
    if (value === undefined) this.tell(field, 'is required')
    else if (typeof value !== 'string' || value === '') this.tell(field, 'must be a text that is not empty')
    else if (value.length > longest) this.tell(field, `must be at most ${longest} characters long`)
    else if (/\p{Cc}/u.test(value)) this.tell(field, 'must not contain control characters')
    else if (pattern && !pattern.test(value)) this.tell(field, rule ?? 'is not of that form')
    else return value
    return undefined
  }

  /** Returns the value where it is one of some names. */
  word(value: unknown, field: string, names: readonly string[]): string | undefined {
    if (typeof value === 'string' && names.includes(value)) return value
    this.tell(field, value === undefined ? `is required, and ${oneOf(names)}` : oneOf(names))
    return undefined
  }

  whole(value: unknown, field: string, [least, most]: readonly [number, number]): number | undefined {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return value as number
    this.tell(field, `must be a whole number from ${least} to ${most}`)
    return undefined
  }

  list(value: unknown, field: string, [least, most]: readonly [number, number]): readonly unknown[] {
    if (!Array.isArray(value)) this.tell(field, value === undefined ? 'is required' : 'must be a list')
    else if (value.length < least || value.length > most) this.tell(field, `must have ${least} to ${most} members`)
    else return value
    return []
  }

  /** Returns the members of an object, and tells of those that it may not have. */
  members(value: unknown, field: string, known: readonly string[]): Members | undefined {
    if (!isObject(value)) {
      this.tell(field, value === undefined ? 'is required' : 'must be an object')
      return undefined
    }
    for (const name of Object.keys(value))
      if (!known.includes(name)) this.tell(at(field, name), `is no member here: those are ${known.join(', ')}`)
    return value
  }

  unique(values: readonly (string | undefined)[], field: (index: number) => string): void {
    for (const [index, value] of values.entries())
      if (value !== undefined && values.indexOf(value) !== index) this.tell(field(index), `${value} is there twice`)
  }
}

interface TextRule {
  readonly longest: number
  readonly pattern?: RegExp
  readonly rule?: string
}

const at = (field: string, name: string): string => (field === '' ? name : `${field}.${name}`)

const NAME: TextRule = {
  longest: FORMAT_BOUNDS.longestName,
  pattern: /^[A-Za-z][\w .()/-]*$/,
  rule: 'must begin with a letter, and have letters, digits, spaces and _ . ( ) / - only',
}
const KEY: TextRule = {
  longest: 40,
  pattern: /^[a-z][A-Za-z0-9_]*$/,
  rule: 'must begin with a small letter, and have letters, digits and _ only',
}
const FORMAT_NAME: TextRule = {
  longest: 40,
  pattern: /^[a-z][a-z0-9_]*$/,
  rule: 'must begin with a small letter, and have small letters, digits and _ only',
}
const VERSION: TextRule = { longest: 20, pattern: /^\w[\w.-]*$/, rule: 'must have letters, digits and . _ - only' }
const WORDS: TextRule = { longest: FORMAT_BOUNDS.longestText }
const CODE: TextRule = { longest: 60 }
const CURRENCY: TextRule = { longest: 3, pattern: /^[A-Z]{3}$/, rule: 'must be the three letters of a currency' }

const MEMBERS = [
  ...['name', 'version', 'title', 'source', 'separator', 'quotes', 'lineEnd', 'dates', 'amounts', 'header', 'mark'],
  ...['settings', 'maps', 'classes', 'statuses', 'exclude', 'fields'],
]

const FIELD_MEMBERS = ['name', 'type', 'longest', 'decimals', 'need', 'when', 'from', 'map', 'onlyCurrency']

/** The separators that a file may have. */
const SEPARATORS = [',', ';', '|', '\t']

/**
 * Checks a document that is to be a format.
 * @returns the format, or what is wrong: where, and the rule; 100 faults at most
 */
export function checkFormat(document: unknown): ExportFormat | readonly FormatFault[] {
  const check = new Check()
  const given = check.members(document, '', MEMBERS)
  if (given) checkMembers(check, given)
  return check.faults.length === 0 ? (document as ExportFormat) : check.faults
}

/** Returns whether a check found faults. */
export const isFaulty = (checked: ExportFormat | readonly FormatFault[]): checked is readonly FormatFault[] =>
  Array.isArray(checked)

function checkMembers(check: Check, given: Members): void {
  check.text(given.name, 'name', FORMAT_NAME)
  check.text(given.version, 'version', VERSION)
  check.text(given.title, 'title', WORDS)
  check.text(given.source, 'source', WORDS)
  check.word(given.separator, 'separator', SEPARATORS)
  check.word(given.quotes, 'quotes', QUOTES)
  check.word(given.lineEnd, 'lineEnd', Object.keys(LINE_ENDS))
  check.word(given.dates, 'dates', DATE_STYLES)
  check.word(given.amounts, 'amounts', AMOUNT_STYLES)
  if (given.mark !== null) check.text(given.mark, 'mark', CODE)
  const names = {
    settings: checkSettings(check, given.settings),
    maps: checkMaps(check, given.maps),
    hasClasses: checkClasses(check, given.classes),
    hasStatuses: checkStatuses(check, given.statuses),
  }
  checkExclusions(check, given.exclude)
  checkHeader(check, given.header, names)
  checkFields(check, given.fields, { path: 'fields', least: 1, isHeader: false, names })
}

function checkSettings(check: Check, value: unknown): readonly string[] {
  const names = check.list(value, 'settings', [0, FORMAT_BOUNDS.settings]).map((one, index) => {
    const field = `settings[${index}]`
    const members = check.members(one, field, ['name', 'means', 'longest'])
    if (!members) return undefined
    check.text(members.means, at(field, 'means'), WORDS)
    check.whole(members.longest, at(field, 'longest'), [1, FORMAT_BOUNDS.longestText])
    return check.text(members.name, at(field, 'name'), KEY)
  })
  check.unique(names, (index) => `settings[${index}].name`)
  return names.filter((name) => name !== undefined)
}

type Maps = Readonly<Record<string, readonly string[]>>

/** Returns the words that each map has a code for. */
function checkMaps(check: Check, value: unknown): Maps {
  if (!isObject(value)) {
    check.tell('maps', value === undefined ? 'is required' : 'must be an object')
    return {}
  }
  const names = Object.keys(value)
  if (names.length > FORMAT_BOUNDS.maps) check.tell('maps', `must have at most ${FORMAT_BOUNDS.maps} maps`)
  return Object.fromEntries(
    names.slice(0, FORMAT_BOUNDS.maps).map((name) => {
      const map = value[name]
      check.text(name, `maps.${name}`, KEY)
      const words = isObject(map) ? Object.keys(map) : []
      if (words.length === 0 || words.length > FORMAT_BOUNDS.mapWords)
        check.tell(`maps.${name}`, `must be an object with 1 to ${FORMAT_BOUNDS.mapWords} codes`)
      else for (const word of words) check.text((map as Members)[word], `maps.${name}.${word}`, CODE)
      return [name, words]
    }),
  )
}

/** Checks that the classes have all days from 0 on, without gap or overlap. @returns whether there are any */
function checkClasses(check: Check, value: unknown): boolean {
  const classes = check.list(value, 'classes', [0, FORMAT_BOUNDS.classes])
  let next: number | null = 0
  for (const [index, one] of classes.entries()) {
    const field = `classes[${index}]`
    const members = check.members(one, field, ['from', 'to', 'code'])
    if (!members) continue
    check.text(members.code, at(field, 'code'), CODE)
    if (next === null) check.tell(field, 'comes after a class without end')
    else if (members.from !== next)
      check.tell(at(field, 'from'), `must be ${next}: no day may be in no class or in two`)
    if (members.to === null) next = null
    else {
      const to = check.whole(members.to, at(field, 'to'), [next ?? 0, 100_000])
      next = to === undefined ? next : to + 1
    }
  }
  if (classes.length > 0 && next !== null)
    check.tell(`classes[${classes.length - 1}].to`, 'must be null: the last has no end')
  return classes.length > 0
}

function checkStatuses(check: Check, value: unknown): boolean {
  const statuses = check.list(value, 'statuses', [0, FORMAT_BOUNDS.statuses])
  const conditions = statuses.map((one, index) => {
    const field = `statuses[${index}]`
    const members = check.members(one, field, ['when', 'code'])
    if (!members) return undefined
    check.text(members.code, at(field, 'code'), CODE)
    return check.word(members.when, at(field, 'when'), CONDITIONS)
  })
  check.unique(conditions, (index) => `statuses[${index}].when`)
  return statuses.length > 0
}

function checkExclusions(check: Check, value: unknown): void {
  const members = check.members(value, 'exclude', ['endedBefore', 'consent', 'disputed', 'notice'])
  if (!members) return
  if (members.endedBefore !== null) check.word(members.endedBefore, 'exclude.endedBefore', SPANS)
  for (const name of ['consent', 'disputed'])
    if (typeof members[name] !== 'boolean') check.tell(`exclude.${name}`, 'must be true or false')
  if (members.notice === null) return
  const notice = check.members(members.notice, 'exclude.notice', ['fromDays', 'days', 'upTo', 'currency'])
  if (!notice) return
  check.whole(notice.fromDays, 'exclude.notice.fromDays', [1, 10_000])
  check.whole(notice.days, 'exclude.notice.days', [0, 366])
  if (notice.upTo === null && notice.currency === null) return
  check.whole(notice.upTo, 'exclude.notice.upTo', [0, 1_000_000_000])
  check.text(notice.currency, 'exclude.notice.currency', CURRENCY)
}

/** What fields may name. */
interface Names {
  readonly settings: readonly string[]
  readonly maps: Maps
  readonly hasClasses: boolean
  readonly hasStatuses: boolean
}

function checkHeader(check: Check, value: unknown, names: Names): void {
  const members = check.members(value, 'header', ['kind', 'mark', 'fields'])
  if (!members) return
  const kind = check.word(members.kind, 'header.kind', ['none', 'names', 'fields'])
  if (kind !== 'fields') {
    for (const name of ['mark', 'fields'])
      if (members[name] !== undefined) check.tell(`header.${name}`, 'is of a header of the kind fields only')
    return
  }
  if (members.mark !== null) check.text(members.mark, 'header.mark', CODE)
  checkFields(check, members.fields, { path: 'header.fields', least: 1, isHeader: true, names })
}

interface FieldsPlace {
  readonly path: string
  readonly least: number
  readonly isHeader: boolean
  readonly names: Names
}

function checkFields(check: Check, value: unknown, { path, least, isHeader, names }: FieldsPlace): void {
  const given = check.list(value, path, [least, FORMAT_BOUNDS.fields]).map((one, index) => {
    const field = `${path}[${index}]`
    const members = check.members(one, field, FIELD_MEMBERS)
    if (!members) return undefined
    checkField(check, members, { field, isHeader, names })
    return check.text(members.name, at(field, 'name'), NAME)
  })
  check.unique(given, (index) => `${path}[${index}].name`)
}

interface FieldPlace {
  readonly field: string
  readonly isHeader: boolean
  readonly names: Names
}

function checkField(check: Check, members: Members, place: FieldPlace): void {
  const { field, names } = place
  const type = check.word(members.type, at(field, 'type'), FIELD_TYPES)
  const need = check.word(members.need, at(field, 'need'), NEEDS)
  if (members.longest !== undefined) check.whole(members.longest, at(field, 'longest'), [1, FORMAT_BOUNDS.longestValue])
  if (members.decimals !== undefined) {
    check.whole(members.decimals, at(field, 'decimals'), [0, 6])
    if (type !== 'decimal') check.tell(at(field, 'decimals'), 'is of the type decimal only')
  }
  if (need === 'conditional') check.word(members.when, at(field, 'when'), CONDITIONS)
  else if (members.when !== undefined) check.tell(at(field, 'when'), 'is of a conditional field only')
  if (members.onlyCurrency !== undefined) {
    check.text(members.onlyCurrency, at(field, 'onlyCurrency'), CURRENCY)
    if (type !== 'amount') check.tell(at(field, 'onlyCurrency'), 'is of the type amount only')
  }
  if (members.from === null) {
    if (need === 'mandatory') check.tell(at(field, 'from'), 'must not be null: the field is mandatory')
    if (members.map !== undefined) check.tell(at(field, 'map'), 'has no value to map')
    return
  }
  const source = checkOrigin(check, members.from, place)
  if (source === undefined) {
    if (members.map !== undefined) check.tell(at(field, 'map'), 'is of a value of a source only')
    return
  }
  checkSource(check, { source, type, map: members.map }, { field, names })
}

/** Returns the source of a value; undefined for one that does not come from a source. */
function checkOrigin(check: Check, from: unknown, { field, isHeader, names }: FieldPlace): SourceName | undefined {
  const path = at(field, 'from')
  const origin = check.members(from, path, ['source', 'constant', 'setting'])
  if (!origin) return undefined
  if (Object.keys(origin).length !== 1) {
    check.tell(path, 'must have one of source, constant and setting')
    return undefined
  }
  if ('constant' in origin) check.text(origin.constant, at(path, 'constant'), WORDS)
  if ('setting' in origin && !names.settings.some((name) => name === origin.setting))
    check.tell(at(path, 'setting'), oneOfOrNone(names.settings, 'settings'))
  if (!('source' in origin)) return undefined
  const sources = isHeader ? OF_FILES : Object.keys(SOURCES)
  return check.word(origin.source, at(path, 'source'), sources) as SourceName | undefined
}

const oneOfOrNone = (names: readonly string[], of: string): string =>
  names.length === 0 ? `must be one of the ${of} of the format, which has none` : oneOf(names)

interface Sourced {
  readonly source: SourceName
  readonly type: string | undefined
  readonly map: unknown
}

function checkSource(
  check: Check,
  { source, type, map }: Sourced,
  { field, names }: Omit<FieldPlace, 'isHeader'>,
): void {
  const kind = SOURCES[source]
  if (type !== undefined && !TAKES[kind].includes(type))
    check.tell(at(field, 'type'), `must be ${TAKES[kind].join(' or ')}: ${source} is a ${kind}`)
  if (source === 'arrears.class' && !names.hasClasses)
    check.tell('classes', `must not be empty: ${field} has the class`)
  if (source === 'loan.status' && !names.hasStatuses)
    check.tell('statuses', `must not be empty: ${field} has the status`)
  if (map === undefined) return
  const words = typeof map === 'string' ? names.maps[map] : undefined
  if (words === undefined) check.tell(at(field, 'map'), oneOfOrNone(Object.keys(names.maps), 'maps'))
  else if (kind === 'word') {
    for (const word of words)
      if (!SOURCE_WORDS[source]?.includes(word))
        check.tell(`maps.${map}.${word}`, `is no word of ${source}: those are ${SOURCE_WORDS[source]?.join(', ')}`)
  } else if (kind !== 'text') check.tell(at(field, 'map'), `maps words, and ${source} is a ${kind}`)
}
