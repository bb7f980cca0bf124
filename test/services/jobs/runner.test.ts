import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { drain, type Job, type Left } from '../../../src/services/jobs/job.ts'
import { type RunningJobs, startJobs } from '../../../src/services/jobs/runner.ts'

// The runner of the background jobs, with a clock that a test moves.

interface Line {
  readonly job: string
  readonly organization: number | undefined
  readonly error: string
  readonly message: string
}

let running: RunningJobs
let lines: Line[]
let succeeded: number
let failures: number
/** The organizations whose work was begun, in order. */
let begun: number[]

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  succeeded = 0
  failures = 0
  begun = []
})
afterEach(async () => {
  const stopped = running?.stop()
  await vi.advanceTimersByTimeAsync(1_000)
  await stopped
  vi.useRealTimers()
})

const listener = { jobSucceeded: () => void succeeded++, jobFailed: () => void failures++ }
const log = {
  error(context: object, message: string) {
    const { err, job, organization } = context as { err: Error; job: string; organization?: number }
    lines.push({ job, organization, error: err.message, message })
  },
}

type Work = (organizationId: number, signal: AbortSignal) => Promise<Left> | Left

const jobOf = (organizations: readonly number[], work: Work, more: Partial<Job> = {}): Job => ({
  name: 'sequencer',
  failure: 'changes could not be sealed',
  everyMs: 100,
  organizations: async () => organizations,
  async work(organizationId, signal) {
    begun.push(organizationId)
    return work(organizationId, signal)
  },
  ...more,
})

const start = (...jobs: Job[]) => {
  running = startJobs(jobs, { listener, log })
}

/** Returns how often each organization was worked for. */
const timesOf = (organizationId: number) => begun.filter((one) => one === organizationId).length

const fails = (message: string) => (): never => {
  throw new Error(message)
}

describe('a job', () => {
  it('works for each organization, and again after its pause where nothing is left', async () => {
    start(jobOf([1, 2], () => 'done'))
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toEqual([1, 2])
    await vi.advanceTimersByTimeAsync(99)
    expect(begun).toEqual([1, 2])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toEqual([1, 2, 1, 2])
    expect(succeeded).toBe(2)
  })

  it('looks less often while it finds nothing, and as often as before after a round that found something', async () => {
    let looks = 0
    let isWork = false
    const organizations = async () => {
      looks++
      return isWork ? [1] : []
    }
    const looking = { idleMs: 500, organizations }
    start(jobOf([], () => 'done', looking))
    // Rounds at 0, 100, 300, 700 and 1,200 ms.
    for (const [pauseMs, count] of [
      [0, 1],
      [100, 2],
      [200, 3],
      [400, 4],
      [499, 4],
      [1, 5],
    ] as const) {
      await vi.advanceTimersByTimeAsync(pauseMs)
      expect(looks).toBe(count)
    }
    isWork = true
    await vi.advanceTimersByTimeAsync(500)
    expect(begun).toEqual([1])
    await vi.advanceTimersByTimeAsync(100)
    expect(begun).toEqual([1, 1])
  })

  it('goes on at once where more is left, and waits its pause where others hold what is left', async () => {
    const left: Left[] = ['more', 'more', 'waits', 'done']
    start(jobOf([1], () => left.shift() ?? 'done'))
    await vi.advanceTimersByTimeAsync(20)
    expect(begun).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(99)
    expect(begun).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toHaveLength(4)
  })

  it('takes one part in four of the time while its queue is long, or the part that it names', async () => {
    const slow = async (): Promise<Left> => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return 'more'
    }
    start(jobOf([1], slow), jobOf([2], slow, { share: 1 }))
    await vi.advanceTimersByTimeAsync(5_999)
    expect(timesOf(1)).toBe(6_000 / (4 * 50))
    expect(timesOf(2)).toBe(6_000 / (50 + 10))
  })

  it('rests for each organization of its round where it gathers, up to its longest pause, unless more is left', async () => {
    let [count, left]: [number, Left] = [8, 'done']
    const some = { organizations: async () => Array.from({ length: count }, (_, index) => index + 1) }
    start(jobOf([], () => left, { ...some, gatherMs: 20, idleMs: 500 }))
    await vi.advanceTimersByTimeAsync(159)
    expect(begun).toHaveLength(8)
    count = 64
    await vi.advanceTimersByTimeAsync(1 + 499)
    expect(begun).toHaveLength(8 + 64)
    ;[count, left] = [1, 'more']
    await vi.advanceTimersByTimeAsync(1 + 9)
    expect(begun).toHaveLength(8 + 64 + 1)
    left = 'done'
    await vi.advanceTimersByTimeAsync(1 + 99)
    expect(begun).toHaveLength(8 + 64 + 2)
  })

  it('tells no success while it waits for what it cannot find yet', async () => {
    let isWaiting = true
    start(jobOf([], () => 'done', { isWaiting: () => isWaiting }))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(succeeded).toBe(0)
    isWaiting = false
    await vi.advanceTimersByTimeAsync(100)
    expect(succeeded).toBe(1)
  })
})

