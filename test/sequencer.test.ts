import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sequencerJob } from '../src/services/events/sequencer.ts'
import { drain } from '../src/services/jobs/job.ts'
import { sealAndBeKilled } from './support/killedSequencers.ts'
import { within } from './support/patience.ts'
import { startService, type TestService } from './support/service.ts'

// Events while sequencers are killed, by two instances, pollers and long polls. `npm run try -- events` makes 100,000 changes
// and 100 kills; MKOPO_CHANGES and MKOPO_KILLS say otherwise.

const CHANGES = Number(process.env.MKOPO_CHANGES ?? 800)
const KILLS = Number(process.env.MKOPO_KILLS ?? 2)
const WRITERS = 8

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('rows of the trail are added by SQL')
  other = await service.another()
})
afterAll(async () => {
  await other.close()
  await service.close()
})

/** Writes changes in transactions of one to five, some of which are rolled back. @returns the ids that were committed */
async function write(changes: number): Promise<bigint[]> {
  const client = new pg.Client({ connectionString: service.url })
  await client.connect()
  const committed: bigint[] = []
  while (committed.length < changes) {
    await client.query('BEGIN; SELECT pg_current_xact_id()')
    const ids: bigint[] = []
    for (let left = 1 + Math.floor(Math.random() * 5); left > 0; left--) {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO audit_entry (organization_id, at, action, entity, entity_id)
         VALUES (1, now(), 'update', 'customer', '1') RETURNING id`,
      )
      ids.push(BigInt(rows[0]!.id))
      if (Math.random() < 0.02) await pause(Math.random() * 20)
    }
    const isKept = Math.random() < 0.95
    await client.query(isKept ? 'COMMIT' : 'ROLLBACK')
    if (isKept) committed.push(...ids)
  }
  await client.end()
  return committed
}

interface Feed {
  readonly items: readonly { readonly data: { readonly sequence: string } }[]
  readonly next: string
  readonly hasMore: boolean
}

/** Follows the feed to its end. @returns the numbers of the events in the order in which they came */
async function follow(of: TestService, wait: number, isOver: () => boolean): Promise<number[]> {
  const seen: number[] = []
  let next = ''
  for (;;) {
    const isLast = isOver()
    const { status, body } = await of.get<Feed>(`/v1/events?rows=500&wait=${wait}${next && `&after=${next}`}`)
    expect(status, JSON.stringify(body)).toBe(200)
    seen.push(...body.items.map(({ data }) => Number(data.sequence)))
    next = body.next
    if (isLast && body.items.length === 0) return seen
    if (wait === 0) await pause(20)
  }
}

it(`${CHANGES} changes, ${KILLS} killed sequencers: every event once and in order, for each who follows`, {
  timeout: within(Math.max(120_000, KILLS * 2_000 + CHANGES * 5)),
}, async () => {
  let isWritten = false
  let isSealed = false
  const killing = [1, 2].map(() => sealAndBeKilled(service.url, KILLS, () => isWritten))
  const following = [
    follow(service, 0, () => isSealed),
    follow(other, 0, () => isSealed),
    follow(service, 1, () => isSealed),
    follow(other, 1, () => isSealed),
  ]
  const written = (await Promise.all(Array.from({ length: WRITERS }, () => write(CHANGES / WRITERS)))).flat()
  isWritten = true
  const kills = await Promise.all(killing)
  await drain(sequencerJob(service.deps))
  isSealed = true

  const { rows } = await service.deps.db.pool.query<{ change_id: bigint; sequence: bigint }>(
    'SELECT change_id, sequence FROM event WHERE organization_id = 1 AND sequence IS NOT NULL ORDER BY sequence',
  )
  expect(rows.map(({ change_id }) => change_id)).toEqual(written.toSorted((a, b) => (a < b ? -1 : 1)))
  expect(rows.map(({ sequence }) => Number(sequence))).toEqual(rows.map((_, index) => index + 1))
  const all = rows.map((_, index) => index + 1)
  for (const seen of await Promise.all(following)) expect(seen).toEqual(all)
  console.log(`${written.length} changes, ${kills.join(' + ')} killed sequencers, 4 followers: all events, in order`)
})
