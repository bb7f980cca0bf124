import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stampOf } from '../../src/db/audit/stamp.ts'
import { createKeptHeads } from '../../src/services/events/keptHeads.ts'
import { chainSecret } from '../../src/services/events/seal.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

const HEAD = /^mkopo-head-1:1:\d+:\d+:[0-9a-f]{64}$/
const TABLES = [
  'loan_entry',
  'loan',
  'audit_entry',
  'event',
  'event_chain',
  'signing_key',
  'account',
  'journal',
  'posting',
  'posting_day',
]

let service: TestService
let loan: string
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  const application = { customerId: 'asha', productId: 3, principal: 60_000 }
  loan = (await service.post('/v1/loans', { body: application })).body.id
})
afterAll(() => service.close())

const ops = (command: string) => opsOn(service)(command)
const sql = (text: string) => service.owner.pool.query(text)
const repay = async () => {
  const answer = await service.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 100 } })
  expect(answer.status).toBe(200)
}
/** The parts of a process that has just started, and knows no head. */
const startedAgain = (deps = service.deps) => ({ ...deps, keptHeads: createKeptHeads('', Date.now) })
/** What a check finds. */
interface Found {
  readonly found: number
  readonly differences: readonly { readonly of: string; readonly message: string }[]
}

/** The head of the demonstration's lender. */
const head = async (): Promise<string> => {
  const { out } = await ops('book seal')
  return out.split('\n').find((line) => HEAD.test(line))!
}
const check = async (more = '') => {
  const { code, json } = await opsOn(service)<Found>(`book check --json${more}`)
  return {
    code,
    found: (json.differences as { of: string; message: string }[]).map((one) => `${one.of}: ${one.message}`),
  }
}
const CLEAN = { code: 0, found: [] }

describe('a book of which nothing is sealed yet', () => {
  it('says so, in place of each head', async () => {
    const { code, out, err } = await ops('book seal')
    expect({ code, out }).toEqual({
      code: 0,
      out: 'organization 0: nothing is sealed yet\norganization 1: nothing is sealed yet\norganization 100: nothing is sealed yet\n',
    })
    expect(err).toMatch(/^\d+ changes are not sealed yet\.\n$/)
  })

  it('is no fault of it, and the check counts what waits', async () => {
    const { code, json, err } = await ops('book check --json')
    expect({ code, sealed: json.sealed, found: json.found }).toEqual({ code: 0, sealed: 0, found: 0 })
    expect(json.unsealed).toBeGreaterThan(5)
    expect(err).toBe('')
    expect((await ops('book check')).err).toContain(`${json.unsealed} changes are not sealed yet.`)
  })
})

describe('the head of a chain', () => {
  beforeAll(async () => {
    await repay()
    await drain(sequencerJob(service.deps))
    for (const table of TABLES) await sql(`CREATE TABLE whole_${table} AS TABLE ${table}`)
  })

  it('is a line for each organization and for the service, and JSON', async () => {
    const { out, err } = await ops('book seal')
    expect({
      lines: out
        .trim()
        .split('\n')
        .map((line) => line.slice(0, 15)),
      err,
    }).toEqual({
      lines: ['mkopo-head-1:0:', 'mkopo-head-1:1:', 'mkopo-head-1:10'],
      err: '',
    })
    const { json } = await opsOn(service)<{ heads: object[] }>('book seal --json')
    expect(json.heads[1]).toMatchObject({ organizationId: 1, text: await head(), unsealed: 0 })
    const stored = await sql(`SELECT change_id::text, sequence::text, encode(hash, 'hex') AS hash FROM event_chain
      WHERE organization_id = 1`)
    const { change_id, sequence, hash } = stored.rows[0]!
    expect(await head()).toBe(`mkopo-head-1:1:${change_id}:${sequence}:${hash}`)
  })

  it('stands while the chain grows', async () => {
    const kept = await head()
    await repay()
    await drain(sequencerJob(service.deps))
    expect(await head()).not.toBe(kept)
    expect(await check(` --head ${kept} --head ${await head()}`)).toEqual(CLEAN)
    expect((await ops(`book check --head ${kept}`)).out).toMatch(/nothing before it was rewritten\nNot proven/)
    expect((await ops('book check')).out).not.toMatch(/nothing before it was rewritten/)
  })

  it.each([
    ['mkopo-head-1:1:5', /It must be a line of "book seal"/],
    [`mkopo-head-2:1:5:5:${'0'.repeat(64)}`, /It must be a line of "book seal"/],
    [`mkopo-head-1:2:5:5:${'0'.repeat(64)} -o 1`, /--head is of organization 2, and only organization 1 is checked/],
  ])('that is none is refused: %s', async (text, said) => {
    const { code, err } = await ops(`book check --head ${text}`)
    expect(code).toBe(2)
    expect(err).toMatch(said)
  })

  it('of an organization that is not there is a fault', async () => {
    const { code, found } = await check(` --head mkopo-head-1:9:5:5:${'0'.repeat(64)}`)
    expect({ code, found }).toEqual({ code: 1, found: ['head 5: no organization has that number'] })
  })
})

