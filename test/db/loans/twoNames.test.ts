import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLoans } from '../../../src/db/loans/loans.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

/** A loan of so many repayments of 10, with its path. */
async function lend(repayments: number): Promise<string> {
  const body = { customerId: 'asha', productId: 1, principal: 100_000 }
  const path = `/v1/loans/${(await service.post('/v1/loans', { body })).body.id}`
  for (let index = 0; index < repayments; index++) await repay(service, path, 10)
  return path
}

const repay = (by: TestService, path: string, transactionAmount: number) =>
  by.post(`${path}/repayments`, { body: { transactionAmount } })

describe('a loan that is asked for by its number and by its external id at once', () => {
  it('is changed by one after the other, and is the same by either name and everywhere', async () => {
    const busy = await Promise.all([0, 0, 0].map(() => lend(0)))
    for (let round = 0; round < 5; round++) {
      const path = await lend(1)
      const id = path.split('/').at(-1)!
      const name = `twice-${id}`
      await service.deps.db.pool.query('UPDATE loan SET external_id = $1 WHERE id = $2', [name, id])
      const external = `/v1/loans/external/${name}`
      const { body: wrong } = await repay(service, path, 3)
      // Known as he is from then on, the operator is as quick as the partner.
      await service.get(path, { token: service.tokens.operator })
      const answers = await Promise.all([
        // While these are read and saved, the next wait, and go together.
        ...busy.map((one) => repay(service, one, 1)),
        service.post(`${external}/repayments/${wrong.id}/reverse`, { body: {}, token: service.tokens.operator }),
        ...busy.map((one) => repay(service, one, 1)),
        repay(service, path, 1_000),
      ])
      expect(answers.map(({ status }) => status)).toEqual(Array(answers.length).fill(200))
      const seen = [await service.get(path), await service.get(external), await other.get(path)]
      expect(new Set(seen.map(({ text }) => text)).size).toBe(1)
      expect(seen[0]!.body.totalPaid).toBe(10 + 1_000)
      expect((await repay(service, external, 1)).status).toBe(200)
    }
  })

  it('is not another whose external id looks like its number', async () => {
    const path = await lend(1)
    const id = path.split('/').at(-1)
    const body = { customerId: 'asha', productId: 1, principal: 100_000, externalId: `#${id}` }
    const { body: lookalike } = await service.post('/v1/loans', { body })
    const external = `/v1/loans/external/${encodeURIComponent(`#${id}`)}`
    const [one, two] = await Promise.all([service.get(path), service.get(external)])
    expect([one.body.id, two.body.id]).toEqual([id, lookalike.id])
    const [first, second] = await Promise.all([repay(service, path, 1_000), repay(service, external, 7)])
    expect([first.body.loanId, second.body.loanId]).toEqual([id, lookalike.id])
  })
})

it('the book is in order after all of it', async () => {
  const { code, json } = await opsOn(service)('book check --json')
  expect([json.differences, code]).toEqual([[], 0])
})

describe('a loan that many ask for at once', () => {
  it('by one name is one object for all of them; what is not there is undefined in its place', async () => {
    const id = BigInt((await lend(2)).split('/').at(-1)!)
    const key = { organizationId: 1, ref: { id }, zone: service.deps.config.zone }
    const [first, gone, second] = await readLoans(service.deps.db, [key, { ...key, ref: { id: 77n } }, { ...key }])
    expect(first?.entries).toHaveLength(2)
    expect(second).toBe(first)
    expect(gone).toBeUndefined()
  })
})
