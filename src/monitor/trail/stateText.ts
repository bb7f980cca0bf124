import { fromRfc3339 } from '../../domain/dates.ts'
import { currencyCodes, rateToNumber } from '../../domain/money.ts'
import { BUCKET_WORDS, PRESET_WORDS, STATE_WORDS } from '../../words/names.ts'
import { statusWords, typeWords } from '../../words/pages.ts'
import { TRAIL_FIELDS } from '../../words/trail.ts'
import { type Language, nameIn, type Words } from '../../words/words.ts'
import { timeText } from '../desk.ts'
import { money } from '../layout/figures.ts'

/** How the values of a row are written. */
export interface Writing {
  readonly language: Language
  readonly zone: string
  /** The currency of amounts; a value that names a currency has its own. */
  readonly currency: string
}

type State = Readonly<Record<string, unknown>>

/** Fields that are kept in minor units, in millionths of a percent, and as instants. */
const AMOUNTS = new Set([
  'amount',
  'principal',
  'principalMin',
  'principalMax',
  'totalMultipleOf',
  'approvalAbove',
  'totalOutstanding',
  'totalPaid',
  'totalOverpaid',
  'totalWrittenOff',
  'totalRecovered',
  'creditLimit',
  'availableLimit',
])
const RATES = new Set([
  'ratePerPeriod',
  'interestRate',
  'maxRatePerMonth',
  'penaltyRate',
  'totalChargeCap',
  'capOfPrincipal',
  'percentOfPrincipal',
  'provisionRate',
])
const INSTANTS = new Set(['tokensFrom', 'previousUntil', 'now'])

/** Fields whose values are names of the contract. Other texts are what somebody has set, and stay as they are. */
const NAMED: Readonly<Record<string, Words>> = {
  status: statusWords,
  state: STATE_WORDS,
  kind: STATE_WORDS,
  mode: STATE_WORDS,
  boostStatus: STATE_WORDS,
  repayUnit: STATE_WORDS,
  bucket: BUCKET_WORDS,
  class: BUCKET_WORDS,
}

/** Names of the contract by the object that they are in. */
const NAMED_WITHIN: Readonly<Record<string, Readonly<Record<string, Words>>>> = {
  posted: { type: typeWords },
  reversed: { type: typeWords },
  buckets: { name: BUCKET_WORDS },
}

const ANSWERS: Words = { true: ['yes', 'ndiyo'], false: ['no', 'hapana'] }

const isState = (value: unknown): value is State =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)

/**
 * Writes the state of a thing before and after a change in words, amounts in their currency. What the change has left as it
 * was is left out of both.
 */
export function changeTexts(
  before: unknown,
  after: unknown,
  writing: Writing,
): readonly [before: string, after: string] {
  if (!isState(before)) return ['', stateText(after, writing)]
  if (!isState(after)) return [stateText(before, writing), '']
  const differs = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(after[name])
  const own = (state: State) => writingOf(state, writingOf(after, writingOf(before, writing)))
  const text = (state: State) =>
    fieldTexts(Object.fromEntries(Object.entries(state).filter(([name]) => differs(name))), '', own(state))
  return [text(before), text(after)]
}

const stateText = (state: unknown, writing: Writing): string =>
  isState(state) ? fieldTexts(withoutNulls(state), '', writingOf(state, writing)) : ''

const withoutNulls = (state: State): State =>
  Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null))

const writingOf = ({ currency }: State, writing: Writing): Writing =>
  typeof currency === 'string' && currencyCodes.includes(currency) ? { ...writing, currency } : writing

const fieldTexts = (state: State, within: string, writing: Writing): string =>
  Object.entries(state)
    .map(
      ([name, value]) =>
        `${nameIn(TRAIL_FIELDS, writing.language, name)}: ${valueText(name, value, { state, within, writing })}`,
    )
    .join('; ')

interface Place {
  readonly state: State
  /** The name of the object that the value is in. */
  readonly within: string
  readonly writing: Writing
}

function valueText(name: string, value: unknown, { state, within, writing }: Place): string {
  const { language, zone, currency } = writing
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value))
    return value.length === 0 ? '–' : value.map((one) => valueText(name, one, { state, within, writing })).join(', ')
  if (isState(value)) return `(${fieldTexts(withoutNulls(value), name, writingOf(value, writing))})`
  if (typeof value === 'boolean') return nameIn(ANSWERS, language, String(value))
  const text = JSON.isRawJSON(value) ? JSON.stringify(value) : String(value)
  const isWhole = /^-?\d+$/.test(text)
  const isAmount = AMOUNTS.has(name) || (name === 'value' && state.base === 'fixed')
  if (isWhole && isAmount) return `${money(BigInt(text), currency)} ${currency}`
  if (isWhole && (RATES.has(name) || (name === 'value' && 'base' in state))) return `${rateToNumber(BigInt(text))} %`
  const instant = INSTANTS.has(name) ? fromRfc3339(text) : undefined
  if (instant !== undefined) return timeText(instant, zone)
  if (name === 'name' && 'rules' in state) return nameIn(PRESET_WORDS, language, text)
  return nameIn(NAMED_WITHIN[within]?.[name] ?? NAMED[name] ?? {}, language, text)
}
