import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { readEarlierTerms } from '../../../src/db/loans/earlierTerms.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { opsOn } from '../../support/ops.ts'
import { aBasicLoan, anExtendedLoan } from '../../support/recordBodies.ts'
import { openRecordBook } from '../../support/recordBook.ts'
import type { RecordId } from '../../support/recordIds.ts'
import { FIRST_DAY } from '../../support/service.ts'

const { service, lend, update, repay } = await openRecordBook()
service.damages('rows of the trail are changed by SQL')
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

interface Shown {
  readonly spans: readonly { readonly from: string; readonly to?: string; bucket: string; daysPastDueTo: number }[]
}
const read = (id: RecordId, query: string) => service.get(`/v1/loans/${id}/delinquency?${query}`)
const readSpans = async (id: RecordId, query: string) =>
  (await service.get<Shown>(`/v1/loans/${id}/delinquency?${query}`)).body.spans
const bucketsOf = async (id: RecordId, query: string) =>
  (await readSpans(id, query)).map(({ from, bucket, daysPastDueTo }) => `${from} ${bucket} ${daysPastDueTo}`)
const change = async (id: RecordId, body: object) => {
  const { status, text } = await update(id, body)
  expect(status, text).toBe(200)
}
const countRows = async (id: RecordId) => {
  const { rows } = await service.owner.pool.query('SELECT version FROM loan_earlier_terms WHERE loan_id = $1', [id])
  return rows.length
}
const check = async () => {
  const { code, json } = await opsOn(service)<{ differences: { of: string; message: string }[] }>('book check --json')
  return { code, differences: json.differences }
}

