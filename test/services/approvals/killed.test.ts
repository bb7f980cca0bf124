import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anAccount, lend, letWaitAbove, PASSWORD } from '../../support/approvals.ts'
import { within } from '../../support/patience.ts'
import { type ServiceProcess, sendUntilServed, startProcess, tokenFrom } from '../../support/process.ts'
import { startService, type TestService } from '../../support/service.ts'

// A process that is killed while it approves. The database stands still at a chosen place of the approval until it is dead.

let service: TestService
let child: ServiceProcess | undefined
let checker: string
beforeAll(async () => {
  service = await startService()
  service.clock.set(new Date().toISOString())
  checker = await anAccount(service, 'checker')
  await letWaitAbove(service, 1_000)
  await service.owner.pool.query(`
    CREATE FUNCTION stand_still() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
    CREATE TRIGGER while_marking AFTER INSERT ON audit_entry FOR EACH ROW
      WHEN (NEW.entity = 'pending action' AND NEW.action = 'approve') EXECUTE FUNCTION stand_still();
    CREATE TRIGGER while_posting AFTER UPDATE OF reversed_at ON loan_entry FOR EACH ROW EXECUTE FUNCTION stand_still();
    CREATE CONSTRAINT TRIGGER while_committing AFTER UPDATE OF reversed_at ON loan_entry
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION stand_still();
    ALTER TABLE audit_entry DISABLE TRIGGER while_marking;
    ALTER TABLE loan_entry DISABLE TRIGGER while_posting;
    ALTER TABLE loan_entry DISABLE TRIGGER while_committing`)
})
afterAll(async () => {
  child?.child.kill('SIGKILL')
  await service.close()
})

/** Counts the sessions that wait for the lock of the trigger, or hold it. */
const standing = async (): Promise<number> =>
  (
    await service.owner.pool.query(
      `SELECT count(*)::int AS standing FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted`,
    )
  ).rows[0].standing

const PLACES = [
  ['audit_entry', 'while_marking', 'pending'],
  ['loan_entry', 'while_posting', 'pending'],
  // The database may finish a commit that has begun, of a client that is gone.
  ['loan_entry', 'while_committing', 'either'],
] as const

describe('kill -9 of the process that approves', { timeout: within(60_000) }, () => {
  it.each(PLACES)(
    'on %s, %s: both are saved or none, and it can be approved afterwards',
    async (table, trigger, left) => {
      const loan = await lend(service, trigger)
      const { body: paid } = await service.post(`${loan}/repayments`, { body: { transactionAmount: 5_000 } })
      const path = `${loan}/repayments/${paid.id}`
      const asked = await service.post(`${path}/reverse`, { body: {}, token: service.tokens.operator })
      const action = `/v1/pending-actions/${asked.body.id}`
      const settings = {
        DATABASE_URL: service.url,
        KEY_ENCRYPTION_SECRET: 'a secret of the tests',
        FALLBACK_STYLE: 'partner',
      }
      child = await startProcess(settings)

      const holder = await service.owner.pool.connect()
      try {
        await holder.query(`ALTER TABLE ${table} ENABLE TRIGGER ${trigger}`)
        await holder.query('SELECT pg_advisory_lock(4711)')
        const token = await tokenFrom(child.origin, { email: 'checker@lender.example', password: PASSWORD })
        const headers = { authorization: `Bearer ${token}` }
        const request = { method: 'POST', headers }
        const approving = sendUntilServed(`${child.origin}${action}/approve`, request).catch(() => 'no answer')
        await expect.poll(standing, { timeout: within(10_000) }).toBe(1)
        child.child.kill('SIGKILL')
        await child.ended
        expect(await approving).toBe('no answer')
      } finally {
        await holder.query('SELECT pg_advisory_unlock(4711)')
        await expect.poll(standing, { timeout: within(10_000) }).toBe(0)
        await holder.query(`ALTER TABLE ${table} DISABLE TRIGGER ${trigger}`)
        holder.release()
      }

      const token = service.tokens.operator
      const { state } = (await service.get(action, { token })).body
      const { status } = (await service.get(path)).body
      expect([state, status]).toBeOneOf([
        ['pending', 'posted'],
        ...(left === 'either' ? [['approved', 'reversed']] : []),
      ])
      const again = await service.post(`${action}/approve`, { token: checker })
      expect(again.status).toBe(state === 'pending' ? 200 : 409)
      expect((await service.get(path)).body.status).toBe('reversed')
      const { rows } = await service.deps.db.pool.query(
        `SELECT count(*)::int AS rows, entity FROM audit_entry WHERE request_id = $1 OR (entity = 'pending action' AND entity_id = $2
         AND action = 'approve') GROUP BY entity ORDER BY entity`,
        [`approval-${asked.body.id}`, asked.body.id],
      )
      expect(rows).toEqual([
        { rows: 1, entity: 'loan' },
        { rows: 1, entity: 'pending action' },
      ])
    },
  )
})
