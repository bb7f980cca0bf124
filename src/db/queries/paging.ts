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

/** Prisma sends a larger one modulo 2^32, and so another page than was asked for; no list has so many. */
const LARGEST_OFFSET = 2 ** 31 - 1

/** The part of a list that Prisma reads for a page. */
export const sliceOf = ({ page, rows }: Page): { skip: number; take: number } => ({
  skip: Math.min((page - 1) * rows, LARGEST_OFFSET),
  take: rows,
})
