import type { Condition } from '../conditions.ts'
import type { ExportField, FieldType, Need, Origin } from '../format.ts'
import type { SourceName } from '../sources.ts'

// Short words for the tables of the formats that come with the service.

/** What a table says of a field besides its name and its origin. */
type More = Partial<Omit<ExportField, 'name' | 'type' | 'need' | 'when' | 'from'>>

/** When a field has to have a value: always, while a condition holds, or never. */
type When = 'M' | 'O' | Condition

const needOf = (when: When): { readonly need: Need; readonly when?: Condition } => {
  if (when === 'M') return { need: 'mandatory' }
  return when === 'O' ? { need: 'optional' } : { need: 'conditional', when }
}

const fieldOf = (name: string, [when, type]: readonly [When, FieldType], from: Origin, more: More): ExportField => ({
  name,
  type,
  ...needOf(when),
  from,
  ...more,
})

type How = readonly [when: When, type: FieldType]

/** Returns a field with the value of a source. */
export const from = (name: string, how: How, source: SourceName, more: More = {}): ExportField =>
  fieldOf(name, how, { source }, more)

/** Returns a field that is the same in each row. */
export const always = (name: string, how: How, constant: string, more: More = {}): ExportField =>
  fieldOf(name, how, { constant }, more)

/** Returns a field that a setting of the lender fills. */
export const set = (name: string, how: How, setting: string, more: More = {}): ExportField =>
  fieldOf(name, how, { setting }, more)

/** Returns fields of which the service knows nothing: they are empty. */
export const empty = (...names: readonly string[]): ExportField[] =>
  names.map((name) => fieldOf(name, ['O', 'text'], null, {}))
