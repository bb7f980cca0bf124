import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { parseHead } from '../../../src/services/events/chainHeads.ts'
import { createKeptHeads, readKeptHeads } from '../../../src/services/events/keptHeads.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain, workRound } from '../../../src/services/jobs/job.ts'
import { startSequencer } from '../../support/jobs.ts'
import { opsOn } from '../../support/ops.ts'
import { within } from '../../support/patience.ts'
import { startService, type TestService } from '../../support/service.ts'

/** The longest that a state is waited for. */
const PATIENT = { timeout: within(10_000) }

let directory: string
let file: string
let service: TestService
let loan: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mkopo-heads-'))
  file = join(directory, 'chain-heads')
  service = await startService({ HEADS_FILE: file })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const application = { customerId: 'asha', productId: 3, principal: 60_000 }
  loan = (await service.post('/v1/loans', { body: application })).body.id
})
afterAll(async () => {
  await service.close()
  await rm(directory, { recursive: true })
})

const sql = (text: string) => service.owner.pool.query(text)
const repay = () => service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 100 } })
const check = async () => {
  const { code, json } = await opsOn(service)<{
    differences: { of: string; message: string }[]
    keptHeads: number
  }>('book check --json')
  return { code, found: json.differences.map((one) => `${one.of}: ${one.message}`), keptHeads: json.keptHeads }
}
const headOf = async (organizationId = 1) => {
  const { rows } = await sql(
    `SELECT change_id, sequence, hash FROM event_chain WHERE organization_id = ${organizationId}`,
  )
  return `mkopo-head-1:${organizationId}:${rows[0]!.change_id}:${rows[0]!.sequence}:${rows[0]!.hash.toString('hex')}`
}
/** Takes the seals of the lender off, from a change on, as a person can who may write to the database. */
const takeOff = (from: string) =>
  sql(`DELETE FROM event WHERE organization_id = 1 AND change_id >= ${from};
    UPDATE event_chain c SET (change_id, sequence, hash) = (
      SELECT e.change_id, (SELECT coalesce(max(sequence), 0) FROM event WHERE organization_id = 1), e.hash FROM event e
      WHERE e.organization_id = 1 ORDER BY e.change_id DESC, e.part DESC LIMIT 1)
    WHERE c.organization_id = 1`)
const LAST_REPAYMENT = `(SELECT max(id) FROM audit_entry WHERE change::jsonb ? 'posted')`
/** The parts of a process that has just started. */
const startedAgain = (heads = file) => ({ ...service.deps, keptHeads: createKeptHeads(heads, Date.now) })

describe('a file of heads', () => {
  it('gets the head of each chain that is sealed first, hourly, at the close of a month, and when the service stops', async () => {
    let now = Date.parse('2026-02-01T09:00:00Z')
    const kept = createKeptHeads(join(directory, 'one'), () => now)
    const head = (changeId: bigint) => ({ organizationId: 1, changeId, sequence: changeId, hash: 'ab'.repeat(32) })
    expect(kept.note(head(5n))).toBe(true)
    await kept.write('due')
    expect(kept.note(head(6n))).toBe(false)
    await kept.write('due')
    expect(kept.note(head(7n), true)).toBe(true)
    await kept.write('due')
    now += 3_600_000
    expect(kept.note(head(8n))).toBe(true)
    await kept.write('due')
    expect(kept.note(head(9n))).toBe(false)
    await kept.write('last')
    await kept.write('last')
    const lines = (await readFile(join(directory, 'one'), 'utf8')).trim().split('\n')
    expect(lines.map((line) => parseHead(line.split(' ')[1]!)?.changeId)).toEqual([5n, 7n, 8n, 9n])
    expect(lines[0]).toBe(`2026-02-01T09:00:00.000Z mkopo-head-1:1:5:5:${'ab'.repeat(32)}`)
  })

  it('is read with anything around the heads, such as a log; without the heads that hold no longer', async () => {
    const log = join(directory, 'log')
    const text = (organizationId: number, change: number) =>
      `mkopo-head-1:${organizationId}:${change}:${change}:${'cd'.repeat(32)}`
    const lines = [
      `{"head":"${text(1, 7)}"}`,
      'nothing',
      text(1, 5),
      text(2, 4),
      text(1, 9),
      'mkopo-restored-1:1:6',
      text(1, 8),
    ]
    await writeFile(log, lines.join('\n'))
    const { heads, accepted } = await readKeptHeads(log)
    const changes = [...heads].map(([organizationId, own]) => [organizationId, own.map(({ changeId }) => changeId)])
    expect(changes).toEqual([
      [1, [5n, 8n]],
      [2, [4n]],
    ])
    expect([...accepted]).toEqual([[1, 1]])
    expect((await readKeptHeads(join(directory, 'none'))).heads.size).toBe(0)
    expect((await readKeptHeads('')).heads.size).toBe(0)
  })

  it('that cannot be written keeps nothing from being sealed, is one line in the log, and is written later', async () => {
    const blocked = join(directory, 'blocked', 'heads')
    const errors: string[] = []
    const deps = startedAgain(blocked)
    const job = startSequencer(deps, { info: () => undefined, error: (_, message) => errors.push(message) })
    await repay()
    await vi.waitUntil(async () => errors.length > 0, PATIENT)
    await repay()
    await vi.waitUntil(
      async () =>
        (await opsOn(service)<{ heads: { unsealed: number }[] }>('book seal --json')).json.heads[1]?.unsealed === 0,
      PATIENT,
    )
    expect(errors).toEqual(['HEADS_FILE: heads cannot be written to it; it will be tried again'])
    await job.stop()
  })
})

