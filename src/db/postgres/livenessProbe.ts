import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import { inTime } from '../../toolbox/inTime.ts'
import type { Db } from './client.ts'
import { CONNECT_WITHIN_MS, cut } from './client.ts'
import { DISK_FAILS } from './errors.ts'
import { clockTrouble, clockWarning } from './server.ts'

/** Milliseconds between two probes, which go by a connection of their own, and the milliseconds that a probe may take. */
const EVERY_MS = 400
const PATIENCE_MS = 700
/** While it is gone: often, so that its return is noticed at once. */
const WHILE_GONE_MS = 200
/**
 * Milliseconds that a probe may take while the database is gone: as many as a request waits for a connection. Each of these probes opens
 * one. With fewer, a database to which that takes longer would stay gone although it would serve requests.
 */
const PATIENCE_WHILE_GONE_MS = CONNECT_WITHIN_MS

/** The state of the database according to the last probe. */
export interface LivenessProbe {
  /** Whether it answers, and is no standby. */
  reachable(): boolean
  /** Why no requests should be sent here; undefined where they can be served. */
  trouble(): string | undefined
  /** By how many milliseconds its clock is ahead of ours; negative where it is behind. */
  clockAheadMs(): number
  stop(): Promise<void>
}

/** The parts of the process that the probe reports to. */
export interface ProbeOptions {
  readonly now: () => number
  readonly log: { warn(message: string): void; info(message: string): void }
}

const STANDBY = 'the database takes no changes: it is a standby, or was made read-only'
const NO_STANDBY = 'the database takes no changes: its synchronous standby does not answer'
const DISK = 'the database takes no changes: its disk is full, or fails'

/**
 * Watches the database. Two failures in a row, while nobody else hears from it either, mean that it is gone: within 2 s,
 * also where it just falls silent. A standby that is not promoted is as good as gone, by the first answer that says so.
 * What waits for it then fails at once, new requests are refused without a try, and once it takes changes again, every
 * connection is a new one. Where its disk is full, reads are served; it is asked whether there is room again.
 */
export function startLivenessProbe(db: Db, { now, log }: ProbeOptions): LivenessProbe {
  let gone: string | undefined
  let full = false
  let isWaiting = false
  let clockAhead = 0
  let warned: string | undefined
  let stopped = false
  const probe = makeProbe(db.pool.options.connectionString, now)
  let heard = 0
  db.pool.on('release', (error: unknown) => {
    if (!error) heard++
  })

  function setGone(why: string | undefined): void {
    if (gone !== why)
      why === undefined
        ? log.info('the database is back')
        : log.warn(`${why}; requests are answered unavailable until it is back`)
    gone = why
    db.setGone(why !== undefined)
  }

  async function lookAtDisk(failuresBefore: number): Promise<void> {
    const wasFull = full
    if (db.diskFailures() > failuresBefore) full = true
    else if (full) full = !(await probe.hasRoom())
    if (full !== wasFull)
      full ? log.warn(`${DISK}; changes are answered unavailable`) : log.info('the database takes changes again')
  }

  function lookAtStandby(waits: boolean): void {
    if (waits !== isWaiting)
      waits ? log.warn(`${NO_STANDBY}; changes wait for it`) : log.info('the synchronous standby answers again')
    isWaiting = waits
  }

  function lookAtClock(ahead: number): void {
    clockAhead = ahead
    const warning = clockWarning(ahead)
    if (warning !== undefined && warned === undefined) log.warn(warning)
    warned = warning
  }

  async function run(): Promise<void> {
    let failures = 0
    let diskFailures = db.diskFailures()
    while (!stopped) {
      const before = heard
      const answer = await probe.ask(gone === undefined ? PATIENCE_MS : PATIENCE_WHILE_GONE_MS)
      if (stopped) return
      if (answer?.isReadOnly) setGone(STANDBY)
      else if (answer || heard > before) {
        failures = 0
        setGone(undefined)
        if (answer?.clockAheadMs !== undefined) lookAtClock(answer.clockAheadMs)
        lookAtStandby(answer?.waitsForStandby ?? false)
        await lookAtDisk(diskFailures)
        diskFailures = db.diskFailures()
        await pause(EVERY_MS, undefined, { ref: false })
        continue
      } else if (++failures < 2) continue
      else setGone('the database is gone')
      await pause(WHILE_GONE_MS, undefined, { ref: false })
    }
  }

  const running = run()
  return {
    reachable: () => gone === undefined,
    trouble: () => gone ?? (full ? DISK : isWaiting ? NO_STANDBY : clockTrouble(clockAhead)),
    clockAheadMs: () => clockAhead,
    async stop() {
      stopped = true
      probe.end()
      // Its pause does not hold the process, and need not be waited for.
      await Promise.race([running, turn()])
    },
  }
}

/** The answer of the database; its clock only where it was asked for. */
interface Answer {
  readonly isReadOnly: boolean
  readonly clockAheadMs?: number
  /** Whether a commit has waited for the synchronous standby for longer than one that answers takes. */
  readonly waitsForStandby?: boolean
}

const ASK = `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS at,
  EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '2 s')
    AS "waitsForStandby"`

/** A table of 1 MB that is gone as soon as it is made: the disk has to have room for it. */
const TAKE_ROOM = `CREATE TEMP TABLE mkopo_room ON COMMIT DROP AS SELECT repeat('x', 1000) FROM generate_series(1, 1000)`

/** A connection that is asked whether it lives, and replaced where it does not, or leads to a standby. */
function makeProbe(connectionString: string | undefined, now: () => number) {
  let client: pg.Client | undefined

  const drop = (dead: pg.Client | undefined) => {
    if (dead === undefined) return
    if (client === dead) client = undefined
    cut(dead)
  }

  async function onConnection<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const known = client
    const mine = known ?? new pg.Client({ connectionString, application_name: 'mkopo watch' })
    try {
      if (!known) {
        client = mine
        mine.on('error', () => undefined)
        await mine.connect()
      }
      return await use(mine)
    } catch (error) {
      drop(mine)
      throw error
    }
  }

  async function ask(): Promise<Answer | undefined> {
    try {
      const answer = await onConnection(async (mine) => {
        const before = now()
        const { rows } = await mine.query<{ isReadOnly: boolean; at: number; waitsForStandby: boolean }>(ASK)
        const { isReadOnly, at, waitsForStandby } = rows[0]!
        return { isReadOnly, waitsForStandby, clockAheadMs: at - (before + now()) / 2 }
      })
      if (answer.isReadOnly) drop(client)
      return answer
    } catch (error) {
      // It has no room for one more connection, but it is there.
      return error instanceof pg.DatabaseError && error.code === '53300' ? { isReadOnly: false } : undefined
    }
  }

  return {
    end: () => drop(client),
    async ask(patienceMs: number): Promise<Answer | undefined> {
      const answer = await inTime(ask(), undefined, patienceMs)
      if (!answer) drop(client)
      return answer
    },
    /** Whether a little can be written; true where that cannot be tried, for lack of the right to. */
    hasRoom: (): Promise<boolean> =>
      inTime(
        onConnection((mine) => mine.query(TAKE_ROOM)).then(
          () => true,
          (error: unknown) => error instanceof pg.DatabaseError && !DISK_FAILS.has(error.code),
        ),
        false,
        PATIENCE_MS,
      ),
  }
}