describe('found with a head that was kept, and not without', () => {
  let kept: string
  beforeEach(async () => {
    kept = await head()
  })
  afterEach(async () => {
    const mend = TABLES.map(
      (table) => `DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM whole_${table}`,
    )
    await sql(`BEGIN; SET LOCAL session_replication_role = replica; ${mend.join('; ')}; COMMIT`)
  })

  it('the end of the chain cut off, with its changes', async () => {
    const last = `SELECT max(change_id) FROM event WHERE organization_id = 1`
    const before = `(SELECT e.change_id, e.sequence, e.hash FROM event e WHERE e.organization_id = 1 AND e.change_id < (${last})
      ORDER BY e.change_id DESC, e.part DESC LIMIT 1)`
    await sql(`UPDATE event_chain SET (change_id, sequence, hash) = ${before} WHERE organization_id = 1`)
    await sql(`DELETE FROM audit_entry WHERE organization_id = 1 AND id = (${last})`)
    await sql(`DELETE FROM event WHERE organization_id = 1 AND change_id = (${last})`)
    await sql('DELETE FROM loan_entry WHERE ordinal = (SELECT max(ordinal) FROM loan_entry)')
    const without = await check()
    expect(without.found.filter((line) => /^(event|head|audit)/.test(line))).toEqual([])
    const { code, found } = await check(` --head ${kept}`)
    expect(code).toBe(1)
    expect(found.join('\n')).toMatch(/^head \d+: the chain ends at change \d+, before the head: its end was cut off/m)
  })

  it('the whole chain made again with the right secret', async () => {
    await sql(`UPDATE audit_entry SET request_id = 'another' WHERE change::jsonb ? 'posted'`)
    await sql('TRUNCATE event, event_chain')
    await drain(sequencerJob(startedAgain()))
    const changed = /^audit_entry \d+: was changed after it was written, or was not written by the service/
    const without = await check()
    expect(without.found.filter((line) => !changed.test(line))).toEqual([])
    const { code, found } = await check(` --head ${kept}`)
    expect(code).toBe(1)
    expect(found.filter((line) => !changed.test(line))).toEqual([
      expect.stringMatching(
        /^head (\d+): the chain was rewritten up to change \1 or before it: it is mkopo-head-1:1:\1:/,
      ),
    ])
  })

  it('the chain made again, in the same words: the numbers of events are others', async () => {
    await sql(
      'UPDATE event_chain SET opened_at_change = 1000, change_id = 0, sequence = 0, hash = $$$$ WHERE organization_id = 1',
    )
    await sql('DELETE FROM event WHERE organization_id = 1')
    await drain(sequencerJob(startedAgain()))
    // The journal alone still has the numbers of before.
    expect((await check()).found).toEqual([
      expect.stringMatching(/^the journal: has come to event \d+, and the last one/),
    ])
    expect((await check(` --head ${kept}`)).found.join('\n')).toMatch(/^head \d+: the chain was rewritten/m)
  })
})

