import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../clients/typescript/src/clock.ts'
import { MkopoError } from '../../../clients/typescript/src/index.ts'
import { answer, broken, failureOf, fakeService, refusal } from './fake.ts'

afterEach(() => vi.useRealTimers())

const _UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const keysOf = (sent: readonly { headers: Headers }[]) => sent.map(({ headers }) => headers.get('idempotency-key'))
const repayment = { transactionAmount: 10_000.5 }

describe('an attempt that failed', () => {
  it.each([
    ['no answer', broken()],
    ['429', refusal(429, 'resource_exhausted')],
    ['503', refusal(503, 'unavailable')],
    ['aborted', refusal(409, 'aborted')],
    ['502 of a gateway', new Response('<html>', { status: 502 })],
    ['504 of a gateway', new Response('<html>', { status: 504 })],
    ['a page of another server', new Response('<html>Sign in</html>', { status: 200 })],
    ['half an answer', new Response('{"id": "1', { headers: { 'content-type': 'application/json' } })],
  ])('is followed by another one: %s', async (_, reaction) => {
    const { mkopo, sent, clock } = fakeService([reaction, answer({ id: '1' })])
    expect(await mkopo.postRepayment('1', repayment)).toEqual({ id: '1' })
    expect(sent).toHaveLength(2)
    expect(clock.slept).toHaveLength(1)
  })

  it.each([
    [400, 'invalid_argument'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [409, 'failed_precondition'],
    [409, 'already_exists'],
    [500, 'internal'],
  ])('is not followed by another one: %s %s', async (status, code) => {
    const { mkopo, sent } = fakeService([refusal(status, code)])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error).toBeInstanceOf(MkopoError)
    expect(error).toMatchObject({ status, code, message: `about ${code}`, requestId: 'req-1', details: [] })
    expect(sent).toHaveLength(1)
  })

  it('is repeated five times, or as often as the options or the call say', async () => {
    const count = async (retries?: number, call?: number) => {
      const { mkopo, sent } = fakeService([broken()], { token: 't', retries })
      await failureOf(mkopo.getLoan('1', call === undefined ? {} : { retries: call }))
      return sent.length
    }
    expect([await count(), await count(2), await count(2, 0)]).toEqual([6, 3, 1])
  })

  it('is followed by longer and longer pauses, each drawn at random and at most 8 s', async () => {
    const bounds = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]
    const all = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { mkopo, clock } = fakeService([broken()], { token: 't', retries: 8 })
        await failureOf(mkopo.getLoan('1'))
        return clock.slept
      }),
    )
    for (const [index, bound] of bounds.entries()) {
      const pauses = all.map((slept) => slept[index]!)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(bound)
      expect(new Set(pauses).size).toBeGreaterThan(1)
    }
  })

  it('waits for Retry-After, in seconds or until a date', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString()
    const { mkopo, clock } = fakeService([
      refusal(429, 'resource_exhausted', { 'retry-after': '60' }),
      refusal(503, 'unavailable', { 'retry-after': date }),
      answer({}),
    ])
    await mkopo.postRepayment('1', repayment)
    const [first = 0, second = 0] = clock.slept
    expect([first >= 60_000, first < 61_000]).toEqual([true, true])
    expect([second > 15_000, second < 21_000]).toEqual([true, true])
  })

  it('is the last one where Retry-After is longer than a minute', async () => {
    const { mkopo, sent } = fakeService([refusal(429, 'resource_exhausted', { 'retry-after': '840' })])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error).toMatchObject({ code: 'resource_exhausted', retryAfter: 840, mayBeDone: false })
    expect(sent).toHaveLength(1)
  })

  it('of a DELETE whose answer was lost is followed by not_found: it is deleted', async () => {
    const { mkopo } = fakeService([broken(), refusal(404, 'not_found')])
    expect(await mkopo.deleteWebhookEndpoint('1')).toBeUndefined()
    const { mkopo: other } = fakeService([refusal(404, 'not_found')])
    expect(await failureOf(other.deleteWebhookEndpoint('1'))).toMatchObject({ code: 'not_found' })
  })

  it('does not follow a redirect, which would make a GET of a POST', async () => {
    const moved = new Response(null, { status: 301, headers: { location: 'https://new.example/' } })
    const { mkopo, sent } = fakeService([moved])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error).toMatchObject({ code: 'unexpected_answer', message: 'the service has moved to https://new.example/' })
    expect(sent).toHaveLength(1)
  })
})

