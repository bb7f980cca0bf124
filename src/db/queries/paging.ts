import type { Cursor } from './cursor.ts'

/** A page of a list: which, and how long. */
export interface Page {
  /** From 1. */
  readonly page: number
  readonly rows: number
}

/** The items of a page, and the number of items on all pages. */
export interface Listed<T> {
  readonly items: readonly T[]
  readonly total: number
}

/** A step of a walk through a list: the rows after a cursor, or from the beginning. */
export interface Step {
  readonly cursor: Cursor | undefined
  readonly rows: number
}

/** The part of a list that is read. */
export type Position = Page | Step

/** A part of a list of an organization's, as it is asked for. */
export interface Asked<Filter> {
  readonly organizationId: number
  readonly filter: Filter
  readonly position: Position
}

/** The items that were read: of a page with the number of items on all pages, and the cursor after the last of them. */
export interface Found<T> {
  readonly items: readonly T[]
  readonly total?: number | undefined
  readonly next: Cursor | undefined
}

/** Prisma sends a larger one modulo 2^32, and so another page than was asked for; no list has so many. */
const LARGEST_OFFSET = 2 ** 31 - 1

/** The part of a list that Prisma reads for a page. */
export const sliceOf = ({ page, rows }: Page): { skip: number; take: number } => ({
  skip: Math.min((page - 1) * rows, LARGEST_OFFSET),
  take: rows,
})