/** The trail, and what follows from it. */
const FOLLOWING = ['event', 'event_chain', 'audit_entry', 'journal', 'posting', 'posting_day']

describe('seals that were taken off', () => {
  beforeEach(async () => {
    await drain(sequencerJob(service.deps))
    await repay()
    await drain(sequencerJob(service.deps))
    await service.deps.keptHeads.write('last')
    await sql('DROP SCHEMA IF EXISTS whole CASCADE; CREATE SCHEMA whole')
    for (const table of FOLLOWING) await sql(`CREATE TABLE whole.${table} AS TABLE ${table}`)
  })
  afterEach(async () => {
    for (const table of FOLLOWING)
      await sql(`BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM ${table};
        INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM whole.${table}; COMMIT`)
    expect((await check()).found).toEqual([])
  })

  it('stop a sequencer that has made them, with an alarm, while other lenders are sealed', async () => {
    const messages: string[] = []
    const sequencer = sequencerJob(service.deps)
    await takeOff(LAST_REPAYMENT)
    await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 60_000 } })
    await vi.waitUntil(async () => {
      const { failed } = await workRound(sequencer)
      messages.push(...failed.map(({ error }) => String(error)))
      return failed.length > 0
    }, PATIENT)
    expect(messages[0]).toMatch(/^ChainWentBackError: the chain of organization 1 had the head mkopo-head-1:1:\d+:/)
    await sql(`TRUNCATE whole.audit_entry; INSERT INTO whole.audit_entry SELECT * FROM audit_entry`)
  })

  it('stop a sequencer that has just started, by the heads in the file', async () => {
    await takeOff(LAST_REPAYMENT)
    await expect(drain(sequencerJob(startedAgain()))).rejects.toThrow(/had come to change \d+\. Seals were taken off/)
  })

  it('and made again, are found by the file and by the stamp of the row that was changed', async () => {
    const amount = `jsonb_set(change::jsonb, '{posted,amount}', '"99900"')::json`
    await sql(`UPDATE audit_entry SET change = ${amount} WHERE id = ${LAST_REPAYMENT}`)
    await takeOff(LAST_REPAYMENT)
    await drain(sequencerJob(startedAgain('')))
    const { found, keptHeads } = await check()
    expect(keptHeads).toBeGreaterThan(0)
    expect(found.join('\n')).toMatch(/^head (\d+): the chain was rewritten up to change \1 or before it/m)
    expect(found.join('\n')).toMatch(/^audit_entry \d+: was changed after it was written/m)
  })

  it('are found by the hash of an event that left', async () => {
    const { rows } = await sql(`SELECT sequence, encode(hash, 'hex') AS hash FROM event
      WHERE organization_id = 1 AND sequence IS NOT NULL ORDER BY sequence DESC LIMIT 1`)
    const left = `evt_1_${rows[0]!.sequence}:${rows[0]!.hash}`
    expect((await opsOn(service)(`book check --json --head ${left}`)).json.found).toBe(0)
    await sql(`UPDATE audit_entry SET request_id = 'another' WHERE id = ${LAST_REPAYMENT}`)
    await takeOff(LAST_REPAYMENT)
    await drain(sequencerJob(startedAgain('')))
    const { json } = await opsOn(service)<{ differences: { of: string; message: string }[] }>(
      `book check --json --head ${left}`,
    )
    expect(json.differences).toContainEqual(
      expect.objectContaining({
        of: `event ${rows[0]!.sequence}`,
        message: expect.stringMatching(/^the chain was rewritten/),
      }),
    )
  })

  it('are accepted by an operator after a restore: the sequencer goes on, and earlier heads still hold', async () => {
    const before = await headOf()
    await takeOff(LAST_REPAYMENT)
    const deps = startedAgain()
    const sequencer = sequencerJob(deps)
    await expect(drain(sequencerJob(deps))).rejects.toThrow(/accepts the older state/)
    const run = opsOn(service)
    expect((await run('book seal --restored')).code).toBe(1)
    const { code, out } = await run('book seal --restored', { says: true })
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`${before}: not there`) })
    await vi.waitUntil(async () => (await workRound(sequencer)).left === 'done', PATIENT)
    expect((await check()).found).toEqual([])
    expect((await run('book seal --restored', { says: true })).out).toMatch(/Every head in HEADS_FILE is there/)
    await sql(`TRUNCATE whole.event; INSERT INTO whole.event SELECT * FROM event;
      TRUNCATE whole.event_chain; INSERT INTO whole.event_chain SELECT * FROM event_chain`)
  })
})

it('a row of the trail that was added past the service is sealed, told as an alarm, and named by the check', async () => {
  await drain(sequencerJob(service.deps))
  const news: object[] = []
  const sequencer = sequencerJob(service.deps, {
    info: () => undefined,
    error: (context) => news.push(context),
  })
  const { rows } = await sql(`INSERT INTO audit_entry (organization_id, at, action, entity, entity_id)
    VALUES (1, now(), 'export', 'organization', '1') RETURNING id`)
  service.damages('a row of the trail is added by SQL')
  const unsealed = await check()
  await vi.waitUntil(async () => (await workRound(sequencer)).left === 'done' && news.length > 0, PATIENT)
  const sealed = await check()
  const named = [`audit_entry ${rows[0]!.id}: was changed after it was written, or was not written by the service`]
  expect({ unsealed: unsealed.found, sealed: sealed.found }).toEqual({ unsealed: named, sealed: named })
  expect(news).toEqual([{ organizationId: 1, changeId: rows[0]!.id }])
})
