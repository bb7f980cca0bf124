import { describe, expect, it } from 'vitest'
import { allOf, answer, broken, failureOf, fakeService, type Reaction, refusal } from './fake.ts'

const event = (sequence: number) => ({
  id: `evt_1_${sequence}`,
  type: 'loan.disbursed',
  data: { sequence: String(sequence), cursor: `c${sequence}` },
})

/** A feed of some events, which ends the loop of the reader when it has no more. */
function feedOf(most: number, trouble: readonly Reaction[] = []) {
  const controller = new AbortController()
  const waiting = [...trouble]
  const service = fakeService([
    async (sent, signal) => {
      const query = new URLSearchParams(sent.path.split('?')[1])
      const after = query.get('after')
      const next = waiting.shift()
      if (next !== undefined) {
        const outcome = typeof next === 'function' ? await next(sent, signal) : next
        if (outcome instanceof Error) throw outcome
        return outcome
      }
      const from = after === 'now' ? most : Number(after?.slice(1) ?? 0)
      const items = [1, 2, 3].map((step) => from + step).filter((sequence) => sequence <= most)
      if (items.length === 0 && after !== 'now') controller.abort()
      return answer({ items: items.map(event), next: `c${from + items.length}`, hasMore: from + items.length < most })
    },
  ])
  const paths = () => service.sent.map(({ path }) => path)
  return { ...service, controller, paths, signal: controller.signal }
}

const seen = async (events: AsyncIterable<{ event: { id: string }; cursor: string }>) =>
  (await allOf(events)).map(({ event, cursor }) => `${event.id} ${cursor}`)
const told = (...sequences: number[]) => sequences.map((sequence) => `evt_1_${sequence} c${sequence}`)

describe('following the events', () => {
  it('gives each once, with the cursor after it, and ends by the signal', async () => {
    const { mkopo, signal, paths } = feedOf(5)
    expect(await seen(mkopo.events.follow(undefined, { signal }))).toEqual(told(1, 2, 3, 4, 5))
    expect(paths()).toEqual(['', 'after=c3&', 'after=c5&'].map((after) => `/v1/events?${after}wait=30`))
  })

  it('continues from a cursor that was stored in the middle of an answer', async () => {
    const first = feedOf(5)
    let stored = ''
    for await (const { cursor } of first.mkopo.events.follow()) {
      stored = cursor
      if (cursor === 'c2') break
    }
    const { mkopo, signal } = feedOf(5)
    expect(await seen(mkopo.events.follow(stored, { signal }))).toEqual(told(3, 4, 5))
  })

  it('asks for now without a wait, so that no failure leaves an event out', async () => {
    const { mkopo, signal, paths } = feedOf(4, [broken()])
    expect(await seen(mkopo.events.follow('now', { signal }))).toEqual([])
    expect(paths()).toEqual(['now&wait=0', 'now&wait=0', 'c4&wait=30'].map((query) => `/v1/events?after=${query}`))
  })

  it('survives every failure that passes', async () => {
    const trouble = [
      ...Array(40).fill(broken()),
      refusal(503, 'unavailable'),
      refusal(500, 'internal'),
      refusal(429, 'resource_exhausted', { 'retry-after': '300' }),
      new Response('<html>', { status: 502 }),
      new Response('{"items": [', { headers: { 'content-type': 'application/json' } }),
    ]
    const { mkopo, signal, clock } = feedOf(2, trouble)
    expect(await seen(mkopo.events.follow(undefined, { signal }))).toEqual(told(1, 2))
    expect(Math.max(...clock.slept)).toBeGreaterThanOrEqual(300_000)
  })

  it.each([
    [400, 'invalid_argument'],
    [401, 'unauthenticated'],
    [409, 'failed_precondition'],
  ])('ends with a refusal: %s %s', async (status, code) => {
    const { mkopo } = feedOf(2, [refusal(status, code)])
    expect(await failureOf(seen(mkopo.events.follow('c1')))).toMatchObject({ status, code })
  })

  it('asks no more than once in a second, where the service does not wait', async () => {
    const empty = answer({ items: [], next: 'c3', hasMore: false })
    const skipped = answer({ items: [], next: 'c3', hasMore: true })
    const { mkopo, signal, clock } = feedOf(3, [empty, empty, skipped])
    await seen(mkopo.events.follow('c3', { signal }))
    expect(clock.slept).toEqual([1_000, 1_000])
  })

  it('hands on the filter, and says how far it has come without an event', async () => {
    const cursors: string[] = []
    const { mkopo, signal, paths } = feedOf(3)
    const options = {
      types: 'loan.*',
      loanId: '7',
      rows: 10,
      signal,
      onCursor: (cursor: string) => void cursors.push(cursor),
    }
    await seen(mkopo.events.follow('c3', options))
    expect(cursors).toEqual(['c3'])
    expect(paths()[0]).toBe('/v1/events?types=loan.*&loanId=7&rows=10&after=c3&wait=30')
  })

  it('ends in the middle of an answer, of a wait and of a pause', async () => {
    const middle = feedOf(5)
    const read: string[] = []
    for await (const { cursor } of middle.mkopo.events.follow(undefined, { signal: middle.signal })) {
      read.push(cursor)
      middle.controller.abort()
    }
    expect(read).toEqual(['c1'])
    const hanging = (_: unknown, signal: AbortSignal) =>
      new Promise<Response>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        waiting.controller.abort()
      })
    const waiting = feedOf(5, [hanging])
    expect(await seen(waiting.mkopo.events.follow(undefined, { signal: waiting.signal }))).toEqual([])
    const failing = feedOf(5, [
      () => {
        failing.controller.abort()
        return refusal(500, 'internal')
      },
    ])
    expect(await seen(failing.mkopo.events.follow(undefined, { signal: failing.signal }))).toEqual([])
  })

  it('gives the words of the record style, with exact ids', async () => {
    const controller = new AbortController()
    const loan = '{"loan_id": 9223372036854775807, "borrower_id": 1}'
    const text = `{"items": [{"id": "evt_1_1", "data": {"cursor": "c1", "loan": ${loan}}}], "next": "c1", "hasMore": false}`
    const { mkopo } = fakeService([new Response(text, { headers: { 'content-type': 'application/json' } })])
    for await (const { event, cursor } of mkopo.records.events.follow(undefined, { signal: controller.signal })) {
      expect([event.data.loan, cursor]).toEqual([{ loan_id: 9_223_372_036_854_775_807n, borrower_id: 1n }, 'c1'])
      controller.abort()
    }
  })
})