describe('a call without an answer', () => {
  const outcome = async (...reactions: Parameters<typeof fakeService>[0]) => {
    const { mkopo } = fakeService(reactions)
    const error = await failureOf(mkopo.postRepayment('1', repayment, { retries: reactions.length - 1 }))
    return [error.code, error.mayBeDone]
  }

  it('says whether it may have been carried out', async () => {
    expect(await outcome(broken())).toEqual(['unreachable', true])
    expect(await outcome(broken('ECONNREFUSED'))).toEqual(['unreachable', false])
    expect(await outcome(broken('ENOTFOUND'), broken('ECONNREFUSED'))).toEqual(['unreachable', false])
    expect(await outcome(broken(), broken('ECONNREFUSED'))).toEqual(['unreachable', true])
    expect(await outcome(refusal(503, 'unavailable'))).toEqual(['unavailable', true])
    expect(await outcome(refusal(409, 'aborted'))).toEqual(['aborted', true])
    expect(await outcome(refusal(500, 'internal'))).toEqual(['internal', true])
    expect(await outcome(refusal(429, 'resource_exhausted'))).toEqual(['resource_exhausted', false])
    expect(await outcome(broken(), refusal(429, 'resource_exhausted'))).toEqual(['resource_exhausted', true])
    // Under its key the lost attempt would have been answered again.
    expect(await outcome(broken(), refusal(409, 'failed_precondition'))).toEqual(['failed_precondition', false])
  })

  it('that changes nothing may not have been carried out', async () => {
    const { mkopo } = fakeService([broken()])
    expect(await failureOf(mkopo.getLoan('1'))).toMatchObject({ code: 'unreachable', status: 0, mayBeDone: false })
  })

  it('has the key with which it can be continued, and the reason', async () => {
    const { mkopo, sent } = fakeService([broken()])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error.idempotencyKey).toBe(keysOf(sent)[0])
    expect(error.message).toBe('no answer from api.lender.example: fetch failed')
    expect((error.cause as Error).message).toBe('fetch failed')
  })

  it('ends each attempt after its time, which is longer for a long poll', async () => {
    const never = (_: unknown, signal: AbortSignal) =>
      new Promise<Response>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { mkopo, sent } = fakeService([never], { token: 't', retries: 1 })
    const posted = failureOf(mkopo.postRepayment('1', repayment))
    await vi.advanceTimersByTimeAsync(29_999)
    expect(sent).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(31_000)
    expect(await posted).toMatchObject({ code: 'unreachable', mayBeDone: true })
    expect((await posted).message).toBe('no answer from api.lender.example: no answer within 30000 ms')
    expect(sent).toHaveLength(2)
    const polled = failureOf(mkopo.listEvents({ wait: 30 }, { timeoutMs: 5, retries: 0 }))
    await vi.advanceTimersByTimeAsync(30_005)
    expect((await polled).message).toContain('no answer within 30005 ms')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends by its signal: before, during an attempt, and in a pause', async () => {
    const reason = new Error('enough')
    const early = fakeService([answer({})])
    expect(await failureOf(early.mkopo.getLoan('1', { signal: AbortSignal.abort(reason) }))).toBe(reason)
    expect(early.sent).toEqual([])

    const during = new AbortController()
    const slow = fakeService([
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          during.abort(reason)
        }),
    ])
    expect(await failureOf(slow.mkopo.getLoan('1', { signal: during.signal }))).toBe(reason)
    expect(slow.sent).toHaveLength(1)

    const paused = new AbortController()
    const failing = fakeService([
      () => {
        queueMicrotask(() => queueMicrotask(() => paused.abort(reason)))
        return broken()
      },
    ])
    expect(await failureOf(failing.mkopo.getLoan('1', { signal: paused.signal, retries: 1_000 }))).toBe(reason)
    expect(failing.sent.length).toBeLessThan(5)
  })
})

describe('a pause', () => {
  it('lasts as long as it should, or until its signal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const reason = new Error('enough')
    const controller = new AbortController()
    const cut = failureOf(systemClock.sleep(1_000, controller.signal))
    const whole = systemClock.sleep(1_000, new AbortController().signal).then(() => 'slept')
    await vi.advanceTimersByTimeAsync(999)
    controller.abort(reason)
    expect(await cut).toBe(reason)
    expect(await failureOf(systemClock.sleep(1_000, controller.signal))).toBe(reason)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await whole).toBe('slept')
  })
})
