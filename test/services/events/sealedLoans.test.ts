import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SEALED_TRAIL, textsOf } from '../../../src/db/events/sealedColumns.ts'
import { readRowsInText } from '../../../src/db/events/sealedRows.ts'
import { type TrailedChange, toTrailedChange } from '../../../src/db/events/trailedChange.ts'
import { inSnapshot } from '../../../src/db/postgres/transaction.ts'
import { chainSecret, sealChange } from '../../../src/services/events/seal.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { opsOn } from '../../support/ops.ts'
import { aBorrower } from '../../support/recordBodies.ts'
import { startService, type TestService } from '../../support/service.ts'

const RECORDS = 'records.localhost'

/** Loans of a product with a short schedule, and of one with 61 lines. */
let loans: { readonly short: string; readonly long: string }

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('rows of loans are changed by SQL')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const limits = { minPrincipal: 1_000, maxPrincipal: 1_000_000, interestRate: 3 }
  const body = { id: 61, name: 'Five years and a month', numberOfRepayments: 61, ...limits }
  const answer = await service.post('/v1/loan-products', { body, token: service.tokens.operator })
  expect(answer.status, answer.text).toBe(200)
  const fees = [{ name: 'Stamp', base: 'principal', rate: 1, when: 'disbursement', treatment: 'deducted' }]
  const rules = { earlySettlement: 'interest_to_period_end', interestRate: 0.125, fees }
  const ruled = { id: 62, name: 'With rules', numberOfRepayments: 3, ...limits, ...rules }
  const other = await service.post('/v1/loan-products', { body: ruled, token: service.tokens.operator })
  expect(other.status, other.text).toBe(200)
  loans = { short: await lend(3), long: await lend(61) }
})
afterAll(() => service.close())

async function lend(productId: number, more: object = {}): Promise<string> {
  const answer = await service.post('/v1/loans', {
    body: { customerId: 'asha', productId, principal: 61_000, ...more },
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.id
}

/** Makes a loan that pays off another. */
async function topUp(): Promise<string> {
  await lend(3, { externalId: 'first' })
  return lend(3, { externalId: 'second', principal: 200_000, settles: ['first'] })
}

/** Makes a loan of a record system, with members that the book has no column for. */
async function lendRecord(): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await service.post(path, { body, host: RECORDS })
    expect(answer.status, answer.text).toBe(200)
  }
  await post('/v1/borrowers', { ...aBorrower, id: 7 })
  const basic = { loan_id: 9, borrower_id: 7, principal_amount: 5_000, duration: 1, duration_period: 'Months' }
  const members = { description: 'A pump', loan_type: 'Farm' }
  await post('/v1/loans', { ...basic, ...members, released_date: '2026-01-31', due_date: '2026-03-01' })
  const [row] = await sql<{ id: bigint }>('SELECT id FROM loan WHERE record IS NOT NULL')
  return String(row!.id)
}

const sql = async <Row extends object>(text: string, values: unknown[] = []) =>
  (await service.owner.pool.query<Row>(text, values)).rows

/** What a check finds, after everything is sealed. */
async function check(): Promise<string[]> {
  await drain(sequencerJob(service.deps))
  const { json, err } = await opsOn(service)('book check --json')
  expect(json, err).not.toBeNull()
  return (json.differences as { of: string; message: string }[]).map(({ of, message }) => `${of}: ${message}`)
}

interface Sealed {
  readonly digest: Buffer | null
  readonly changeId: bigint
}

/** The seal of the change that made a loan. */
const sealOf = async (loan: string): Promise<Sealed> =>
  (
    await sql<Sealed>(
      `SELECT e.digest, e.change_id AS "changeId" FROM event e JOIN audit_entry a ON a.organization_id = e.organization_id
         AND a.id = e.change_id AND a.entity = 'loan' AND a.entity_id = $1 AND a.action = 'create' WHERE e.part = 0`,
      [loan],
    )
  )[0]!

/** Runs SQL, checks the book, and takes the SQL back. */
async function spoiled(spoil: string, mend: string): Promise<string[]> {
  await sql(spoil)
  try {
    return (await check()).filter((one) => /what change|among the rows|sealed it/.test(one))
  } finally {
    await sql(mend)
  }
}

beforeEach(async () => expect(await check()).toEqual([]))

