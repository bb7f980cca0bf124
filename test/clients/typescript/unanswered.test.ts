import { afterEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../../clients/typescript/src/clock.ts'
import { answer, broken, failureOf, fakeService, refusal } from './fake.ts'

afterEach(() => vi.useRealTimers())

const repayment = { transactionAmount: 10_000.5 }

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
    // The service looks at the token before it looks for the key, and a proxy knows no key.
    expect(await outcome(broken(), refusal(401, 'unauthenticated'))).toEqual(['unauthenticated', true])
    expect(await outcome(broken(), refusal(403, 'permission_denied'))).toEqual(['permission_denied', true])
    expect(await outcome(broken(), new Response('No', { status: 403 }))).toEqual(['unexpected_answer', true])
    expect(await outcome(refusal(403, 'permission_denied'))).toEqual(['permission_denied', false])
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
    expect(error.idempotencyKey).toBe(sent[0]!.headers.get('idempotency-key'))
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
