import type { Condition } from './conditions.ts'
import { isOfPerson, type SourceName } from './sources.ts'

/** How a value is written. */
export const FIELD_TYPES = ['text', 'digits', 'number', 'decimal', 'date', 'amount'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

/** Whether a field has to have a value: always, while a condition holds, or never. */
export const NEEDS = ['mandatory', 'conditional', 'optional'] as const
export type Need = (typeof NEEDS)[number]

/** How the days of a file are written. */
export const DATE_STYLES = ['YYYYMMDD', 'YYYY-MM-DD', 'DD/MM/YYYY'] as const
export type DateStyle = (typeof DATE_STYLES)[number]

/** How its amounts are written: in hundredths without a point, with two decimals, or in whole units of the currency. */
export const AMOUNT_STYLES = ['hundredths', 'decimal', 'whole'] as const
export type AmountStyle = (typeof AMOUNT_STYLES)[number]

/** How the ends of lines are written. */
export const LINE_ENDS = { lf: '\n', crlf: '\r\n' } as const
export type LineEnd = keyof typeof LINE_ENDS

/** When cells stand in quotes: never, so that a value that would need them is an exception; or where they are needed. */
export const QUOTES = ['never', 'needed'] as const

/** The span of which a file is: a loan that ended before it is left out. */
export const SPANS = ['day', 'month'] as const
export type Span = (typeof SPANS)[number]

/** Where the value of a field comes from: one of the three. Null: no value, ever. */
export type Origin =
  | { readonly source: SourceName }
  | { readonly constant: string }
  | { readonly setting: string }
  | null

/** A field of a row. */
export interface ExportField {
  readonly name: string
  readonly type: FieldType
  /** The most characters; left out: the layout names none. */
  readonly longest?: number | undefined
  /** Of a `decimal`; 2 when left out. */
  readonly decimals?: number | undefined
  readonly need: Need
  /** Of a conditional field: when it has to have a value. It is empty at any other time. */
  readonly when?: Condition | undefined
  readonly from: Origin
  /** The name of the map from words to the codes of the layout. */
  readonly map?: string | undefined
  /** The amount counts only for loans in this currency: no amount is converted. */
  readonly onlyCurrency?: string | undefined
}

/** A range of days in arrears, and its class. */
export interface DaysClass {
  readonly from: number
  /** Null: without end. */
  readonly to: number | null
  readonly code: string
}

/** The code of loans of which a condition holds. */
export interface StatusCode {
  readonly when: Condition
  readonly code: string
}

/** When a loan may be named as one that is not paid. */
export interface NoticeRule {
  /** Days in arrears from which a listing is negative; a loan that is written off always is. */
  readonly fromDays: number
  /** Days that have to lie between the notice to the borrower and the day of the file. */
  readonly days: number
  /** What is owed at most where no negative listing is allowed, in whole units of the currency; null: no such bound. */
  readonly upTo: number | null
  readonly currency: string | null
}

/** Which loans are left out of a file. */
export interface ExclusionRules {
  /** Loans that ended before the month or the day of the file; null: they are told for ever. */
  readonly endedBefore: Span | null
  /** Whether the borrower has to have agreed that the bureau is told. */
  readonly consent: boolean
  /** Whether loans with an open dispute are left out. */
  readonly disputed: boolean
  readonly notice: NoticeRule | null
}

/** The first row of a file: the names of the fields, cells of its own, or none. */
export type HeaderRow =
  | { readonly kind: 'none' }
  | { readonly kind: 'names' }
  | { readonly kind: 'fields'; readonly mark: string | null; readonly fields: readonly ExportField[] }

/** A constant of the lender, which a request for a file has to give. */
export interface FormatSetting {
  readonly name: string
  readonly means: string
  /** The most characters. */
  readonly longest: number
}

/** A layout of files, as data. */
export interface ExportFormat {
  readonly name: string
  readonly version: string
  readonly title: string
  /** Where the layout comes from. */
  readonly source: string
  readonly separator: string
  readonly quotes: (typeof QUOTES)[number]
  readonly lineEnd: LineEnd
  readonly dates: DateStyle
  readonly amounts: AmountStyle
  readonly header: HeaderRow
  /** The first cell of each row; null: none. */
  readonly mark: string | null
  readonly settings: readonly FormatSetting[]
  readonly maps: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly classes: readonly DaysClass[]
  /** The first whose condition holds is the status. */
  readonly statuses: readonly StatusCode[]
  readonly exclude: ExclusionRules
  readonly fields: readonly ExportField[]
}

/** Returns the class of days in arrears; null where the format has none for them. */
export const classOf = ({ classes }: Pick<ExportFormat, 'classes'>, days: number): string | null =>
  classes.find(({ from, to }) => days >= from && (to === null || days <= to))?.code ?? null

/** Returns whether files of a format say who borrowers are. */
export const namesPeople = ({ fields }: Pick<ExportFormat, 'fields'>): boolean =>
  fields.some(({ from }) => from !== null && 'source' in from && isOfPerson(from.source))

/** Returns the settings that a format needs, by name. */
export const settingNames = ({ settings }: Pick<ExportFormat, 'settings'>): string[] => settings.map(({ name }) => name)
