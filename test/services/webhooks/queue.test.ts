import { describe, expect, it } from 'vitest'
import type { ToldEvent } from '../../../src/services/events/toldEvent.ts'
import { MOST_PARKED, Queue } from '../../../src/services/webhooks/queue.ts'

/** An event of a loan, as far as a queue looks at it. */
const told = (sequence: number, loan: number) =>
  ({ sequence: BigInt(sequence), type: 'repayment.posted', subject: { loanId: BigInt(loan) } }) as ToldEvent
const parked = (sequence: number, loan: number, dueAt: number | null) => ({
  ...{ sequence: BigInt(sequence), subject: `loan ${loan}`, type: 'repayment.posted', dueAt },
  attempts: dueAt === null ? 0 : 1,
})
const numberOf = (item: { sequence: bigint } | undefined) => item && Number(item.sequence)

describe('the queue of an endpoint', () => {
  it('gives one event of a loan at a time, and the position before the first that is not settled', () => {
    const queue = new Queue(0n)
    queue.add([told(1, 7), told(2, 7), told(3, 8)], 5n)
    const [first, other] = [queue.take(0)!, queue.take(0)!]
    expect([numberOf(first), numberOf(other), queue.take(0)]).toEqual([1, 3, undefined])
    queue.settled(other, 0)
    expect(queue.position()).toBe(0n)
    queue.settled(first, 0)
    expect([queue.position(), numberOf(queue.take(0))]).toEqual([1n, 2])
  })

  it('parks an event with those of its loan behind it, and lets the position pass them', () => {
    const queue = new Queue(0n)
    queue.add([told(1, 7), told(2, 7), told(3, 8)], 3n)
    queue.park(queue.take(0)!, 5_000)
    queue.settled(queue.take(0)!, 0)
    queue.add([told(4, 7)], 4n)
    expect([queue.position(), queue.take(4_999)]).toEqual([4n, undefined])
    const { parked: rows } = queue.changes()
    expect(rows.map((row) => [numberOf(row), row.attempts, row.dueAt])).toEqual([
      [1, 1, 5_000],
      [2, 0, null],
      [4, 0, null],
    ])
    const due = queue.take(5_000)!
    queue.settled(due, 5_000)
    expect([numberOf(due), numberOf(queue.take(5_000))]).toEqual([1, 2])
    expect(queue.changes().unparked).toEqual([1n])
  })

  it('sends nothing again of a loan whose later event is parked: a process took it that could not save so', () => {
    const queue = new Queue(2n, [parked(5, 7, 1_000), parked(6, 7, null)])
    queue.add([told(3, 7), told(4, 8), told(5, 7), told(6, 7), told(7, 7)], 7n)
    const order: (number | undefined)[] = []
    for (let item = queue.take(1_000); item; item = queue.take(1_000)) {
      order.push(numberOf(item))
      queue.settled(item, 1_000)
    }
    expect(order).toEqual([5, 6, 7, 4])
    expect(queue.position()).toBe(7n)
  })

  it('reads nothing more while very many events wait', () => {
    const queue = new Queue(0n)
    queue.add([told(1, 7)], 1n)
    queue.park(queue.take(0)!, 5_000)
    let sequence = 1
    while (queue.room() > 0) queue.add([told(++sequence, 7)], BigInt(sequence))
    expect(sequence).toBe(MOST_PARKED)
    queue.settled(queue.take(5_000)!, 5_000)
    expect(queue.room()).toBeGreaterThan(0)
  })

  it('probes with another event each turn, of those that wait longest', () => {
    const queue = new Queue(0n, [parked(2, 7, 9_000)])
    queue.add([told(3, 8), told(4, 8), told(5, 9)], 5n)
    const probes = [0, 1, 2, 3].map((turn) => {
      const item = queue.takeProbe(turn)!
      queue.giveBack(item)
      return numberOf(item)
    })
    expect(probes).toEqual([2, 3, 5, 2])
    expect(new Queue(0n).takeProbe(1)).toBeUndefined()
  })
})
