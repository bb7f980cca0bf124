import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import pg from 'pg'
import type { Db } from './client.ts'
import { cut } from './silence.ts'

/** How the database is watched: a question every so often, on a connection of its own. */
const EVERY_MS = 400
const PATIENCE_MS = 700
/** While it is gone: often, so that its return is noticed at once. */
const WHILE_GONE_MS = 200

/** Whether the database answers, as far as the last question says. */
export interface Watch {
  reachable(): boolean
  stop(): Promise<void>
}

/**
 * Watches the database. Two failures in a row, while nobody else hears from it either, mean that it is gone: within 2 s,
 * also where it just falls silent. What waits for it then fails at once, and new requests are refused without a try.
 */
export function watchDatabase(db: Db, log: { warn(message: string): void; info(message: string): void }): Watch {
  let reachable = true
  let stopped = false
  const probe = makeProbe(db.pool.options.connectionString)
  let heard = 0
  db.pool.on('release', (error: unknown) => {
    if (!error) heard++
  })

  async function run(): Promise<void> {
    let failures = 0
    while (!stopped) {
      const before = heard
      if ((await probe.answers()) || heard > before) {
        if (!reachable) log.info('the database is back')
        failures = 0
        reachable = true
        db.setGone(false)
        await pause(EVERY_MS, undefined, { ref: false })
        continue
      }
      failures++
      if (failures < 2 || stopped) continue
      if (reachable) log.warn('the database is gone: requests are answered unavailable until it is back')
      reachable = false
      db.setGone(true)
      await pause(WHILE_GONE_MS, undefined, { ref: false })
    }
  }

  const running = run()
  return {
    reachable: () => reachable,
    async stop() {
      stopped = true
      probe.end()
      // Its pause does not hold the process, and need not be waited for.
      await Promise.race([running, turn()])
    },
  }
}

/** A connection that is asked whether it lives, and replaced where it does not. */
function makeProbe(connectionString: string | undefined) {
  let client: pg.Client | undefined

  const drop = (dead: pg.Client | undefined) => {
    if (dead === undefined) return
    if (client === dead) client = undefined
    cut(dead)
  }

  async function ask(): Promise<boolean> {
    const known = client
    const mine = known ?? new pg.Client({ connectionString, application_name: 'mkopo watch' })
    try {
      if (!known) {
        client = mine
        mine.on('error', () => undefined)
        await mine.connect()
      }
      await mine.query('SELECT 1')
      return true
    } catch (error) {
      drop(mine)
      // It has no room for one more connection, but it is there.
      return error instanceof pg.DatabaseError && error.code === '53300'
    }
  }

  return {
    end: () => drop(client),
    async answers(): Promise<boolean> {
      const asked = ask()
      const waited = new AbortController()
      const answer = await Promise.race([
        asked,
        // Where this process was busy, the answer may lie there unread: it is given one more turn.
        pause(PATIENCE_MS, undefined, { ref: false, signal: waited.signal })
          .then(() => turn())
          .then(() => turn(false))
          .catch(() => false),
      ])
      waited.abort()
      if (!answer) drop(client)
      return answer
    },
  }
}