describe('the seal of a new loan', () => {
  it('has no digest where the text of the change has the loan, and one where the schedule is too long for the text', async () => {
    expect((await sealOf(loans.short)).digest).toBeNull()
    expect((await sealOf(loans.long)).digest).not.toBeNull()
  })

  it.each(['short', 'long'] as const)(
    'names a changed column, a line that is gone, and one more: %s',
    async (which) => {
      const loan = loans[which]
      const { changeId } = await sealOf(loan)
      const line = `loan_id = ${loan} AND period = 2`
      const set = (value: string) => `UPDATE loan_period SET interest = interest ${value} WHERE ${line}`
      expect(await spoiled(set('+ 1'), set('- 1'))).toEqual([
        `loan_period ${loan}/2: interest is not what change ${changeId} sealed`,
      ])
      const record = (value: string) => `UPDATE loan SET created_at = created_at ${value} WHERE id = ${loan}`
      expect(await spoiled(record(`+ interval '1 second'`), record(`- interval '1 second'`))).toEqual([
        `loan ${loan}: created_at is not what change ${changeId} sealed`,
      ])
      const add = `INSERT INTO loan_period SELECT organization_id, loan_id, 900, from_date, due_date, 0, 0, 0 FROM loan_period`
      expect(
        await spoiled(`${add} WHERE ${line}`, `DELETE FROM loan_period WHERE loan_id = ${loan} AND period = 900`),
      ).toContain(`loan_period ${loan}/900: is not among the rows that change ${changeId} sealed`)
      const remove = `CREATE TABLE kept AS SELECT * FROM loan_period WHERE ${line}; DELETE FROM loan_period WHERE ${line}`
      expect(await spoiled(remove, 'INSERT INTO loan_period SELECT * FROM kept; DROP TABLE kept')).toContain(
        `loan_period ${loan}/2: is not there, and change ${changeId} sealed it`,
      )
    },
  )

  it.each([
    ['with rules of its product', async () => lend(62)],
    ['that pays off another', topUp],
    ['without a product, with members of a record system', lendRecord],
  ])('is that of its row: a loan %s', async (_, make) => {
    const loan = await make()
    expect(await check()).toEqual([])
    expect((await sealOf(loan)).digest).toBeNull()
  })

  it('that release 0.1.0 made, while it served beside this one, has a digest besides: the check finds the same', async () => {
    const loan = await lend(3)
    expect(await check()).toEqual([])
    const change = await changeOf(loan)
    await sealAsBefore(change)
    expect((await sealOf(loan)).digest).not.toBeNull()
    expect(await check()).toEqual([])
    const set = (value: string) => `UPDATE loan SET principal = principal ${value} WHERE id = ${loan}`
    expect(await spoiled(set('+ 1'), set('- 1'))).toEqual([
      `loan ${loan}: principal is not what change ${change.id} sealed`,
    ])
  })
})

async function changeOf(loan: string): Promise<TrailedChange> {
  const [row] = await sql<Pick<TrailedChange, 'id' | 'trail'>>(
    `SELECT id, ${textsOf(SEALED_TRAIL, 'a')} AS trail FROM audit_entry a
     WHERE entity = 'loan' AND entity_id = $1 AND action = 'create'`,
    [loan],
  )
  return toTrailedChange(row!)
}

/** Seals the last change again, with a digest of the rows of its loan. */
async function sealAsBefore(change: TrailedChange): Promise<void> {
  const rows = await inSnapshot(service.deps.db, (snapshot) => readRowsInText(snapshot, 1, [change], new Set()))
  const subjects = rows.get(change.id)!
  const [before] = await sql<{ hash: Buffer }>(
    'SELECT hash FROM event WHERE organization_id = 1 AND change_id < $1 ORDER BY change_id DESC, part DESC LIMIT 1',
    [change.id],
  )
  const events = await sql<{ type: string; sequence: bigint | null }>(
    'SELECT type, sequence FROM event WHERE organization_id = 1 AND change_id = $1 ORDER BY part',
    [change.id],
  )
  const sealed = sealChange(chainSecret(service.deps.config.keyEncryptionSecret!), before!.hash, {
    organizationId: 1,
    changeId: change.id,
    trail: change.trail,
    subjects,
    events,
  })
  for (const { part, digest, marks, hash } of sealed.parts)
    await sql(
      'UPDATE event SET digest = $1, marks = $2, hash = $3 WHERE organization_id = 1 AND change_id = $4 AND part = $5',
      [digest, marks, hash, change.id, part],
    )
  await sql('UPDATE event_chain SET hash = $1 WHERE organization_id = 1', [sealed.hash])
}