describe('an organization that fails', () => {
  it('stops no other, nor another job, and is left alone longer each time, up to a minute', async () => {
    start(
      jobOf([1, 2], (id) => (id === 1 ? fails('damaged')() : 'done')),
      jobOf([3], () => 'done'),
    )
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toEqual([1, 2, 3])
    const pauses: number[] = []
    for (let last = performance.now(); pauses.length < 8; await vi.advanceTimersByTimeAsync(100)) {
      if (timesOf(1) === pauses.length + 1) continue
      pauses.push(Math.round((performance.now() - last) / 1_000))
      last = performance.now()
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 60, 60, 60])
    expect(timesOf(2)).toBeGreaterThan(2_000)
    expect(timesOf(3)).toBe(timesOf(2))
  })

  it('is left alone for up to twenty pauses of a job that works rarely', async () => {
    start(jobOf([1], fails('damaged'), { everyMs: 30_000 }))
    await vi.advanceTimersByTimeAsync(600_000 * 5)
    // 30, 60, 120, 240, 480 and then 600 s.
    expect(begun).toHaveLength(6 + 3)
  })

  it('is one line of the log until it fails otherwise or has worked, and every failure is counted', async () => {
    const errors = ['damaged', 'damaged', 'gone', undefined, 'gone']
    start(
      jobOf([7], () => {
        const error = errors.shift()
        return error === undefined ? 'done' : fails(error)()
      }),
    )
    await vi.advanceTimersByTimeAsync(2_000 + 4_000 + 8_000 + 100)
    const line = {
      job: 'sequencer',
      organization: 7,
      message: 'organization 7: changes could not be sealed; it will be tried again',
    }
    expect(lines).toEqual([
      { ...line, error: 'damaged' },
      { ...line, error: 'gone' },
      { ...line, error: 'gone' },
    ])
    expect(failures).toBe(4)
  })

  it('is told of again, and is left alone as briefly as at first, where it had no work meanwhile', async () => {
    let listed: number[] = [1]
    start(jobOf([], fails('damaged'), { organizations: async () => listed }))
    await vi.advanceTimersByTimeAsync(2_000)
    expect(lines).toHaveLength(1)
    // Another instance has done its work.
    listed = []
    await vi.advanceTimersByTimeAsync(5_000)
    expect(begun).toHaveLength(2)
    listed = [1]
    await vi.advanceTimersByTimeAsync(2_100)
    expect(begun).toHaveLength(4)
    expect(lines).toHaveLength(2)
  })

  it('is left alone as briefly as at first once it has worked', async () => {
    const left = ['fail', 'fail', 'done', 'fail', 'done']
    start(jobOf([1], () => (left.shift() === 'fail' ? fails('damaged')() : 'done')))
    await vi.advanceTimersByTimeAsync(2_000 + 4_000 + 100)
    expect(begun).toHaveLength(4)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(begun).toHaveLength(4)
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toHaveLength(5)
  })

  it('lets the job tell no success until it has worked', async () => {
    let isWhole = false
    start(jobOf([1, 2], (id) => (id === 1 && !isWhole ? fails('damaged')() : 'done')))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(succeeded).toBe(0)
    isWhole = true
    await vi.advanceTimersByTimeAsync(1_000)
    expect(succeeded).toBe(1)
  })
})

describe('a failure of all', () => {
  it('ends the round, is one line without an organization, and is tried again after two seconds', async () => {
    const unavailable = Object.assign(new Error('the database is away'), { code: 'ECONNREFUSED' })
    let isAway = true
    start(
      jobOf([1, 2], () => {
        if (isAway) throw unavailable
        return 'done'
      }),
    )
    await vi.advanceTimersByTimeAsync(1_999)
    expect(begun).toEqual([1])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toEqual([1, 1])
    isAway = false
    await vi.advanceTimersByTimeAsync(2_000)
    expect(begun).toEqual([1, 1, 1, 2])
    expect(lines).toEqual([
      {
        job: 'sequencer',
        organization: undefined,
        error: 'the database is away',
        message: 'changes could not be sealed; it will be tried again',
      },
    ])
  })
})

describe('a stop', () => {
  it('waits for the work that is under way, begins no other, and then lets the job end', async () => {
    const steps: string[] = []
    const { promise, resolve } = Promise.withResolvers<Left>()
    start(
      jobOf([1, 2], () => promise, {
        async stopped() {
          steps.push('stopped')
        },
      }),
    )
    await vi.advanceTimersByTimeAsync(0)
    const stopping = running.stop().then(() => steps.push('over'))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(steps).toEqual([])
    resolve('more')
    await stopping
    await vi.advanceTimersByTimeAsync(10_000)
    expect(steps).toEqual(['stopped', 'over'])
    expect(begun).toEqual([1])
  })

  it('ends work in the middle by its signal, which is no failure', async () => {
    start(
      jobOf(
        [1],
        (_, signal) =>
          new Promise<Left>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ),
    )
    await vi.advanceTimersByTimeAsync(0)
    await running.stop()
    expect({ begun, failures, lines }).toEqual({ begun: [1], failures: 0, lines: [] })
  })
})

describe('drain', () => {
  it('works until nothing is left, also what others hold or what cannot be found yet', async () => {
    const left: Left[] = ['more', 'more', 'waits', 'waits', 'done', 'done']
    let looks = 0
    const drained = drain(jobOf([1], () => left.shift()!, { isWaiting: () => ++looks < 6 }))
    await vi.advanceTimersByTimeAsync(100)
    await drained
    expect(left).toEqual([])
  })

  it('throws the failure of an organization once the work of the others is done', async () => {
    const left: Left[] = ['more', 'more', 'done']
    const job = jobOf([1, 2], (id) => (id === 1 ? fails('damaged')() : left.shift()!))
    await expect(drain(job)).rejects.toThrow('damaged')
    expect(begun).toEqual([1, 2, 2, 2])
  })
})
