import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { opsOn } from '../../support/ops.ts'
import { aBasicLoan, aBorrower, aRepayment } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import { sweep } from '../../support/sweep.ts'

let service: TestService
let other: TestService
/** Of each loan that was read since, whether with its history or from what was carried forward. */
let sent: boolean[] = []
/** Whether the database breaks before it saves a change. */
let isBroken = false
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const { pool } = service.deps.db
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>
  pool.query = (async (...args: unknown[]) => {
    const { name } = args[0] as { name?: string }
    if (isBroken && name?.startsWith('save-loans')) throw new Error('the connection is gone')
    const result = await query(...args)
    for (const row of result.rows) {
      if ('periods' in row) sent.push(true)
      else if ('carried_forward' in row) sent.push(false)
    }
    return result
  }) as typeof pool.query
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

/** A loan of so many repayments of 10, with its path. */
async function lend(repayments: number, productId = 1): Promise<string> {
  const body = { customerId: 'asha', productId, principal: 100_000 }
  const path = `/v1/loans/${(await service.post('/v1/loans', { body })).body.id}`
  for (let index = 0; index < repayments; index++) await repay(service, path, 10)
  sent = []
  return path
}

const repay = (by: TestService, path: string, transactionAmount: number, more: object = {}) =>
  by.post(`${path}/repayments`, { body: { transactionAmount, ...more } })

const carriedOf = async (path: string) =>
  (
    await other.deps.db.pool.query('SELECT carried_forward, carried_version, version FROM loan WHERE id = $1', [
      path.split('/').at(-1),
    ])
  ).rows[0]

