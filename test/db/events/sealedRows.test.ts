import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UNSEALED } from '../../../src/db/book/coverage.ts'
import { SEALED, SEALED_TRAIL, type SealedName, textsOf } from '../../../src/db/events/sealedColumns.ts'
import { readRowsInText, readSealed, rowsInText } from '../../../src/db/events/sealedRows.ts'
import { type SealedRow, type TrailedChange, toTrailedChange } from '../../../src/db/events/trailedChange.ts'
import { inSnapshot } from '../../../src/db/postgres/transaction.ts'
import type { StoredChange } from '../../../src/domain/loan/change/changeText.ts'
import { SANDBOX } from '../../support/sandbox.ts'
import { type BookIds, makeEveryKind } from '../../support/sealedBook.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let ids: BookIds
beforeAll(async () => {
  service = await startService()
  ids = await makeEveryKind(service)
})
afterAll(() => service.close())

const sql = async <Row extends object>(text: string, values: unknown[] = []) =>
  (await service.owner.pool.query<Row>(text, values)).rows

const trailOf = async (organizationId: number): Promise<TrailedChange[]> => {
  const rows = await sql<Pick<TrailedChange, 'id' | 'trail'>>(
    `SELECT id, ${textsOf(SEALED_TRAIL, 'a')} AS trail FROM audit_entry a WHERE organization_id = $1 ORDER BY id`,
    [organizationId],
  )
  return rows.map(toTrailedChange)
}

const read = (organizationId: number, changes: readonly TrailedChange[]) =>
  inSnapshot(service.deps.db, (snapshot) => readSealed(snapshot, organizationId, changes))

const inText = (organizationId: number, changes: readonly TrailedChange[]) =>
  inSnapshot(service.deps.db, (snapshot) => readRowsInText(snapshot, organizationId, changes, new Set()))

const readBoth = async (...of: Parameters<typeof read>) => [
  ...(await read(...of)).values(),
  ...(await inText(...of)).values(),
]

/** Returns the change of a new loan as it is written of one with a long schedule, and as release 0.1.0 wrote it of every loan. */
function withoutContract(change: TrailedChange): TrailedChange {
  const place = SEALED_TRAIL.indexOf('change')
  const { made, ...rest } = JSON.parse(change.trail[place]!)
  expect(made).toMatchObject({ accountNo: expect.any(String), schedule: expect.any(String) })
  return { ...change, trail: change.trail.with(place, JSON.stringify(rest)) }
}

/** Every row that the trail of the book leads to, by its table and key. */
async function readAll(): Promise<Map<string, SealedRow>> {
  const rows = new Map<string, SealedRow>()
  for (const organizationId of [0, 1, 2])
    for (const subjects of await readBoth(organizationId, await trailOf(organizationId)))
      for (const one of subjects) rows.set(`${one.table} ${one.key}`, one)
  return rows
}

describe('the sealed columns', () => {
  it('and those that are left out, with the key, are all columns of each table', async () => {
    const columns = await sql<{ table: string; columns: string[] }>(
      `SELECT table_name AS table, array_agg(column_name::text) AS columns FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' GROUP BY table_name`,
    )
    const stored = new Map(columns.map((one) => [one.table, one.columns]))
    for (const [table, { key, columns, leftOut }] of Object.entries(SEALED)) {
      const owner = ['organization', 'signing_key'].includes(table) ? [] : ['organization_id']
      expect([...owner, ...key, ...columns, ...Object.keys(leftOut)].toSorted(), table).toEqual(
        stored.get(table)!.toSorted(),
      )
    }
    expect([...Object.keys(SEALED), ...Object.keys(UNSEALED)].toSorted()).toEqual([...stored.keys()].toSorted())
  })
})

/** SQL for the rows that are read here: not those of the test organization of the demonstration. */
function isRead(table: SealedName): string {
  if (table === 'signing_key') return 'true'
  return `${table === 'organization' ? 'id' : 'organization_id'} <> ${SANDBOX}`
}

describe('the rows that changes made true', () => {
  it.each(Object.keys(SEALED) as SealedName[])('every row of %s, with its columns', async (table) => {
    const { key, columns } = SEALED[table]
    const stored = await sql<Record<string, string | null>>(
      `SELECT concat_ws('/', ${key.join(', ')}) AS key_of_row, ${columns.map((one) => `${one}::text`).join(', ')} FROM ${table}
       WHERE ${isRead(table)} ${table === 'credit_standing' ? 'AND boosts > 0' : ''}`,
    )
    expect(stored.length).toBeGreaterThan(0)
    const rows = await readAll()
    for (const { key_of_row, ...values } of stored)
      expect(rows.get(`${table} ${key_of_row}`)?.values, `${table} ${key_of_row}`).toEqual(Object.values(values))
    expect([...rows.values()].filter((one) => one.table === table)).toHaveLength(stored.length)
  })

  it('a row that is not there has nulls, also where its key is none', async () => {
    const loanChange = { posted: { id: 99_999_999_999_999_999_999n, type: 'Repayment' } } as StoredChange
    const change = {
      id: 1n,
      entity: 'loan',
      entityId: '77',
      action: 'create',
      loanChange,
      trail: [],
    }
    const nulls = (table: SealedName, key: string) => ({ table, key, values: SEALED[table].columns.map(() => null) })
    expect(await read(1, [change])).toEqual(new Map([[1n, [nulls('loan', '77')]]]))
    expect(await inText(1, [change])).toEqual(new Map([[1n, [nulls('loan_entry', '99999999999999999999')]]]))
    const odd = { ...change, entity: 'customer', entityId: 'asha', loanChange: undefined }
    expect(await read(1, [odd])).toEqual(new Map([[1n, [nulls('customer', 'asha')]]]))
    const scored = (await trailOf(1)).find(({ action }) => action === 'score')!
    expect(await read(1, [{ ...scored, entityId: 'asha' }])).toEqual(
      new Map([[scored.id, [nulls('credit_decision', `of customer ${scored.entityId}`)]]]),
    )
  })

  it('nothing of what changes no row', async () => {
    const trail = await trailOf(1)
    const reversal = trail.find(({ action }) => action === 'reverse')!
    expect(await read(1, [reversal])).toEqual(new Map([[reversal.id, []]]))
    const adding = trail.find(({ loanChange }) => String(loanChange?.posted?.id) === ids.entry)!
    expect(await read(1, [adding])).toEqual(new Map([[adding.id, []]]))
    expect((await inText(1, [adding])).get(adding.id)).toEqual(rowsInText(adding))
  })

  it('are read in part where they are too many, and the rest is asked for again', async () => {
    const loans = (await trailOf(1)).filter(({ entity, action }) => entity === 'loan' && action === 'create')
    const many = Array.from({ length: 3 }, (_, index) => ({ ...withoutContract(loans[0]!), id: BigInt(index) }))
    await sql('UPDATE loan SET number_of_repayments = 60000 WHERE id = $1', [ids.plain])
    const part = await read(1, many)
    await sql('UPDATE loan SET number_of_repayments = 6 WHERE id = $1', [ids.plain])
    expect([...part.keys()]).toEqual([0n])
    expect((await read(1, many)).size).toBe(3)
  })
})
