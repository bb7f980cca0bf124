import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillAllAccountNumbers } from '../../../src/db/lenders/accountNumbers.ts'
import { anotherLender } from '../../support/lenders.ts'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const sql = async (text: string) => (await service.deps.db.pool.query(text)).rows
const create = async (externalId: string) => service.post('/v1/customers', { body: { externalId } })
const lend = (externalId: string, on = service) =>
  on.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 1_000, externalId } })
const numberOf = ({ body }: { body: { accountNo: string } }) => Number(body.accountNo)

describe('accountNo', () => {
  it('runs from 000000001, for customers and for loans, whichever style made them', async () => {
    const records = recordsOf(service)
    expect((await create('asha')).body.accountNo).toBe('000000001')
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: 77 } })
    expect((await service.get('/v1/customers/77')).body.accountNo).toBe('000000002')
    expect((await create('juma')).body.accountNo).toBe('000000003')
    expect((await lend('l-1')).body.accountNo).toBe('000000001')
    await records.post('/v1/loans', { body: { ...aBasicLoan, borrower_id: 77, loan_id: 78 } })
    expect((await service.get('/v1/loans/78')).body.accountNo).toBe('000000002')
    expect((await service.get('/v1/loans')).body.items.map((loan) => loan.accountNo)).toEqual([
      '000000001',
      '000000002',
    ])
  })

  it('what is refused leaves no gap', async () => {
    const before = numberOf(await lend('l-2'))
    expect((await lend('l-2')).status).toBe(409)
    expect((await create('asha')).status).toBe(409)
    expect(numberOf(await lend('l-3'))).toBe(before + 1)
    expect(numberOf(await create('neema'))).toBe(4)
  })

  it("is the organization's own: another lender begins with 1", async () => {
    const token = await anotherLender(service, 2, 'KES')
    const { body } = await service.post('/v1/customers', { body: { externalId: 'otieno' }, token })
    expect(body.accountNo).toBe('000000001')
  })

  it('over two instances at once: no number twice, and none lost', async () => {
    const another = await service.another()
    const before = numberOf(await lend('before'))
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => lend(`at-once-${index}`, index % 2 === 0 ? service : another)),
    )
    const numbers = answers.map(numberOf).sort((a, b) => a - b)
    expect(new Set(numbers).size).toBe(200)
    // Each instance may still have some of the block that it drew last.
    expect(numbers[0]).toBe(before + 1)
    expect(numbers.at(-1)! - before).toBeLessThan(200 + 2 * 128)
  })
})

describe('rows without a number, as a version of before makes them', () => {
  it('of a book that exists get theirs in the order in which they came, in both tables', async () => {
    await sql('UPDATE customer SET account_no = NULL; UPDATE loan SET account_no = NULL; DELETE FROM account_number')
    const [{ rows }] = await sql(
      'SELECT count(*)::int AS rows FROM (SELECT id FROM customer UNION ALL SELECT id FROM loan) a',
    ).then((found) => found as [{ rows: number }])
    expect(await fillAllAccountNumbers(service.deps.db)).toBe(rows)
    for (const table of ['customer', 'loan'])
      expect(
        await sql(`SELECT FROM (SELECT account_no, row_number() OVER (PARTITION BY organization_id ORDER BY arrival) AS place
          FROM ${table}) numbered WHERE account_no IS DISTINCT FROM place`),
      ).toEqual([])
    expect(await fillAllAccountNumbers(service.deps.db)).toBe(0)
  })

  it.each([
    ['a customer', '/v1/customers/external/asha', 'customer'],
    ['a page of customers', '/v1/customers', 'customer'],
    ['a loan', '/v1/loans/external/l-1', 'loan'],
    ['a page of loans', '/v1/loans', 'loan'],
  ])('%s is numbered when it is read, and keeps its number', async (_, path, table) => {
    await sql(`UPDATE ${table} SET account_no = NULL WHERE external_id IN ('asha', 'l-1') AND organization_id = 1`)
    const read = await service.get<Record<string, unknown>>(path)
    expect(read.status).toBe(200)
    // How far a list is settled, and with it the cursor, moves on with what other tests of the server do.
    const again = await service.get<Record<string, unknown>>(path)
    expect({ ...again.body, next: read.body.next }).toEqual(read.body)
    expect(await sql(`SELECT FROM ${table} WHERE account_no IS NULL`)).toEqual([])
  })

  it('a customer is numbered when it is changed', async () => {
    await create('pendo')
    await sql(`UPDATE customer SET account_no = NULL WHERE external_id = 'pendo'`)
    const { status, body } = await service.post('/v1/customers/external/pendo/close')
    expect([status, /^\d{9}$/.test(body.accountNo)]).toEqual([200, true])
  })
})
