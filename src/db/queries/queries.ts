import type pg from 'pg'
import type { Stamping } from '../audit/stamp.ts'

/** The target of statements: the pool, or one connection with a transaction open on it. */
export interface Queries {
  readonly pool: Pick<pg.ClientBase, 'query'> & Stamping
}