describe('another secret', () => {
  const other = chainSecret('another secret of the tests')
  const withSecret = () => ({ ...service, deps: { ...service.deps, chainSecret: other } })

  it('is one message for a chain, and what needs no secret is still checked', async () => {
    const run = opsOn(withSecret())
    const { code, json } = await run<Found>('book check --json')
    const said = 'event_chain: was sealed with the secret'
    const lines = json.differences.map((one) => `${one.of}: ${one.message}`)
    expect({ code, lines: lines.map((line) => line.slice(0, said.length)) }).toEqual({
      code: 1,
      lines: [said, said, said],
    })
    await sql(`UPDATE account SET roles = '{ADMIN}' WHERE email = 'partner@example.com'`)
    const changed = await run<Found>('book check --json')
    await sql(`UPDATE account SET roles = '{USER}' WHERE email = 'partner@example.com'`)
    expect(changed.json.found).toBe(4)
  })

  it('seals nothing onto the chain, until the chain begins again as docs/operating/access.md says', async () => {
    const deps = startedAgain(withSecret().deps)
    await repay()
    await expect(drain(sequencerJob(deps))).rejects.toThrow(/KEY_ENCRYPTION_SECRET: is not the one/)
    await service.owner.pool.query(
      'CREATE TABLE kept_event AS TABLE event; CREATE TABLE kept_chain AS TABLE event_chain',
    )
    const document = readFileSync(new URL('../../docs/operating/access.md', import.meta.url), 'utf8')
    await sql(/```sql\n(BEGIN;\nDELETE FROM event;[^`]*)```/.exec(document)![1]!)
    await drain(sequencerJob(deps))
    const run = opsOn(withSecret())
    expect((await run<Found>('book check --json')).json).toMatchObject({ found: 0, unsealed: 0 })
    const told = await sql(
      'SELECT count(*)::int AS told, max(sequence)::int AS last FROM event WHERE sequence IS NOT NULL',
    )
    expect(told.rows).toEqual([{ told: 1, last: 1 }])
    await sql('DELETE FROM event; DELETE FROM event_chain; INSERT INTO event SELECT * FROM kept_event')
    await sql('INSERT INTO event_chain SELECT * FROM kept_chain')
    await sql(
      'UPDATE journal j SET sequence = c.sequence FROM event_chain c WHERE c.organization_id = j.organization_id',
    )
    await drain(sequencerJob(startedAgain()))
  })

  it('is found also where the chain says that it is the right one', async () => {
    await sql(`UPDATE event_chain SET key_id = '${other.keyId}'`)
    const { json } = await opsOn(withSecret())<Found>('book check --json')
    await sql(`UPDATE event_chain SET key_id = '${service.deps.chainSecret.keyId}'`)
    expect(json.found).toBeGreaterThan(5)
    const messages = json.differences.map(({ message }) => message)
    expect(messages).toContainEqual(expect.stringMatching(/^does not follow from the part before/))
  })
})

describe('a chain of thousands of changes', () => {
  /** 2,500 rows as the service writes them, each with its stamp. */
  const exported = () => {
    const texts = ['2026-02-01 09:00:00+00', null, null, 'export', 'organization', '1', null, null, null, null]
    const stamp = stampOf(service.deps.chainSecret.stampMac, { organizationId: 1, texts }).toString('hex')
    return sql(`INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, stamp)
      SELECT 1, '2026-02-01T09:00:00Z', 'export', 'organization', '1', decode('${stamp}', 'hex') FROM generate_series(1, 2500)`)
  }

  it('is walked in batches, to its end', async () => {
    await exported()
    await drain(sequencerJob(startedAgain()))
    const { json } = await ops('book check --json')
    expect(json).toMatchObject({ found: 0, unsealed: 0 })
    expect(json.sealed).toBeGreaterThan(2500)
    await sql(`UPDATE audit_entry SET action = 'exported' WHERE id = (SELECT max(id) - 300 FROM audit_entry)`)
    const { found } = await check()
    await sql(`UPDATE audit_entry SET action = 'export' WHERE action = 'exported'`)
    expect(found).toEqual([
      expect.stringMatching(/^audit_entry \d+: was changed after it was written/),
      expect.stringMatching(/^audit_entry \d+: action is not what was sealed/),
    ])
  })

  it('is left where the check is stopped', async () => {
    const { code, json } = await opsOn(service)('book check --json', { stopping: AbortSignal.abort() })
    expect({ code, sealed: json.sealed, stopped: json.stopped }).toEqual({ code: 1, sealed: 0, stopped: true })
  })
})
