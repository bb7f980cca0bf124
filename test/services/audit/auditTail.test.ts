import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../../src/db/postgres/client.ts'
import { followTrail, readTrail, type TrailFilter } from '../../../src/services/audit/audit.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('rows of the trail are added by SQL')
})
afterAll(() => service.close())

const INSERT = `INSERT INTO audit_entry (organization_id, at, action, entity, entity_id) VALUES (1, now(), $1, 'test', '1')`
const write = (action: string) => service.deps.db.pool.query(INSERT, [action])

/** What one statement of the follower answered: its rows, and whether those say what happened. */
interface SentStatement {
  readonly rows: number
  readonly whole: boolean
}

/** Follows the trail without a pause, and calls `before` ahead of each SQL statement, until it returns true. */
async function follow(filter: TrailFilter, most: number, before: (statement: number) => Promise<boolean> | boolean) {
  const { db } = service.deps
  const stopping = new AbortController()
  const statements: SentStatement[] = []
  const query = async (config: { text: string }, values?: unknown[]) => {
    if (await before(statements.length)) stopping.abort()
    const { rows } = await db.pool.query(config, values)
    statements.push({ rows: rows.length, whole: rows.some((row) => 'after' in row) })
    return { rows }
  }
  const yielded: string[] = []
  const watched = { ...db, pool: { query } } as unknown as Db
  for await (const { action } of followTrail({ db: watched }, filter, { most, stopping: stopping.signal, everyMs: 0 }))
    yielded.push(action)
  return { yielded, statements }
}

describe('following the trail', () => {
  it('yields each row once, whenever it is committed', async () => {
    const written: string[] = []
    const { yielded } = await follow({ entity: 'test' }, 50, async (statement) => {
      if (statement > 20) return true
      written.push(`row ${statement}`)
      await write(`row ${statement}`)
      return false
    })
    expect(yielded).toEqual(written)
  })

  it('yields also a row that is committed after others with higher numbers', async () => {
    const late = await service.deps.db.pool.connect()
    await late.query('BEGIN')
    await late.query(INSERT, ['late'])
    const { yielded } = await follow({ entity: 'test' }, 1, async (statement) => {
      if (statement === 4) await write('higher')
      if (statement === 12) await late.query('COMMIT')
      return statement > 20
    })
    late.release()
    expect(yielded.slice(1)).toEqual(['higher', 'late'])
  })

  it('yields what a filter lets through, also among many other rows', async () => {
    const { yielded } = await follow({ action: 'wanted' }, 50, async (statement) => {
      await write(statement % 5 === 0 ? 'wanted' : 'other')
      return statement > 20
    })
    expect(yielded).toHaveLength(5)
  })

  it('of a trail in which nothing is written, reads no row again, and after two minutes no number', async () => {
    const most = (await readTrail(service.deps, {}, 1_000)).length
    const { yielded, statements } = await follow({}, 1_000, (statement) => statement > 600)
    expect(yielded).toHaveLength(most)
    const [, numbers, latest, ...rounds] = statements
    expect(numbers).toEqual({ rows: most, whole: false })
    expect(latest).toEqual({ rows: most, whole: true })
    expect(new Set(rounds.filter(({ whole }) => whole).map(({ rows }) => rows))).toEqual(new Set([1]))
    expect(rounds.slice(0, 2).map(({ rows }) => rows)).toEqual([1, most])
    expect(rounds.slice(-4).map(({ rows }) => rows)).toContain(0)
    expect(rounds.slice(-4).reduce((sum, { rows }) => sum + rows, 0)).toBe(2)
  })
})
