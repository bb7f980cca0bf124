import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { cpuSeconds } from './processes.ts'
import type { Side } from './side.ts'

/** How far the background of a version is behind its book. */
export interface Behind {
  /** Changes that are not sealed, and those that are not in the journal; counting ends after 200,000. */
  readonly unsealed: number
  readonly unposted: number
  /** Messages of providers and payments on which nothing is decided; counting ends alike. */
  readonly undecided: number
  /** The age of the oldest of them, in seconds. */
  readonly seconds: number
}

/** The price of a slot from its first request until its background has caught up, idle time included. */
export interface Price {
  /** CPU seconds of the service and of Postgres. */
  readonly service: number
  readonly postgres: number
  readonly walBytes: number
  /** Rows that were inserted or updated. */
  readonly rows: number
  /** In the middle of the load and at its end: whether the lag grows. */
  readonly behindMidway: Behind
  readonly behindAtEnd: Behind
  /** From the end of the load until nothing was left. */
  readonly caughtUpSeconds: number
}

/** Reads what a version has used, by its processes and its Postgres. */
export interface Meter {
  behind(): Promise<Behind>
  /** Waits until the version has nothing left to do that its start or its new book brought, such as the portfolio of the days before. */
  quiet(servicePid: number): Promise<void>
  /** Runs a slot and waits until the background has caught up. @param seconds how long the load will last */
  priceOf<T>(servicePid: number, seconds: number, run: () => Promise<T>): Promise<{ result: T; price: Price }>
  close(): Promise<void>
}

const MOST_COUNTED = 200_000
const AGAIN_MS = 25
/** A version is quiet where it has used less CPU than this, in seconds, in each of some seconds. */
const QUIET_CPU = 0.1
const QUIET_SECONDS = 3
const CAUGHT_UP_WITHIN_MS = 600_000
/** Postgres shows the rows of a transaction to others a second after it, at the latest. */
const STATISTICS_MS = 1_200

/** Creates the meter of a Postgres: a connection of its own, used between slots and once in the middle of each. */
export async function createMeter({ databaseUrl, postgresPid, book }: Side): Promise<Meter> {
  const client = new pg.Client(databaseUrl)
  client.on('error', () => undefined)
  await client.connect()
  const { rows: tables } = await client.query<{ seal: boolean; journal: boolean; inbox: boolean }>(
    `SELECT to_regclass('event_chain') IS NOT NULL AS seal, to_regclass('journal') IS NOT NULL AS journal,
       to_regclass('payment_inbox') IS NOT NULL AS inbox`,
  )
  const has = tables[0]!
  const after = (table: string) => `(SELECT count(*)::int AS count, min(at) AS oldest FROM (SELECT at FROM audit_entry
      WHERE organization_id = ${book.organizationId} AND id > coalesce((SELECT change_id FROM ${table} WHERE organization_id = ${book.organizationId}), 0)
      ORDER BY id LIMIT ${MOST_COUNTED}) AS rows)`
  const nothing = '(SELECT 0 AS count, NULL::timestamptz AS oldest)'
  const waiting = (table: string, condition: string) => `(SELECT count(*)::int FROM (SELECT FROM ${table}
      WHERE organization_id = ${book.organizationId} AND ${condition} LIMIT ${MOST_COUNTED}) AS rows)`
  const undecided = has.inbox
    ? `${waiting('payment_inbox', "state = 'pending'")} + ${waiting('payment', "status = 'received' AND NOT unconfirmed")}`
    : '0'
  const lag = `SELECT s.count AS unsealed, j.count AS unposted, ${undecided} AS undecided,
      coalesce(extract(epoch FROM clock_timestamp() - least(s.oldest, j.oldest)), 0)::float8 AS seconds
    FROM ${has.seal ? after('event_chain') : nothing} AS s, ${has.journal ? after('journal') : nothing} AS j`

  const behind = async () => (await client.query<Behind>(lag)).rows[0]!
  const used = async () => {
    const { rows } = await client.query<{ wal: number; rows: number }>(
      `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal,
         (SELECT sum(n_tup_ins + n_tup_upd) FROM pg_stat_user_tables)::float8 AS rows`,
    )
    return rows[0]!
  }
  const caughtUp = async () => {
    const began = performance.now()
    for (; performance.now() - began < CAUGHT_UP_WITHIN_MS; await sleep(AGAIN_MS)) {
      const { unsealed, unposted, undecided } = await behind()
      if (unsealed === 0 && unposted === 0 && undecided === 0) return (performance.now() - began) / 1000
    }
    throw new Error(`the background has not caught up within ${CAUGHT_UP_WITHIN_MS / 60_000} minutes`)
  }

  return {
    behind,
    async quiet(servicePid) {
      const busy = () => cpuSeconds(servicePid) + cpuSeconds(postgresPid)
      const began = performance.now()
      for (let seconds = 0; seconds < QUIET_SECONDS; ) {
        const before = busy()
        await sleep(1000)
        seconds = busy() - before < QUIET_CPU ? seconds + 1 : 0
        if (performance.now() - began > CAUGHT_UP_WITHIN_MS) throw new Error('the version does not become quiet')
      }
    },
    async priceOf(servicePid, seconds, run) {
      await caughtUp()
      const before = { ...(await used()), service: cpuSeconds(servicePid), postgres: cpuSeconds(postgresPid) }
      const running = run()
      const midway = sleep((seconds * 1000) / 2).then(behind)
      const result = await running
      const [behindMidway, behindAtEnd] = [await midway, await behind()]
      const caughtUpSeconds = await caughtUp()
      const [service, postgres] = [cpuSeconds(servicePid), cpuSeconds(postgresPid)]
      const { wal } = await used()
      await sleep(STATISTICS_MS)
      const { rows } = await used()
      return {
        result,
        price: {
          service: service - before.service,
          postgres: postgres - before.postgres,
          walBytes: wal - before.wal,
          rows: rows - before.rows,
          behindMidway,
          behindAtEnd,
          caughtUpSeconds,
        },
      }
    },
    close: () => client.end(),
  }
}
