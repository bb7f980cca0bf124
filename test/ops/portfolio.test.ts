import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keepJournal } from '../support/journal.ts'
import { opsOn } from '../support/ops.ts'
import { aBasicLoan, aBorrower } from '../support/recordBodies.ts'
import { type Records, recordsOf } from '../support/records.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

// The portfolio at the command line: what is at risk, how loans moved, and which are overdue.

let service: TestService
let records: Records
let ops: ReturnType<typeof opsOn>
let [old, young, paid]: string[] = []
const TODAY = '2026-03-20'
const EVIL = '=HYPERLINK("http://x")'

const post = async (path: string, body: object): Promise<Wire> => {
  const answer = await service.post(path, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const lend = async (externalId: string, principal: number): Promise<string> =>
  (await post('/v1/loans', { customerId: 'asha', productId: 1, principal, externalId })).id

beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  ops = opsOn(service)
  await post('/v1/customers', { externalId: 'asha' })
  await records.post('/v1/borrowers', { body: { ...aBorrower, business_name: EVIL, phone: '+255700000001' } })
  const body = { ...aBasicLoan, loan_id: 9, due_date: '2026-04-25', duration: 1, duration_period: 'months' }
  expect((await records.post('/v1/loans', { body })).status).toBe(200)
  // One instalment each, with 10%: due on 28 February, 10 March and 10 March.
  old = await lend('+255', 100_000)
  service.clock.set('2026-02-10')
  young = await lend('0712345678', 50_000)
  paid = await lend('paid', 30_000)
  service.clock.set(TODAY)
  await post(`/v1/loans/${old}/repayments`, { transactionAmount: 10_000, transactionDate: '2026-03-15' })
  await post(`/v1/loans/${paid}/repayments`, { transactionAmount: 33_000 })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(TODAY))

interface Arrears {
  readonly asOf: string
  readonly policyVersion: number
  readonly policy: string
  readonly next: string | null
  readonly loans: readonly Record<string, unknown>[]
}
const ids = (run: { readonly json: Arrears }) => run.json.loans.map(({ id }) => id)

describe('portfolio arrears', () => {
  it('lists the overdue loans, the oldest first, whatever the sweep has saved', async () => {
    const { out, err } = await ops('portfolio arrears')
    expect(err).toBe('as of 2026-03-20, by version 0 of the policy, par\n')
    const [head, ...rows] = out.trimEnd().split('\n')
    expect(head).toMatch(/^ *LOAN +EXTERNAL ID +CUSTOMER +PHONE +PRODUCT +DAYS +BUCKET/)
    expect(rows).toEqual([
      expect.stringMatching(/\+255 +asha Customer .* 20 +1-30 +TZS +100000\.00 +100000\.00 +2026-03-15$/),
      expect.stringMatching(/0712345678 +asha Customer .* 10 +1-30 +TZS +55000\.00 +50000\.00$/),
    ])
    const { json } = await ops<Arrears>('portfolio arrears --json')
    expect(json).toMatchObject({ asOf: '2026-03-20', policyVersion: 0, policy: 'par', next: null })
    expect(json.loans[0]).toEqual({
      ...{ id: old, externalId: '+255', customerId: expect.any(String), customerExternalId: 'asha' },
      ...{ customerName: 'asha Customer', phone: null, productId: 1, productName: 'Flat 10% monthly' },
      ...{ dueOn: '2026-02-28', daysPastDue: 20, bucket: '1-30', currencyCode: 'TZS' },
      ...{ overdue: '100000.00', principalOutstanding: '100000.00', lastPaidOn: '2026-03-15' },
    })
  })

  it('goes on where the answer before ended, to the end', async () => {
    const first = await ops<Arrears>('portfolio arrears --rows 1 --json')
    expect([ids(first), first.json.next]).toEqual([[old], `2026-02-28.${old}`])
    const second = await ops<Arrears>(`portfolio arrears --rows 1 --json --after ${first.json.next}`)
    expect(ids(second)).toEqual([young])
    const end = await ops<Arrears>(`portfolio arrears --rows 1 --json --after ${second.json.next}`)
    expect(end.json).toMatchObject({ loans: [], next: null })
    expect((await ops('portfolio arrears --rows 1 --csv')).err).toBe(
      `The list goes on with --after ${first.json.next}\n`,
    )
  })

  it('--bucket: by the days alone where the policy has no more, else by a replay', async () => {
    service.clock.set('2026-04-02')
    expect(ids(await ops<Arrears>(['portfolio', 'arrears', '--bucket', '31-60', '--json']))).toEqual([old])
    expect(ids(await ops<Arrears>(['portfolio', 'arrears', '--bucket', '1-30', '--json']))).toEqual([young])
    expect(ids(await ops<Arrears>(['portfolio', 'arrears', '--bucket', 'current', '--json']))).toEqual([])
    const buckets = [
      { name: 'good', fromDays: 0, toDays: 30 },
      { name: 'bad', fromDays: 31 },
    ]
    const put = (more: object) =>
      service.put('/v1/delinquency-policy', {
        token: service.tokens.operator,
        body: { buckets, countFrom: 'oldest_unpaid', ...more },
      })
    expect((await put({ materiality: { amount: 60_000 } })).status).toBe(200)
    expect(ids(await ops<Arrears>('portfolio arrears --bucket bad --json'))).toEqual([old])
    const good = await ops<Arrears>('portfolio arrears --bucket good --json')
    expect(good.json.loans).toMatchObject([{ id: young, daysPastDue: 0, bucket: 'good' }])
    const one = await ops<Arrears>('portfolio arrears --bucket bad --json --rows 1')
    expect([ids(one), one.json.next]).toEqual([[old], null])
    await put({ cureDays: 30 })
    expect(ids(await ops<Arrears>('portfolio arrears --bucket bad --json'))).toEqual([old])
    expect(ids(await ops<Arrears>('portfolio arrears --bucket good --json'))).toEqual([young])
    await put({ countFrom: 'first_arrears' })
    expect(ids(await ops<Arrears>('portfolio arrears --bucket good --json'))).toEqual([young])
    expect(ids(await ops<Arrears>('portfolio arrears --bucket bad --json'))).toEqual([old])
    expect((await put({ buckets: [{ name: 'all', fromDays: 0 }], cureDays: 1 })).status).toBe(200)
    const first = await ops<Arrears>('portfolio arrears --bucket all --json --rows 1')
    expect([ids(first), first.json.next]).toEqual([[old], `2026-02-28.${old}`])
    expect(ids(await ops<Arrears>('portfolio arrears --bucket all --json'))).toEqual([old, young])
    await service.owner.pool.query('DELETE FROM delinquency_policy')
  })

  it.each([
    ['--rows 0', 2, 'It must be a whole number, 1 to 1000'],
    ['--rows 1001', 2, 'It must be a whole number, 1 to 1000'],
    ['--bucket none', 1, '--bucket: must be one of the policy in force: current, 1-30, 31-60, 61-90, over 90'],
    ['--after 7', 1, '--after: must be the place that the answer before gave'],
    ['--after 2026-02-30.1', 1, '--after: must be the place'],
    ['--after 2026-02-28.9999999999999999999', 1, '--after: must be the place'],
    ['--csv --json', 2, 'say --json or --csv, not both'],
    ['-o 7', 1, 'there is no organization 7'],
  ])('refuses %s', async (options, code, message) => {
    expect(await ops(`portfolio arrears ${options}`)).toMatchObject({ code, err: expect.stringContaining(message) })
  })

  it('shows formulas and escapes of names as text, in the table and in the CSV file', async () => {
    service.clock.set('2026-04-26')
    const pool = service.owner.pool
    const { rows } = await pool.query<{ was: string | null }>('SELECT external_id AS was FROM loan WHERE id = $1', [
      young,
    ])
    await pool.query(`UPDATE loan SET external_id = E'\\x1b[31mred' WHERE id = $1`, [young])
    const csv = (await ops('portfolio arrears --csv')).out
    expect(csv.startsWith('\uFEFFloanId,externalId,customerId,')).toBe(true)
    expect(csv).toContain(`,"'${EVIL.replaceAll('"', '""')}",'+255700000001,`)
    expect(csv).toContain(`${old},'+255,`)
    expect(csv).toContain(`${young},\\u{1b}[31mred,`)
    expect(csv).not.toContain('\x1b')
    const table = (await ops('portfolio arrears')).out
    expect(table).toContain(EVIL)
    expect(table).toContain('\\u{1b}[31mred')
    await pool.query('UPDATE loan SET external_id = $2 WHERE id = $1', [young, rows[0]!.was])
  })
})

describe('portfolio par', () => {
  it('prints the buckets, and what is at risk, as JSON and as CSV too', async () => {
    const { out, err } = await ops('portfolio par --as-of 2026-03-14')
    expect(err).toBe('as of 2026-03-14, by version 0 of the policy, par\n')
    expect(out).toMatch(/TZS +1-30 +3 +180000\.00 +99\.45%\n/)
    expect(out).toMatch(/TZS +all +4 +181000\.50 +100\.00% +99\.45% +0\.00% +0\.00% +0\.00%\n/)
    const { json } = await ops('portfolio par --as-of 2026-03-14 --by product,month --json')
    expect(json).toMatchObject({ asOf: '2026-03-14', knownAt: null, policyVersion: 0, policy: 'par' })
    expect(json.groups).toMatchObject([
      { productId: null, month: '2026-01', loans: 1, principalOutstanding: '1000.50' },
      {
        productId: 1,
        month: '2026-01',
        loans: 1,
        atRisk: [{ days: 1, principal: '100000.00', percent: 100 }, {}, {}, {}],
      },
      { productId: 1, month: '2026-02', loans: 2, principalOutstanding: '80000.00' },
    ])
    const lines = (await ops('portfolio par --as-of 2026-03-14 --by month --csv')).out.split('\n')
    expect(lines[0]).toMatch(
      /^\uFEFFasOf,currencyCode,productId,month,restructured,officerId,row,bucket,loans,principalOutstanding,par1,par1Percent/,
    )
    expect(lines).toContain('2026-03-14,TZS,,2026-02,,,bucket,1-30,2,80000.00,,,,,,,,')
    expect(lines).toContain('2026-03-14,TZS,,2026-02,,,total,,2,80000.00,80000.00,100,0.00,0,0.00,0,0.00,0')
  })

  it('--known-at answers by what was known, --policy by another policy; a day stands for its last instant', async () => {
    const before = await ops('portfolio par --known-at 2026-02-01 --json')
    expect(before.json).toMatchObject({ asOf: '2026-02-01', knownAt: '2026-02-01 23:59:59+03:00' })
    expect(before.json.groups).toMatchObject([{ loans: 2 }])
    const { err } = await ops('portfolio par --known-at 2026-03-01T10:00:00+03:00 --as-of 2026-02-27 --policy cbk')
    expect(err).toBe('as of 2026-02-27, as known at 2026-03-01 10:00:00+03:00, by the policy cbk\n')
    expect((await ops('portfolio par --known-at 2026-03-20 --json')).json.knownAt).toBe('2026-03-20 12:00:00+03:00')
  })

  it.each([
    ['--as-of 2026-03-21', 1, '--as-of: must be at most 2026-03-20'],
    ['--known-at 2026-03-21', 1, '--known-at: must not be in the future'],
    ['--known-at soon', 2, 'It must be a date, or a time'],
    ['--as-of 2026-02-30', 2, 'It must be a date'],
    ['--by branch', 2, 'It must be of product, currency, month'],
    ['--policy basel', 1, 'policy: must be one of par, cbk, ifrs9'],
    ['--csv --json', 2, 'say --json or --csv'],
  ])('refuses %s', async (options, code, message) => {
    expect(await ops(`portfolio par ${options}`)).toMatchObject({ code, err: expect.stringContaining(message) })
  })
})

describe('portfolio roll-rates', () => {
  it('prints where the loans of each bucket are, as JSON and as CSV too', async () => {
    const { out, err } = await ops('portfolio roll-rates --from 2026-02-28')
    expect(err).toBe(
      'from 2026-02-28 to 2026-03-20, by version 0 of the policy, par; percent of the principal of the row\n',
    )
    expect(out).toMatch(/^CURRENCY +FROM +LOANS +PRINCIPAL +TO CURRENT +TO 1-30/)
    expect(out).toMatch(/TZS +current +4 +181000\.50 +0\.55% +82\.87% +16\.57%\n/)
    const { json } = await ops('portfolio roll-rates --from 2026-02-28 --to 2026-03-19 --policy cbk --json')
    expect(json).toMatchObject({ from: '2026-02-28', to: '2026-03-19', policyVersion: null, policy: 'cbk' })
    expect(json.currencies).toMatchObject([
      { rows: [{ bucket: 'normal', closed: { loans: 0, principal: '0.00' } }, {}, {}, {}, {}] },
    ])
    const lines = (await ops('portfolio roll-rates --from 2026-02-28 --csv')).out.split('\n')
    expect(lines[0]).toBe('\uFEFFfirstDay,lastDay,currencyCode,from,to,loans,principal')
    expect(lines).toContain('2026-02-28,2026-03-20,TZS,current,closed,1,30000.00')
  })

  it.each([
    ['', 2, 'required option'],
    ['--from 2026-03-20', 1, '--from: must be before 2026-03-20'],
    ['--from 2026-03-01 --to 2026-03-21', 1, '--to: must be at most 2026-03-20'],
    ['--from 2026-03-01 --csv --json', 2, 'say --json or --csv'],
  ])('refuses %s', async (options, code, message) => {
    const run = await ops(`portfolio roll-rates ${options}`.trim())
    expect(run).toMatchObject({ code, err: expect.stringContaining(message) })
  })
})

describe('portfolio provisions', () => {
  it('prints them by product and bucket, with what is booked, as JSON and as CSV too', async () => {
    await keepJournal(service.deps)
    const day = '--as-of 2026-03-19 --policy cbk'
    const { out, err } = await ops(`portfolio provisions ${day}`)
    expect(err).toBe('as of 2026-03-19, by the policy cbk\n')
    expect(out).toMatch(/TZS +1 +normal +1% +3 +180000\.00 +1800\.00\n/)
    expect(out).toMatch(/TZS +1 +all +3 +180000\.00 +1800\.00 +0\.00 +1800\.00\n/)
    const { json } = await ops(`portfolio provisions ${day} --json`)
    expect(json).toMatchObject({ asOf: '2026-03-19', policyVersion: null, policy: 'cbk' })
    expect(json.groups).toMatchObject([
      { productId: null, provision: '10.00', booked: '0.00', difference: '10.00' },
      {
        productId: 1,
        loans: 3,
        buckets: [{ bucket: 'normal', provisionRate: 1, provision: '1800.00' }, {}, {}, {}, {}],
      },
    ])
    const lines = (await ops(`portfolio provisions ${day} --csv`)).out.split('\n')
    expect(lines[0]).toMatch(/^\uFEFFasOf,currencyCode,productId,row,bucket,provisionRate,loans,/)
    expect(lines).toContain('2026-03-19,TZS,1,bucket,normal,1,3,180000.00,1800.00,,')
    expect(lines).toContain('2026-03-19,TZS,1,total,,,3,180000.00,1800.00,0.00,1800.00')
  })

  it.each([
    ['--as-of 2026-03-19', 1, 'no bucket of the policy has a provisionRate'],
    ['--as-of 2026-03-21 --policy cbk', 1, '--as-of: must be at most 2026-03-20'],
    ['--csv --json', 2, 'say --json or --csv'],
  ])('refuses %s', async (options, code, message) => {
    expect(await ops(`portfolio provisions ${options}`)).toMatchObject({ code, err: expect.stringContaining(message) })
  })
})

it('an empty book has no loans, and files with their columns alone', async () => {
  const { id } = (await ops('organizations create --name Other --currency KES --json')).json
  expect((await ops(`portfolio arrears -o ${id}`)).out).toBe('none\n')
  expect((await ops(`portfolio par -o ${id}`)).out).toBe('none\n')
  expect((await ops(`portfolio roll-rates --from 2026-01-31 -o ${id}`)).out).toBe('none\n')
  for (const command of ['arrears', 'par', 'roll-rates --from 2026-01-31'])
    expect((await ops(`portfolio ${command} -o ${id} --csv`)).out).toMatch(/^\uFEFF[\w,]+\n$/)
})
