import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { anAccount, lend, letWaitAbove } from '../../support/approvals.ts'
import { opsOn } from '../../support/ops.ts'
import { pastTriggers } from '../../support/pastTriggers.ts'
import { randomFrom } from '../../support/random.ts'
import { type Answer, startService, type TestService } from '../../support/service.ts'

// Several ADMINs at once, on two instances.

let service: TestService
let instances: TestService[]
let admins: string[]
beforeAll(async () => {
  service = await startService()
  service.damages('the last test makes makers their own checkers by SQL')
  instances = [service, await service.another()]
  admins = [
    service.tokens.operator,
    ...(await Promise.all(['asha', 'baraka', 'chiku'].map((name) => anAccount(service, name)))),
  ]
  await letWaitAbove(service, 1_000)
})
afterAll(() => service.close())

let names = 0
const aLoan = () => lend(service, `race-${names++}`)
const act = (index: number, path: string, token: string, body?: object): Promise<Answer> =>
  instances[index % instances.length]!.post(path, { token, ...(body && { body }) })

/** Asks for an action on a new loan, as the first ADMIN. @returns its path, and the path of the loan */
async function ask(kind: 'reverse' | 'waive-interest' | 'write-off'): Promise<{ action: string; loan: string }> {
  const loan = await aLoan()
  const { body: paid } = await service.post(`${loan}/repayments`, { body: { transactionAmount: 2_000 } })
  const [path, body] = {
    reverse: [`${loan}/repayments/${paid.id}/reverse`, {}],
    'waive-interest': [`${loan}/repayments/waive-interest`, { transactionAmount: 2_000 }],
    'write-off': [`${loan}/write-off`, {}],
  }[kind] as [string, object]
  const asked = await act(0, path, admins[0]!, body)
  expect(asked.status).toBe(202)
  return { action: `/v1/pending-actions/${asked.body.id}`, loan }
}

/** Counts the changes of a loan that were posted by approvals. */
const changesOf = async (loan: string): Promise<number> =>
  (
    await service.deps.db.pool.query(
      `SELECT count(*)::int AS changes FROM audit_entry
       WHERE entity = 'loan' AND entity_id = $1 AND request_id LIKE 'approval-%'`,
      [loan.split('/').at(-1)],
    )
  ).rows[0].changes

