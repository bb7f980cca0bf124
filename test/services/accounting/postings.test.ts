import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../../src/services/access/caller.ts'
import { listPostings, type PostingsRequest } from '../../../src/services/accounting/postings.ts'
import { giveLedger } from '../../support/ledgerBook.ts'
import { anotherLender } from '../../support/lenders.ts'
import { fillJournal, givePosting, journalIsUpToDate } from '../../support/postings.ts'
import { startService, type TestService } from '../../support/service.ts'

// Pages of the journal: a walk misses and repeats nothing, and looks at a bounded number of postings.

const POSTINGS = 130_000

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('postings are inserted by SQL')
  await anotherLender(service, 7, 'KES')
  await anotherLender(service, 8, 'KES')
  await giveLedger(service.owner, 7)
  await fillJournal(service.owner, 8, POSTINGS)
})
afterAll(() => service.close())

type Asked = Partial<PostingsRequest> & { readonly organizationId?: number }

const list = ({ organizationId = 8, ...request }: Asked) =>
  listPostings(service.deps, operator(organizationId, 'test'), {
    ...{ from: '1900-01-01', to: '2999-12-31', rows: 1_000 },
    ...request,
  })

/** Walks to the end. @returns the ids, and the number of answers */
async function walk(request: Asked): Promise<{ ids: number[]; answers: number }> {
  const ids: number[] = []
  let after: string | undefined
  for (let answers = 1; ; answers++) {
    const { items, next } = await list({ ...request, ...(after !== undefined && { after }) })
    ids.push(...items.map(({ id }) => Number(id)))
    if (next === undefined) return { ids, answers }
    after = next
  }
}

const idsWhere = async (condition: string, organizationId = 8): Promise<number[]> => {
  const text = `SELECT id FROM posting WHERE organization_id = $1 AND ${condition} ORDER BY id`
  const { rows } = await service.owner.pool.query<{ id: bigint }>(text, [organizationId])
  return rows.map(({ id }) => Number(id))
}

describe('a walk through the journal', () => {
  it('gives every posting once, in the order in which they came', async () => {
    expect((await walk({})).ids).toEqual(Array.from({ length: POSTINGS }, (_, index) => index + 1))
  })

  it.each([
    ['the first day, on which some came late', '2024-01-01', '2024-01-01'],
    ['days in the middle', '2024-03-01', '2024-03-02'],
    ['a day without postings, and the last one', '2024-05-09', '2025-01-01'],
    ['no day with a posting', '2023-01-01', '2023-12-31'],
  ])('of %s', async (_, from, to) => {
    const { ids, answers } = await walk({ from, to, rows: 300 })
    expect(ids).toEqual(await idsWhere(`booked_on BETWEEN '${from}' AND '${to}'`))
    expect(answers).toBeLessThan(ids.length / 300 + 6)
  })

  it('of an account that few postings are on, in few answers', async () => {
    const { ids, answers } = await walk({ account: '5100' })
    expect(ids).toEqual(await idsWhere('write_offs IS NOT NULL'))
    expect(ids.length).toBe(13)
    expect(answers).toBeLessThan(5)
    expect(await walk({ account: '9' })).toMatchObject({ ids: [] })
  })

  it('of a loan', async () => {
    const { ids } = await walk({ loanId: 7n, rows: 1 })
    expect(ids).toEqual([6, 100_006])
    expect((await walk({ loanId: 7n, account: '1000', to: '2024-02-01' })).ids).toEqual([6])
    expect((await walk({ loanId: 999_999n })).ids).toEqual([])
  })

  it('goes on with what has come since', async () => {
    const { items, next } = await list({ organizationId: 7 })
    expect(items.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4, 5, 6, 7])
    const at = { organizationId: 7, ...(next !== undefined && { after: next }) }
    expect(await list(at)).toEqual({ items: [] })
    await givePosting(service.owner, { organizationId: 7, id: 8, bookedOn: '2026-01-02', amounts: {} })
    await givePosting(service.owner, {
      ...{ organizationId: 7, id: 9, bookedOn: '2026-01-03', amounts: { cash: 1n, overpayments: -1n } },
    })
    await journalIsUpToDate(service.owner, 7, 9)
    expect((await list(at)).items.map(({ id }) => id)).toEqual([9n])
  })
})

describe('the postings on an account', () => {
  it('are by the chart in force on their day, with those that move amounts from and to the account', async () => {
    const on = async (account: string) => (await walk({ organizationId: 7, account, to: '2026-02-28' })).ids
    expect(await on('1000')).toEqual([1, 2, 3, 4, 5, 9])
    expect(await on('1001')).toEqual([4, 5, 6, 7])
    expect(await on('2000')).toEqual([6, 9])
  })

  it('have all their lines', async () => {
    const { items } = await list({ organizationId: 7, account: '4000' })
    expect(items).toMatchObject([
      {
        ...{ id: 2n, kind: 'repayment', valueDate: '2026-01-20', bookedOn: '2026-01-31', late: true },
        lines: [
          { account: '1000', debit: 60_050n, credit: 0n },
          { account: '1100', debit: 0n, credit: 50_000n },
          { account: '4000', debit: 0n, credit: 10_050n },
        ],
      },
    ])
  })
})

it.each([
  [{ after: 'x' }, 'after'],
  [{ after: Buffer.from('events.1.').toString('base64url') }, 'after'],
  [{ from: '2026-02-01', to: '2026-01-31' }, 'to'],
])('refuses %o', async (request, role) => {
  await expect(list(request)).rejects.toMatchObject({ code: 'invalid_argument', faults: [{ role }] })
})
