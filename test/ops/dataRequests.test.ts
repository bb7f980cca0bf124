import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askForData } from '../../src/services/customers/dataRequests.ts'
import { commandLine } from '../support/approvals.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  const token = service.tokens.operator
  await service.patch('/v1/organization', { body: { keepBorrowersYears: 0, keepOthersYears: 0 }, token })
})
afterAll(() => service.close())

let customers = 0

/** Makes a customer who asks for something, by an account. @returns the numbers of both */
async function asked(kind: string): Promise<{ id: string; customerId: string }> {
  const { id: customerId } = (await service.post('/v1/customers', { body: { externalId: `asks-${++customers}` } })).body
  const path = `/v1/customers/${customerId}/data-requests`
  const { body } = await service.post(path, { body: { kind }, token: service.tokens.operator })
  return { id: body.id, customerId }
}

describe('data-requests', () => {
  it('list: in one state, as a table and as JSON, with who asked', async () => {
    const { id, customerId } = await asked('access')
    const { json } = await ops<Wire[]>('data-requests list -o 1 --state open --json')
    expect(json.at(-1)).toMatchObject({ id, customerId, kind: 'access', state: 'open', askedBy: expect.any(Number) })
    expect((await ops('data-requests list -o 1')).out).toMatch(/access +\d+ +2026-02-07 .*account \d+/)
    expect((await ops('data-requests list -o 1 --state none')).code).toBe(2)
  })

  it('complete and refuse: with the answer to the person, once', async () => {
    const [done, refused] = [await asked('access'), await asked('objection')]
    const complete = ['data-requests', 'complete', done.id, '-o', '1', '--yes', '--note']
    expect((await ops([...complete, ' '])).code).toBe(1)
    expect((await ops([...complete, 'x'.repeat(1_001)])).err).toContain('must be 1 to 1000 characters')
    expect((await ops([...complete, 'Sent', '--json'])).json).toMatchObject({ state: 'done', note: 'Sent' })
    expect((await ops([...complete, 'Sent'])).err).toContain('the data request is done already')
    const refuse = ['data-requests', 'refuse', refused.id, '-o', '1', '--yes', '--note', 'Not so']
    expect((await ops(refuse)).out).toContain(`The data request ${refused.id} is refused.`)
    expect((await ops(['data-requests', 'refuse', refused.id, '-o', '1', '--yes'])).code).toBe(2)
  })

  it('confirm: erases what an account asked for, once somebody said yes', async () => {
    const { id, customerId } = await asked('erasure')
    expect((await ops(`data-requests confirm ${id} -o 1`, { says: false })).code).not.toBe(0)
    expect((await service.get(`/v1/customers/${customerId}`)).body.externalId).toBe(`asks-${customers}`)
    expect((await ops(`data-requests confirm ${id} -o 1`, { says: true })).out).toContain(`${id} is done.`)
    expect((await service.get(`/v1/customers/${customerId}`)).body.externalId).toBe(`erased-${customerId}`)
  })

  it('confirm is refused for what the command line asked for itself', async () => {
    const { customerId } = await asked('access')
    const { id } = await askForData(service.deps, commandLine, { id: BigInt(customerId) }, { kind: 'erasure' })
    const { code, err } = await ops(`data-requests confirm ${id} -o 1 --yes`)
    expect([code, err]).toEqual([1, expect.stringContaining('the one who asked cannot confirm the erasure')])
  })

  it('is refused for what is not there', async () => {
    for (const command of ['confirm 999999', 'complete 999999 --note x', 'refuse 999999 --note x'])
      expect((await ops(`data-requests ${command} -o 1 --yes`)).err).toContain('no data request has that id')
  })
})
