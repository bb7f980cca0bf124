import type { Db } from '../../src/db/postgres/client.ts'
import type { Deps } from '../../src/services/deps.ts'
import type { Clock } from './service.ts'

/**
 * The years by which the business of every organization is ahead of the machine: the contract is then tried on test
 * organizations, whose clock stands where the test holds it. 0 in any other run. `npm run try -- clock` sets it.
 */
const YEARS = Number(process.env.MKOPO_YEARS_AHEAD ?? 0)

export const isAhead = YEARS > 0

const AHEAD_MS = YEARS * 365 * 86_400_000

/** Returns the clock of the machine, given the clock that the test holds. */
export const machineClock = ({ lookAtMachine }: Clock) => (isAhead ? () => lookAtMachine() - AHEAD_MS : lookAtMachine)

/** Makes test organizations of all that there are. Only the owner of the tables can, by leaving out the trigger. */
export async function makeTest({ pool }: Db): Promise<void> {
  await pool.query(`ALTER TABLE organization DISABLE TRIGGER organization_mode_fixed;
    UPDATE organization SET mode = 'test';
    INSERT INTO test_clock (organization_id) SELECT id FROM organization ON CONFLICT DO NOTHING;
    ALTER TABLE organization ENABLE TRIGGER organization_mode_fixed`)
}

/** Lets the test clocks of a service stand where the test holds its clock, whenever the service reads them. */
export async function follow({ testClocks }: Deps, { pool }: Db, clock: Clock): Promise<void> {
  const { refresh, refreshAll } = testClocks
  let standsAt: number | undefined
  const move = async () => {
    if (standsAt === clock.now()) return
    standsAt = clock.now()
    await pool.query('UPDATE test_clock SET stands_at = $1', [new Date(standsAt)])
  }
  testClocks.refresh = async (organizationId) => {
    await move()
    await refresh(organizationId)
  }
  testClocks.refreshAll = async () => {
    await move()
    await refreshAll()
  }
  await testClocks.refreshAll()
}

/** Returns an answer that was written for a live organization, as a test organization gets it. */
export const inMode = <Body>(body: Body): Body =>
  isAhead ? JSON.parse(JSON.stringify(body).replace(/"(liveMode|live_mode)":true/g, '"$1":false')) : body
