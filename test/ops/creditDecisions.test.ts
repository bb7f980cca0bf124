import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opsOn } from '../support/ops.ts'
import { readStatementsHere } from '../support/readHere.ts'
import { startService, type TestService } from '../support/service.ts'
import { smallStatement } from '../support/statementPdf.ts'
import { showing } from '../support/upload.ts'
import type { Wire } from '../support/wire.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let customerId: string
beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
  ops = opsOn(service)
  service.clock.set('2026-07-02')
  customerId = (await service.post('/v1/customers', { body: { externalId: 'asha' } })).body.id
  const pdf = await smallStatement('2026-05-01', '2026-06-30')
  await service.post('/v1/credit-scorecard/asha/boost', showing(pdf))
})
afterAll(() => service.close())

describe('credit-decisions list', () => {
  it('newest first, by number and by external id', async () => {
    const { code, out } = await ops(`credit-decisions list ${customerId}`)
    expect(code).toBe(0)
    expect(out).toMatch(/^ *ID {2}AT +KIND +POLICY +DECIDED\n/)
    expect(out).toMatch(/\d {2}2026-07-02 12:00:00\+03:00 {2}boost {2}default-1 {2}raised, limit \d+000\.00\n/)
    expect(out).toMatch(/\d {2}2026-07-02 12:00:00\+03:00 {2}score {2}default-1 {2}score 0, grade XX, limit 0\.00\n$/)
    expect((await ops('credit-decisions list asha --external')).out).toBe(out)
    expect((await ops('credit-decisions list asha --external -n 1 --json')).json).toMatchObject([
      { customerId, kind: 'boost', inputs: { grade: 'XX', currentLimit: '0.00' }, result: { boostStatus: 'raised' } },
    ])
  })

  it('exit code 1 for a customer that is not there, 2 for what is no number', async () => {
    for (const command of ['list 17', 'list 9223372036854775808', 'list nobody --external'])
      expect(await ops(`credit-decisions ${command}`)).toMatchObject({
        code: 1,
        err: 'mkopo: no customer has that externalId or id\n',
      })
    expect(await ops('credit-decisions list asha')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--external'),
    })
  })
})

describe('credit-decisions show', () => {
  const idOf = async (kind: string): Promise<string> =>
    (await ops<Wire[]>(`credit-decisions list ${customerId} --json`)).json.find((one) => one.kind === kind)!.id

  it.each(['score', 'boost'])('a %s: its facts and result, and the same again', async (kind) => {
    const { code, out } = await ops(`credit-decisions show ${await idOf(kind)}`)
    expect(code).toBe(0)
    expect(out).toContain(kind === 'score' ? '"loansTaken": 0' : '"averageMonthlyInflow": "')
    expect(out).toMatch(/\nDecided again on these facts by policy default-1: the same\.\n$/)
    // Neither whose the statement is, nor anything of the file but its hash.
    expect(out).not.toMatch(/MWANGI|754000123/)
  })

  it('exit code 1, and both results, where the facts were tampered with', async () => {
    const id = await idOf('boost')
    await service.deps.db.pool.query(
      `UPDATE credit_decision SET inputs = jsonb_set(inputs, '{currentLimit}', '"90000000.00"') WHERE id = $1`,
      [id],
    )
    const { code, out } = await ops(`credit-decisions show ${id}`)
    expect(code).toBe(1)
    expect(out).toContain(
      'Decided again on these facts by policy default-1, it differs: {\n  "boostStatus": "unchanged"',
    )
  })

  it('exit code 1 for one that is not there', async () => {
    for (const id of ['999', '9999999999999999999', '9'.repeat(30)])
      expect(await ops(`credit-decisions show ${id}`)).toMatchObject({
        code: 1,
        err: 'mkopo: no decision has that id\n',
      })
    expect((await ops('credit-decisions show asha')).code).toBe(2)
  })
})