const codesOf = (answers: readonly Answer[]) =>
  answers.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body.code}`)

describe('one pending action', () => {
  it.each(['reverse', 'waive-interest', 'write-off'] as const)(
    '%s: approved by nine requests of three ADMINs at once, it is posted once, and one request wins',
    async (kind) => {
      for (let round = 0; round < 3; round++) {
        const { action, loan } = await ask(kind)
        const requests = Array.from({ length: 9 }, (_, index) =>
          act(index, `${action}/approve`, admins[1 + (index % 3)]!),
        )
        const answers = await Promise.all(requests)
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
        for (const code of codesOf(answers)) expect(code).toBeOneOf(['409 failed_precondition', '409 aborted'])
        expect(await changesOf(loan)).toBe(1)
      }
    },
  )

  it('approved, rejected and withdrawn at once: one of them counts, and what is posted agrees with it', async () => {
    for (let round = 0; round < 6; round++) {
      const { action, loan } = await ask('waive-interest')
      const answers = await Promise.all([
        act(round, `${action}/approve`, admins[1]!),
        act(round + 1, `${action}/reject`, admins[2]!, { reason: 'No' }),
        act(round, `${action}/withdraw`, admins[0]!),
      ])
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const { state } = (await service.get(action, { token: admins[0]! })).body
      expect(await changesOf(loan)).toBe(state === 'approved' ? 1 : 0)
    }
  })

  it('asked for by ten requests at once on two instances, it is one', async () => {
    const loan = await aLoan()
    const { body: paid } = await service.post(`${loan}/repayments`, { body: { transactionAmount: 2_000 } })
    const path = `${loan}/repayments/${paid.id}/reverse`
    const asked = await Promise.all(Array.from({ length: 10 }, (_, index) => act(index, path, admins[index % 4]!, {})))
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 202))
    expect(new Set(asked.map(({ body }) => body.id)).size).toBe(1)
  })

  it('is not approved by an account whose role was taken away 5 s ago, on any instance', async () => {
    const { action } = await ask('reverse')
    const token = await anAccount(service, 'former')
    await opsOn(service)(['accounts', 'roles', 'former@lender.example', 'USER'])
    service.clock.set(new Date(service.clock.now() + 5_000).toISOString())
    for (const index of [0, 1]) expect((await act(index, `${action}/approve`, token)).status).toBe(403)
    expect((await act(0, `${action}/approve`, admins[1]!)).status).toBe(200)
  })
})

describe('the command line', () => {
  it('is one maker: what it asked for waits for an account, and it approves what an account asked for', async () => {
    const ops = opsOn(service)
    const loan = await aLoan()
    const off = await ops(['loans', 'write-off', loan.split('/').at(-1)!, '-o', '1', '--yes'])
    expect(off).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Nothing is posted: the write-off of 110000\.00 TZS waits/),
    })
    const [, id = ''] = /pending action (\d+)/.exec(off.out) ?? []
    for (const command of [['approve'], ['reject', '--reason', 'No']])
      expect(await ops(['approvals', ...command, id, '-o', '1', '--yes'])).toMatchObject({ code: 1 })
    expect((await ops(['approvals', 'withdraw', id, '-o', '1', '--yes'])).code).toBe(0)
    const { action } = await ask('reverse')
    const number = action.split('/').at(-1)!
    expect((await ops(['approvals', 'list', '-o', '1', '--state', 'pending'])).out).toContain(number)
    const approved = await ops(['approvals', 'approve', number, '-o', '1', '--yes', '--json'])
    expect(approved).toMatchObject({ code: 0, json: { id: number, state: 'approved', decidedBy: null } })
    expect((await ops(['approvals', 'show', number, '-o', '1', '--json'])).json).toMatchObject({ kind: 'reverse' })
  })
})

/** The changes that one person alone made, or one person's approval of their own, above the amount: there are none. */
const ALONE = `
  SELECT a.id, a.action, a.request_id FROM (
    SELECT *, greatest((change #>> '{posted,amount}')::bigint, (change #>> '{reversed,amount}')::bigint) AS amount
    FROM audit_entry WHERE entity = 'loan' AND action IN ('reverse', 'adjust', 'Write-off', 'Waive Interest')) a
  WHERE a.amount > $1 AND NOT EXISTS (
    SELECT FROM pending_action p WHERE p.organization_id = a.organization_id AND a.request_id = 'approval-' || p.id
      AND p.state = 'approved' AND p.loan_id::text = a.entity_id AND p.decided_by IS NOT DISTINCT FROM a.account_id
      AND p.asked_by IS DISTINCT FROM p.decided_by AND p.amount >= a.amount)`

describe('random requests and decisions of several accounts', () => {
  it.each([1, 2, 3])('nothing above the amount is posted by one person alone: random requests, %i', async (seed) => {
    const below = randomFrom(seed)
    const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
    const loans = await Promise.all(Array.from({ length: 4 }, aLoan))
    const posted: { loan: string; id: string }[] = []
    const actions: string[] = []
    const steps: (() => Promise<void>)[] = [
      async () => {
        const loan = pick(loans)
        const { status, body } = await act(below(2), `${loan}/repayments`, admins[0]!, {
          transactionAmount: 1 + below(2_500),
        })
        if (status === 200) posted.push({ loan, id: body.id })
      },
      async () => {
        const { loan, id } = pick(posted)
        await wait(act(below(2), `${loan}/repayments/${id}/reverse`, pick(admins), {}))
      },
      async () => {
        const { loan, id } = pick(posted)
        const body = { transactionAmount: below(2_500) }
        await wait(act(below(2), `${loan}/repayments/${id}/adjust`, pick(admins), body))
      },
      async () => {
        const path = `${pick(loans)}/repayments/waive-interest`
        const token = pick([...admins, service.tokens.partner])
        await wait(act(below(2), path, token, { transactionAmount: 1 + below(2_500) }))
      },
      async () => {
        if (below(8) === 0) await wait(act(below(2), `${pick(loans)}/write-off`, pick(admins), {}))
      },
      async () => void (actions.length > 0 && (await act(below(2), `${pick(actions)}/approve`, pick(admins)))),
      async () => void (actions.length > 0 && (await act(below(2), `${pick(actions)}/approve`, pick(admins)))),
      async () => void (actions.length > 0 && (await act(below(2), `${pick(actions)}/withdraw`, pick(admins)))),
    ]
    const wait = async (asking: Promise<Answer>) => {
      const { status, body } = await asking
      if (status === 202) actions.push(`/v1/pending-actions/${body.id}`)
    }
    for (const loan of loans)
      posted.push({
        loan,
        id: (await service.post(`${loan}/repayments`, { body: { transactionAmount: 1_500 } })).body.id,
      })
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 8 }, () => pick(steps)()))
    const { rows } = await service.deps.db.pool.query(ALONE, [1_000_00])
    expect(rows).toEqual([])
    const counts = await service.deps.db.pool.query(
      `SELECT (SELECT count(*)::int FROM pending_action WHERE state = 'approved') AS approved,
        (SELECT count(*)::int FROM audit_entry WHERE entity = 'loan' AND request_id LIKE 'approval-%' AND action <> 'time') AS posted`,
    )
    expect(counts.rows[0].approved).toBeGreaterThan(0)
    expect(counts.rows[0].posted).toBe(counts.rows[0].approved)
  })

  it('book check finds nothing, and names an approval whose maker is its checker', async () => {
    expect((await checkBook(service.deps)).differences).toEqual([])
    await pastTriggers(service.owner, `UPDATE pending_action SET asked_by = decided_by WHERE state = 'approved'`)
    const messages = (await checkBook(service.deps)).differences.map(({ message }) => message)
    expect(messages).toContain('was decided by the one who asked for it')
  })
})
