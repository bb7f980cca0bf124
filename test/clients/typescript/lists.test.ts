import { describe, expect, it } from 'vitest'
import { allOf, answer, broken, failureOf, fakeService, refusal } from './fake.ts'

const idsOf = async (items: AsyncIterable<{ id: string }>) => (await allOf(items)).map(({ id }) => id)
const part = (ids: readonly string[], members: object) => answer({ items: ids.map((id) => ({ id })), ...members })

describe('a list', () => {
  it('is the part that was asked for', async () => {
    const { mkopo, sent } = fakeService([part(['1', '2'], { total: 5, page: 2, rowsPerPage: 2, next: 'c' })])
    const page = await mkopo.listLoans({ page: 2, rows: 2, status: 'Active' })
    expect([page.items.length, page.total, page.page, page.next]).toEqual([2, 5n, 2, 'c'])
    expect(sent.map(({ path }) => path)).toEqual(['/v1/loans?page=2&rows=2&status=Active'])
  })

  it('gives all items by the cursor, with the same filters and without the page', async () => {
    const { mkopo, sent } = fakeService([
      part(['1', '2'], { total: 9, page: 1, rowsPerPage: 2, next: 'a' }),
      part([], { rowsPerPage: 2, next: 'b' }),
      part(['3'], { rowsPerPage: 2, next: 'c' }),
      part([], { rowsPerPage: 2 }),
    ])
    expect(await idsOf(mkopo.listLoans({ page: 1, rows: 2, status: 'Active' }))).toEqual(['1', '2', '3'])
    expect(sent.map(({ path }) => path)).toEqual([
      '/v1/loans?page=1&rows=2&status=Active',
      ...['a', 'b', 'c'].map((cursor) => `/v1/loans?rows=2&status=Active&after=${cursor}`),
    ])
  })

  it('gives all items by pages, where its order has no cursor', async () => {
    const { mkopo, sent } = fakeService([
      part(['1', '2'], { total: 4, page: 1, rowsPerPage: 2 }),
      part(['3', '4'], { total: 4, page: 2, rowsPerPage: 2 }),
    ])
    expect(await idsOf(mkopo.listLoans({ orderBy: 'principal', rows: 2 }))).toEqual(['1', '2', '3', '4'])
    expect(sent.map(({ path }) => path)).toEqual([
      '/v1/loans?orderBy=principal&rows=2',
      '/v1/loans?orderBy=principal&rows=2&page=2',
    ])
  })

  it('of events ends where there are no more now', async () => {
    const { mkopo } = fakeService([
      part(['a'], { next: 'x', hasMore: true }),
      part(['b'], { next: 'y', hasMore: false }),
    ])
    expect(await idsOf(mkopo.listEvents())).toEqual(['a', 'b'])
  })

  it('asks for no more than is taken, and may be read again', async () => {
    const { mkopo, sent } = fakeService([part(['1', '2'], { next: 'a' }), part([], {})])
    const loans = mkopo.listLoans()
    for await (const { id } of loans) if (id === '1') break
    expect(sent).toHaveLength(1)
    expect(await idsOf(loans)).toEqual(['1', '2'])
    expect((await loans).items).toHaveLength(2)
  })

  it('goes on after a lost answer, and ends with a refusal', async () => {
    const { mkopo } = fakeService([part(['1'], { next: 'a' }), broken(), part(['2'], { next: 'b' }), part([], {})])
    expect(await idsOf(mkopo.listLoans())).toEqual(['1', '2'])
    const refused = fakeService([part(['1'], { next: 'a' }), refusal(400, 'invalid_argument')])
    expect(await failureOf(idsOf(refused.mkopo.listLoans()))).toMatchObject({ code: 'invalid_argument' })
  })

  it('ends by its signal', async () => {
    const controller = new AbortController()
    const { mkopo, sent } = fakeService([part(['1'], { next: 'a' })])
    const read = async () => {
      for await (const _ of mkopo.listLoans({}, { signal: controller.signal })) controller.abort(new Error('enough'))
    }
    expect((await failureOf(read())).message).toBe('enough')
    expect(sent).toHaveLength(1)
  })
})