describe('posting to a loan', () => {
  it('never reads its history, from the first on', async () => {
    const path = await lend(0)
    for (let index = 0; index < 3; index++) await repay(service, path, 10)
    await service.post(`${path}/repayments/waive-interest`, { body: { transactionAmount: 5 } })
    await repay(service, path, 10, { idempotencyKey: 'first' })
    await service.post(`${path}/repayments/charge-off`, { body: {} })
    await service.post(`${path}/repayments/recover`, { body: { transactionAmount: 5 } })
    expect(sent).toEqual(Array(7).fill(false))
    sent = []
    const { body: seen } = await service.get(path)
    expect(seen).toMatchObject({ totalPaid: 45, interestWaived: 5, chargedOff: true })
    expect(seen.repaymentHistory).toHaveLength(5)
    expect(sent).toEqual([true])
  })

  it('as a record system does, too', async () => {
    const path = await lend(1)
    const loan_id = Number(path.split('/').at(-1))
    const body = { repayment_id: 7_001, loan_id, amount: 5, collection_date: FIRST_DAY.slice(0, 10) }
    const post = (more: object = {}) => recordsOf(service).post('/v1/repayments', { body: { ...body, ...more } })
    expect((await post()).status).toBe(200)
    expect(sent).toEqual([false])
    // Told again, with the same content and with other.
    expect((await post()).status).toBe(200)
    expect((await post({ amount: 6 })).status).toBe(409)
    expect(sent).toEqual([false, true, true])
    expect((await service.get(path)).body).toMatchObject({ totalPaid: 15 })
  })

  it.each([
    ['is dated before another', (path: string) => repay(service, path, 5, { transactionDate: '2026-01-31' })],
    ['comes with a token seen before', (path: string) => repay(service, path, 5, { idempotencyKey: 'seen' })],
    [
      'pays money back',
      (path: string) => service.post(`${path}/repayments/refund`, { body: { transactionAmount: 5 } }),
    ],
    ['writes it off', (path: string) => service.post(`${path}/write-off`, { token: service.tokens.operator })],
  ])('reads it where what is posted %s', async (_, ask) => {
    const path = await lend(1)
    service.clock.set('2026-02-10')
    await repay(service, path, 7, { idempotencyKey: 'seen' })
    sent = []
    expect((await ask(path)).status).toBe(200)
    expect(sent.at(-1)).toBe(true)
    expect((await service.get(path)).text).toBe((await other.get(path)).text)
  })

  it('many at once, one token twice among them: each is posted once, and the history is not read', async () => {
    const path = await lend(1)
    // The first goes at once, the others together after it.
    const tokens = ['x', 'b', 'b', 'c', 'd']
    const answers = await Promise.all(tokens.map((idempotencyKey) => repay(service, path, 5, { idempotencyKey })))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(4)
    expect(answers[2]!.text).toBe(answers[1]!.text)
    expect(sent).toEqual([false, false])
    expect((await service.get(path)).body).toMatchObject({ totalPaid: 30 })
  })

  it('many at once, one token that has just been posted among them: it is found, and posted once', async () => {
    const path = await lend(1)
    const tokens = ['a', 'b', 'a']
    const answers = await Promise.all(tokens.map((idempotencyKey) => repay(service, path, 5, { idempotencyKey })))
    expect(answers[2]!.text).toBe(answers[0]!.text)
    expect(sent).toEqual([false, true])
    expect((await service.get(path)).body).toMatchObject({ totalPaid: 20 })
  })

  it('continues from what another instance, or the sweep, has left', async () => {
    const path = await lend(1, 2)
    const { body: posted } = await repay(other, path, 5)
    await repay(service, path, 7)
    expect(sent).toEqual([false])
    await other.post(`${path}/repayments/${posted.id}/reverse`, { token: other.tokens.operator })
    await repay(service, path, 9)
    service.clock.set('2026-04-01')
    expect(await sweep(other.deps)).toBeGreaterThan(0)
    await repay(service, path, 11)
    expect(sent).toEqual([false, false, false])
    const { body: seen } = await service.get(path)
    expect(seen).toMatchObject({ totalPaid: 37, penaltyCharged: 10_000, penaltyPaid: 11 })
    expect((await other.get(path)).body).toEqual(seen)
  })

  it('reads it between the instant of a penalty and the sweep that persists it', async () => {
    const path = await lend(1, 2)
    service.clock.set('2026-04-01')
    await repay(service, path, 11)
    expect(sent).toEqual([false, true])
    expect((await service.get(path)).body).toMatchObject({ penaltyCharged: 10_000, penaltyPaid: 11 })
  })

  it('reads it after a program that carries nothing forward has changed the loan', async () => {
    const path = await lend(1)
    const { pool } = other.owner
    const id = path.split('/').at(-1)
    // What a program of before does: an entry, its row of the trail, the figures and the version.
    await pool.query(
      `WITH posted AS (
         INSERT INTO loan_entry (organization_id, loan_id, ordinal, place, type, value_date, posted_at, amount)
         SELECT organization_id, id, 2, 2, 'Repayment', disbursed_on, disbursed_at, 700 FROM loan WHERE id = $1
         RETURNING *
       )
       INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, change)
       SELECT organization_id, posted_at, type, 'loan', loan_id::text, json_build_object('on', value_date, 'posted',
         json_build_object('id', id::text, 'type', type, 'amount', amount::text)) FROM posted`,
      [id],
    )
    await pool.query('UPDATE loan SET version = version + 1, entry_count = 2, total_paid = 1700 WHERE id = $1', [id])
    await repay(service, path, 5)
    expect(sent).toEqual([true])
    expect((await service.get(path)).body).toMatchObject({ totalPaid: 22 })
  })

  it('reads it where nothing can be carried forward, after a write-off', async () => {
    const path = await lend(1)
    expect(await carriedOf(path)).toMatchObject({ carried_forward: expect.any(String) })
    await service.post(`${path}/write-off`, { token: service.tokens.operator })
    expect(await carriedOf(path)).toMatchObject({ carried_forward: null })
    sent = []
    for (const amount of [5, 6])
      await service.post(`${path}/repayments/recover`, { body: { transactionAmount: amount } })
    expect(sent).toEqual([true, true])
    expect((await service.get(path)).body).toMatchObject({ totalRecovered: 11 })
  })

  it('reads it once after the terms of the loan were modified', async () => {
    const records = recordsOf(service)
    await records.post('/v1/borrowers', { body: aBorrower })
    await records.post('/v1/loans', { body: aBasicLoan })
    let repayment_id = 8_000
    const post = (amount: number) =>
      records.post('/v1/repayments', { body: { ...aRepayment, repayment_id: ++repayment_id, amount } })
    await post(100)
    expect((await records.put('/v1/loans/1', { body: { principal_amount: 600 } })).status).toBe(200)
    sent = []
    for (const amount of [200, 250]) expect((await post(amount)).status).toBe(200)
    expect(sent).toEqual([true, false])
    expect((await service.get('/v1/loans/1')).body).toMatchObject({ totalPaid: 550, totalOutstanding: 50 })
  })

  it.each([
    ['is damaged', "'1;,,,,'"],
    ['was written by other rules', "replace(carried_forward, '1;', '2;')"],
    ['is empty', "''"],
  ])(
    'reads it where what was carried forward %s, and carries the right thing on; others are not held up',
    async (_, value) => {
      const [path, neighbour] = [await lend(1), await lend(1)]
      await other.deps.db.pool.query(`UPDATE loan SET carried_forward = ${value} WHERE id = $1`, [
        path.split('/').at(-1),
      ])
      sent = []
      const answers = await Promise.all([neighbour, path, neighbour].map((one) => repay(service, one, 5)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(sent).toContain(true)
      sent = []
      await repay(service, path, 6)
      expect(sent).toEqual([false])
      expect((await service.get(path)).body).toMatchObject({ totalPaid: 21 })
    },
  )

  it('is right on a database that has lost its last changes and counts the same versions again', async () => {
    const path = await lend(1)
    const { pool } = other.owner
    const id = path.split('/').at(-1)
    const { rows } = await pool.query('SELECT * FROM loan WHERE id = $1', [id])
    await repay(service, path, 5, { idempotencyKey: 'lost' })
    await pool.query(
      `WITH lost AS (DELETE FROM loan_entry WHERE loan_id = $1 AND token = 'lost' RETURNING id)
       DELETE FROM audit_entry a USING lost WHERE a.change #>> '{posted,id}' = lost.id::text`,
      [id],
    )
    const { version, entry_count, total_paid, carried_forward, carried_version } = rows[0]
    await pool.query(
      `UPDATE loan SET version = $2, entry_count = $3, total_paid = $4, carried_forward = $5, carried_version = $6
       WHERE id = $1`,
      [id, version, entry_count, total_paid, carried_forward, carried_version],
    )
    await repay(other, path, 7)
    expect((await repay(service, path, 5, { idempotencyKey: 'lost' })).status).toBe(200)
    expect((await other.get(path)).body).toMatchObject({ totalPaid: 22 })
  })

  it('leaves nothing behind where it was refused, or where another instance was faster', async () => {
    const path = await lend(1)
    const external = `/v1/loans/external/of-${path.split('/').at(-1)}`
    await service.deps.db.pool.query('UPDATE loan SET external_id = $1 WHERE id = $2', [
      external.split('/').at(-1),
      path.split('/').at(-1),
    ])
    for (let round = 0; round < 5; round++) {
      // Two names of a loan and two instances, of which three are too slow each time; and amounts that are refused.
      const answers = await Promise.all([
        ...[service, other].flatMap((by) => [path, external].map((name) => repay(by, name, 1))),
        repay(service, path, 0.001),
        service.post(`${external}/repayments/credit-balance-refund`, { body: { transactionAmount: 1 } }),
        service.get(path),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 409, 200])
      const seen = [await service.get(path), await service.get(external), await other.get(path)]
      expect(new Set(seen.map(({ text }) => text)).size).toBe(1)
      expect(seen[0]!.body.totalPaid).toBe(10 + 4 * (round + 1))
      expect(seen[0]!.body.repaymentHistory).toHaveLength(1 + 4 * (round + 1))
    }
  })
})

describe('a change that breaks when it is saved', () => {
  it('leaves nothing behind', async () => {
    const path = await lend(1)
    const { text } = await service.get(path)
    isBroken = true
    expect((await repay(service, path, 5, { idempotencyKey: 'again' })).status).toBe(500)
    isBroken = false
    expect((await service.get(path)).text).toBe(text)
    expect((await repay(service, path, 5, { idempotencyKey: 'again' })).status).toBe(200)
    const { body: seen } = await service.get(path)
    expect(seen).toMatchObject({ totalPaid: 10 + 5 })
    expect((await other.get(path)).body).toEqual(seen)
    expect(sent).toEqual([true, false, true, false, true])
  })
})

it('the book is in order after all of it', async () => {
  // Later than all of it.
  service.clock.set('2026-04-02')
  const { json } = await opsOn(service)<{ differences: { of: string; message: string }[] }>('book check --json')
  // The one row of the trail that a program of before has written: it makes no stamps.
  service.damages('a row of the trail is added by SQL')
  expect(json.differences).toMatchObject([
    {
      of: expect.stringMatching(/^audit_entry \d+$/),
      message: expect.stringMatching(/^was changed after it was written/),
    },
  ])
})
