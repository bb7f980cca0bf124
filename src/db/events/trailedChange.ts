import { changeFromText } from '../../domain/loan/change/changeFromText.ts'
import type { StoredChange } from '../../domain/loan/change/changeText.ts'
import type { PaymentChange } from '../../domain/payments/paymentChange.ts'
import { PAYMENT, paymentFromText } from '../../domain/payments/paymentText.ts'
import { SEALED_TRAIL, type SealedName, type Texts } from './sealedColumns.ts'

/** A row that a change made true, in texts of Postgres. */
export interface SealedRow {
  readonly table: SealedName
  /** The values of the key's columns, joined by `/`. */
  readonly key: string
  /** By the columns of `SEALED`; all null: the row is not there. */
  readonly values: Texts
}

/** A row of the trail by the texts of its columns, and what it is about. */
export interface TrailedRow {
  readonly id: bigint
  readonly entity: string
  readonly entityId: string
  readonly action: string
  /** By the columns of `SEALED_TRAIL`. */
  readonly trail: Texts
}

/** The part of a row of the trail that says which rows the change made true. */
export interface TrailedChange extends TrailedRow {
  /** The change of a loan; undefined for a change of something else, and for a damaged row. */
  readonly loanChange: StoredChange | undefined
}

const placeOf = (column: (typeof SEALED_TRAIL)[number]): number => SEALED_TRAIL.indexOf(column)
const ENTITY = placeOf('entity')
const ENTITY_ID = placeOf('entity_id')
const ACTION = placeOf('action')
const CHANGE = placeOf('change')
const AFTER = placeOf('after')

/** Returns the text of a column of a row of the trail. */
export const trailText = ({ trail }: Pick<TrailedRow, 'trail'>, column: (typeof SEALED_TRAIL)[number]) =>
  trail[placeOf(column)] ?? null

/** Returns a row of the trail from the texts of its columns. */
export const toTrailedRow = ({ id, trail }: { readonly id: bigint; readonly trail: Texts }): TrailedRow => ({
  id,
  entity: trail[ENTITY] ?? '',
  entityId: trail[ENTITY_ID] ?? '',
  action: trail[ACTION] ?? '',
  trail,
})

/** Reads the change of a loan from a row of the trail; undefined for a change of something else, and for a damaged row. */
export function loanChangeIn({ trail }: Pick<TrailedRow, 'trail'>): StoredChange | undefined {
  const text = trail[CHANGE] ?? null
  return text === null ? undefined : changeFromText(text)
}

/** Reads the payment after a change of one from a row of the trail; undefined for a change of something else, and for a damaged row. */
export const paymentChangeIn = ({ entity, trail }: Pick<TrailedRow, 'entity' | 'trail'>): PaymentChange | undefined =>
  entity === PAYMENT ? paymentFromText(trail[AFTER] ?? null) : undefined

/** Returns a row of the trail from the texts of its columns, with the change of a loan. */
export function toTrailedChange(row: { readonly id: bigint; readonly trail: Texts }): TrailedChange {
  return { ...toTrailedRow(row), loanChange: loanChangeIn(row) }
}