describe('GET /v1/loans/{id}/delinquency of a loan whose terms were changed', () => {
  it('answers by the terms and the transactions that were known at each instant', async () => {
    const id = await lend({ ...aBasicLoan, due_date: '2026-02-10' })
    service.clock.set('2026-02-20')
    await repay(id, { collection_date: '2026-02-05', amount: 400 })
    await change(id, { principal_amount: 600, due_date: '2026-03-01' })
    service.clock.set('2026-03-10')
    await change(id, { due_date: '2026-04-01' })
    service.clock.set('2026-03-12')
    await repay(id, { collection_date: '2026-02-08', amount: 200 })
    const late = ['2026-01-15 current 0', '2026-02-11 1-30 5']
    expect(await bucketsOf(id, 'knownAt=2026-02-15')).toEqual(late)
    expect(await bucketsOf(id, 'knownAt=2026-02-20T11:59:59%2B03:00&asOf=2026-02-15')).toEqual(late)
    expect(await bucketsOf(id, 'knownAt=2026-02-25')).toEqual(['2026-01-15 current 0'])
    expect(await bucketsOf(id, 'knownAt=2026-03-05')).toEqual(['2026-01-15 current 0', '2026-03-02 1-30 4'])
    expect(await bucketsOf(id, 'knownAt=2026-03-11')).toEqual(['2026-01-15 current 0'])
    expect(await bucketsOf(id, 'knownAt=2026-03-12')).toEqual(['2026-01-15 current 0'])
    expect((await readSpans(id, 'knownAt=2026-03-12'))[0]?.to).toBe('2026-02-07')
    expect(await countRows(id)).toBe(2)
  })

  it('has the schedule of then, and the day of disbursement of then', async () => {
    const id = await lend(anExtendedLoan)
    service.clock.set('2026-03-15')
    const then = ['2026-01-31 current 0', '2026-03-01 1-30 15']
    expect(await bucketsOf(id, '')).toEqual(then)
    service.clock.set('2026-03-16')
    await change(id, { released_date: '2026-03-01' })
    expect(await bucketsOf(id, '')).toEqual(['2026-03-01 current 0'])
    expect(await bucketsOf(id, 'knownAt=2026-03-15')).toEqual(then)
    expect(await bucketsOf(id, 'knownAt=2026-03-15&asOf=2026-02-01')).toEqual(['2026-01-31 current 0'])
    const { status, body } = await read(id, 'knownAt=2026-03-16&asOf=2026-02-01')
    expect([status, body.details[0]!.field]).toEqual([400, 'asOf'])
  })

  it('keeps no terms of a change of remarks, and answers before it', async () => {
    const id = await lend({ ...aBasicLoan, due_date: '2026-02-10' })
    service.clock.set('2026-02-20')
    await change(id, { description: 'Beans', duration_period: 'Month', products: [], borrower_id: 2 })
    expect(await countRows(id)).toBe(0)
    expect(await bucketsOf(id, 'knownAt=2026-02-15')).toEqual(['2026-01-15 current 0', '2026-02-11 1-30 5'])
  })

  it('keeps the terms before each of two changes that come at once', async () => {
    const id = await lend({ ...aBasicLoan, due_date: '2026-02-10' })
    service.clock.set('2026-02-20')
    const answers = await Promise.all([update(id, { due_date: '2026-03-01' }), update(id, { principal_amount: 900 })])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await countRows(id)).toBe(2)
    expect(await bucketsOf(id, 'knownAt=2026-02-19')).toEqual(['2026-01-15 current 0', '2026-02-11 1-30 9'])
    expect(await bucketsOf(id, 'knownAt=2026-02-20')).toEqual(['2026-01-15 current 0'])
  })

  it('is what book check compares a charge-off with, whose amount was owed by the terms of then', async () => {
    const id = await lend({ ...aBasicLoan, due_date: '2026-02-10' })
    service.clock.set('2026-02-20')
    const token = service.tokens.operator
    const chargedOff = await service.post(`/v1/loans/${id}/repayments/charge-off`, { token, body: {} })
    expect(chargedOff.status, chargedOff.text).toBe(200)
    // Money of before pays the loan off: the charge-off is of nothing, and the terms may change again.
    const { body: open } = await service.get<{ totalOutstanding: number }>(`/v1/loans/${id}`)
    await repay(id, { collection_date: '2026-02-05', amount: open.totalOutstanding })
    await change(id, { principal_amount: 2_000 })
    expect((await check()).differences.filter(({ of }) => of.includes(String(id)))).toEqual([])
  })

  it('is proven by book check and by the seal', async () => {
    const id = await lend({ ...aBasicLoan, due_date: '2026-02-10' })
    service.clock.set('2026-02-20')
    await change(id, { due_date: '2026-03-01' })
    const others = (await check()).differences.filter(({ of }) => of.includes(String(id)))
    expect(others).toEqual([])
    await drain(sequencerJob(service.deps))
    await service.owner.pool.query(
      `UPDATE loan_earlier_terms SET terms = replace(terms, '2026-02-10', '2026-02-09') WHERE loan_id = ${id}`,
    )
    await service.owner.pool.query(
      `UPDATE audit_entry a SET after = jsonb_set(after, '{earlierTerms,sha256}',
         to_jsonb(encode(sha256(convert_to(t.terms, 'UTF8')), 'hex')))
       FROM loan_earlier_terms t WHERE t.loan_id = ${id} AND a.entity_id = '${id}' AND a.action = 'update'`,
    )
    // Row and trail agree now: it is the seal of the trail that says what was changed.
    const { rows } = await service.owner.pool.query(
      `SELECT id FROM audit_entry WHERE entity_id = '${id}' AND action = 'update'`,
    )
    const { code, differences } = await check()
    expect(code).toBe(1)
    expect(differences).toContainEqual(
      expect.objectContaining({ of: `audit_entry ${rows[0]!.id}`, message: 'after is not what was sealed' }),
    )
  })
})

describe('readEarlierTerms', () => {
  it('reads many loans in one query, without those that were not changed since', async () => {
    const ids = [await lend(), await lend(), await lend()]
    service.clock.stand('2026-02-20')
    await change(ids[0]!, { principal_amount: 700 })
    await change(ids[1]!, { principal_amount: 800 })
    service.clock.stand('2026-02-21')
    await change(ids[1]!, { principal_amount: 900 })
    const readSince = async (day: string) => {
      const since = Date.parse(`${day}T12:00:00+03:00`)
      const found = await readEarlierTerms(service.deps.db, 1, ids.map(BigInt), since)
      return ids.map((id) => found.get(BigInt(id))?.map(({ version, terms }) => [version, terms.principal]))
    }
    expect(await readSince('2026-02-19')).toEqual([
      [[1, 100_050n]],
      [
        [1, 100_050n],
        [2, 80_000n],
      ],
      undefined,
    ])
    expect(await readSince('2026-02-20')).toEqual([undefined, [[2, 80_000n]], undefined])
    expect(await readSince('2026-02-21')).toEqual([undefined, undefined, undefined])
  })
})
