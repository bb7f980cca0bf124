import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anotherLender } from '../../support/lenders.ts'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

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
