import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimChain } from '../../../src/db/events/chain.ts'
import { readEvents } from '../../../src/db/events/eventList.ts'
import { inTransaction } from '../../../src/db/postgres/transaction.ts'
import { createEventHeads } from '../../../src/services/events/eventHeads.ts'
import { chainSecret } from '../../../src/services/events/seal.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain, workRound } from '../../../src/services/jobs/job.ts'
import { noListener } from '../../../src/services/listener.ts'
import { startSequencer } from '../../support/jobs.ts'
import { anotherLender } from '../../support/lenders.ts'
import { within } from '../../support/patience.ts'
import { silent } from '../../support/quiet.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('rows of the trail are added by SQL')
})
afterAll(() => service.close())

const ORGANIZATION = 1
const ALL = { organizationId: ORGANIZATION, after: 0n, to: 2n ** 62n, most: 100_000 }

/** The numbers of events with their changes, as they stand. */
const told = async () =>
  (await readEvents(service.deps.db, ALL, undefined)).map(({ sequence, part, change }) => ({
    sequence,
    part,
    changeId: change.id,
  }))

/** A change in a transaction of its own, step by step. */
async function openChange(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const ids: bigint[] = []
  return {
    ids,
    begin: () => client.query('BEGIN; SELECT pg_current_xact_id()'),
    async draw() {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO audit_entry (organization_id, at, action, entity, entity_id)
         VALUES ($1, now(), 'update', 'customer', '1') RETURNING id`,
        [ORGANIZATION],
      )
      ids.push(BigInt(rows[0]!.id))
    },
    end: (how: 'COMMIT' | 'ROLLBACK') => client.query(how),
    close: () => client.end(),
  }
}

const WRITERS = 4
const anyStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ writer: fc.nat(WRITERS - 1), does: fc.constantFrom('write' as const) }) },
  { weight: 2, arbitrary: fc.record({ writer: fc.nat(WRITERS - 1), does: fc.constantFrom('commit', 'abort') }) },
  { weight: 3, arbitrary: fc.record({ writer: fc.nat(1), does: fc.constant('seal' as const) }) },
)

describe('the sequencer', () => {
  it(
    'numbers each committed change once, in the order of the trail, however transactions begin and end',
    async () => {
      const writers = await Promise.all(Array.from({ length: WRITERS }, () => openChange(service.url)))
      const sequencers = [sequencerJob(service.deps), sequencerJob(service.deps)]
      const committed: bigint[] = []
      let seen = (await told()).length
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 40 }), async (steps) => {
          const open = new Map<number, bigint[]>()
          const end = async (writer: number, how: 'COMMIT' | 'ROLLBACK') => {
            const ids = open.get(writer)
            if (!ids) return
            await writers[writer]!.end(how)
            open.delete(writer)
            if (how === 'COMMIT') committed.push(...ids)
          }
          for (const { writer, does } of steps) {
            const one = writers[writer]!
            if (does === 'seal') {
              await workRound(sequencers[writer]!)
              const events = await told()
              // What a reader has seen stays where it is, and grows at its end.
              expect(events.length).toBeGreaterThanOrEqual(seen)
              expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => BigInt(index + 1)))
              seen = events.length
            } else if (does === 'write') {
              if (!open.has(writer)) {
                await one.begin()
                open.set(writer, [])
              }
              await one.draw()
              open.get(writer)!.push(one.ids.at(-1)!)
            } else await end(writer, does === 'commit' ? 'COMMIT' : 'ROLLBACK')
          }
          for (const writer of open.keys()) await end(writer, 'COMMIT')
        }),
        { numRuns: 60 },
      )
      await drain(sequencerJob(service.deps))
      const changes = (await told()).map(({ changeId }) => changeId)
      expect(changes).toEqual(committed.toSorted((a, b) => (a < b ? -1 : 1)))
      await Promise.all(writers.map((writer) => writer.close()))
    },
    within(120_000),
  )

  it('waits for a change that has drawn its number and is not committed, and numbers the others after it', async () => {
    const [first, second] = await Promise.all([openChange(service.url), openChange(service.url)])
    const before = (await told()).length
    await first.begin()
    await first.draw()
    await second.begin()
    await second.draw()
    await second.end('COMMIT')
    const sequencer = sequencerJob(service.deps)
    for (let round = 0; round < 5; round++) await workRound(sequencer)
    expect(await told()).toHaveLength(before)
    await first.end('COMMIT')
    await drain(sequencerJob(service.deps))
    expect((await told()).slice(before).map(({ changeId }) => changeId)).toEqual([first.ids[0], second.ids[0]])
    await Promise.all([first.close(), second.close()])
  })

  it('of two instances, one works on an organization at a time; together they miss nothing', async () => {
    const other = await service.another()
    const before = (await told()).length
    const writing = Array.from({ length: 60 }, (_, index) =>
      (index % 2 === 0 ? service : other).post('/v1/customers', { body: { externalId: `both-${index}` } }),
    )
    let isWritten = false
    const seal = async (of: TestService) => {
      const sequencer = sequencerJob(of.deps)
      while (!isWritten || (await workRound(sequencer)).left !== 'done') await workRound(sequencer)
    }
    const sealing = [seal(service), seal(other)]
    await Promise.all(writing)
    isWritten = true
    await Promise.all(sealing)
    await drain(sequencerJob(service.deps))
    const events = await told()
    expect(events.length - before).toBe(60)
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => BigInt(index + 1)))
    await other.close()
  })

  it('of two instances, one begins the chain of a lender, and the other does not wait for it', async () => {
    const { db } = service.deps
    await anotherLender(service, 7, 'UGX')
    const claim = () => inTransaction(db, (transaction) => claimChain(transaction, 7))
    const meanwhile = await inTransaction(db, async (transaction) => {
      expect(await claimChain(transaction, 7)).toMatchObject({ sequence: 0n })
      return claim()
    })
    expect(meanwhile).toBeUndefined()
    expect(await claim()).toMatchObject({ sequence: 0n })
  })

  it('of one instance wakes those who wait there for what the sequencer of another numbered', async () => {
    await drain(sequencerJob(service.deps))
    const eventHeads = createEventHeads()
    eventHeads.note(ORGANIZATION, BigInt((await told()).length))
    const ending = new AbortController()
    const woken = eventHeads.after(ORGANIZATION, eventHeads.latest(ORGANIZATION), ending.signal)
    await service.post('/v1/customers', { body: { externalId: 'numbered-elsewhere' } })
    await drain(sequencerJob(service.deps))
    await workRound(sequencerJob({ ...service.deps, eventHeads }))
    ending.abort()
    expect(await woken).toBe(true)
  })

  it('seals a row of the trail that has no stamp, counts it, and tells which it is', async () => {
    const past = await openChange(service.url)
    await drain(sequencerJob(service.deps))
    const before = (await told()).length
    await past.draw()
    const counted: string[] = []
    const logged: unknown[] = []
    const listener = { ...noListener, notStamped: () => void counted.push('not stamped') }
    const log = { ...silent, error: (context: object, message: string) => void logged.push([context, message]) }
    await drain(sequencerJob({ ...service.deps, listener }, log))
    expect((await told()).length).toBe(before + 1)
    expect(counted).toEqual(['not stamped'])
    const said = 'a row of the audit trail was changed or added past the service; book check names it'
    expect(logged).toEqual([[{ organizationId: ORGANIZATION, changeId: past.ids[0] }, said]])
    await past.close()
  })

  it('seals nothing with another secret than the one before, and says so', async () => {
    await service.post('/v1/customers', { body: { externalId: 'with-another-secret' } })
    const before = await told()
    const deps = { ...service.deps, chainSecret: chainSecret('another secret of the tests') }
    await expect(drain(sequencerJob(deps))).rejects.toThrow(
      /^KEY_ENCRYPTION_SECRET: is not the one with which the chain/,
    )
    expect(await told()).toEqual(before)
    await drain(sequencerJob(service.deps))
    expect((await told()).length).toBe(before.length + 1)
  })
})

describe('the events of a book', () => {
  const eventsAfter = async (before: number) => {
    await drain(sequencerJob(service.deps))
    return (await readEvents(service.deps.db, { ...ALL, after: BigInt(before) }, undefined)).map(({ type }) => type)
  }

  it('are told of every change, and of what followed from it right after its cause', async () => {
    const before = (await told()).length
    await service.post('/v1/customers', { body: { externalId: 'told' } })
    const { body: loan } = await service.post('/v1/loans', {
      body: { customerId: 'told', productId: 1, principal: 1_000 },
    })
    const repay = (transactionAmount: number) =>
      service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount } })
    const { body: paid } = await repay(1_100)
    await repay(50)
    const token = service.tokens.operator
    await service.post(`/v1/loans/${loan.id}/repayments/${paid.id}/reverse`, { token })
    await service.post(`/v1/loans/${loan.id}/charge-off`, { token })
    expect(await eventsAfter(before + (await eventsAfter(before)).length)).toEqual([])
    expect(await eventsAfter(before)).toEqual([
      'customer.created',
      'loan.disbursed',
      ...['repayment.posted', 'loan.closed'],
      ...['repayment.posted', 'loan.overpaid'],
      ...['repayment.reversed', 'loan.reopened'],
    ])
  })

  it('of a change of before the events are sealed, and no receiver is told of them', async () => {
    await service.owner.pool.query(
      `UPDATE event_chain SET opened_at_change = (SELECT max(id) + 2 FROM audit_entry) WHERE organization_id = 1`,
    )
    const before = (await told()).length
    await service.post('/v1/customers', { body: { externalId: 'of-before' } })
    await service.post('/v1/customers', { body: { externalId: 'of-before-too' } })
    await service.post('/v1/customers', { body: { externalId: 'of-now' } })
    await drain(sequencerJob(service.deps))
    expect((await told()).length).toBe(before + 1)
    const { rows } = await service.deps.db.pool.query(
      `SELECT count(*)::int AS sealed FROM event e JOIN audit_entry a ON a.organization_id = e.organization_id
         AND a.id = e.change_id JOIN customer c ON c.organization_id = a.organization_id AND c.id::text = a.entity_id
         WHERE c.external_id LIKE 'of-before%' AND e.sequence IS NULL`,
    )
    expect(rows[0].sealed).toBe(2)
  })

  it('are sealed within a second by the background job', { timeout: within(20_000) }, async () => {
    const job = startSequencer(service.deps, silent)
    const before = (await told()).length
    await service.post('/v1/customers', { body: { externalId: 'in-the-background' } })
    await expect.poll(async () => (await told()).length, { timeout: within(10_000) }).toBe(before + 1)
    await job.stop()
  })
})
