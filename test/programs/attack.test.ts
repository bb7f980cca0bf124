import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FLOODS } from '../../bench/attack/floods.ts'
import { type Met, work } from '../../bench/attack/honest.ts'
import { differencesAfter, type Laid, layAttack } from '../../bench/attack/lay.ts'
import { watchMemory } from '../../bench/attack/memory.ts'
import { openService } from '../../src/app/service.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { within } from '../support/patience.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'
import { testConfig } from '../support/service.ts'

// The short form of `npm run try -- attack`: what is refused, memory and health. How long anything takes is for the script.
const AUTH_URL = 'http://auth.localhost'
const MILLISECONDS = 200
const MOST_MEMORY = 2 ** 30

let database: FreshDatabase
let service: ServiceProcess
let laid: Laid
beforeAll(async () => {
  database = await freshDatabase()
  const deps = await openService({
    config: testConfig({ AUTH_URL }),
    databaseUrl: database.url,
    now: Date.now,
    patience: 'always',
  })
  laid = await layAttack(deps, { longLoans: 30, instalments: 500, repayments: 3_000 })
  deps.statements.close()
  await deps.db.close()
  service = await startProcess({
    DATABASE_URL: database.url,
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    AUTH_URL,
    STOP_GRACE_MS: '0',
    // As an operator has them who sets none.
    RATE_LIMIT_ACCOUNT: '',
    RATE_LIMIT_ADDRESS: '',
  })
}, within(120_000))
afterAll(async () => {
  service.child.kill('SIGKILL')
  await service.ended
  await database.drop()
})

/** What a flood is answered beyond its bound. */
const REFUSED: Readonly<Record<string, string>> = { 'unknown keys': '401', 'full speed': '200', guesses: '503' }

describe('a flood from one address or account', { timeout: within(60_000) }, () => {
  it.each(Object.entries(FLOODS).filter(([name]) => name !== 'nothing'))(
    '%s: no honest caller of another organization is refused, memory is bounded, and health is 200',
    async (name, flood) => {
      const port = Number(new URL(service.origin).port)
      const opsPort = Number(new URL(service.opsOrigin).port)
      const memory = watchMemory(service.child.pid!)
      const status = REFUSED[name] ?? '429'
      // On a busy machine the connections take long to come to the bound. A fast one answers all the histories that
      // one account may ask for at once.
      const awaited = name === 'heavy histories' ? {} : { awaited: { status, milliseconds: within(20_000) } }
      let over = false
      const flooding = flood
        .run({ port, opsPort, ...laid.attacker, milliseconds: MILLISECONDS, ...awaited })
        .finally(() => {
          over = true
        })
      const met: Met[] = []
      do met.push(await work({ port, ...laid.honest }, MILLISECONDS))
      while (!over)
      // What is asserted is asserted when the flood has ended: none goes on beside the next test.
      const answered = Object.keys(await flooding)
      expect(met.flatMap(({ refused }) => refused)).toEqual([])
      expect(met.filter(({ sent, unhealthy }) => sent === 0 || unhealthy > 0)).toEqual([])
      expect(memory()).toBeLessThan(MOST_MEMORY)
      if (name === 'heavy histories') expect(answered.filter((one) => one !== '429')).toEqual(['200'])
      else expect(answered).toContain(status)
    },
  )

  it('and the book is what it was: book check finds nothing', async () => {
    const config = testConfig({ AUTH_URL })
    const deps = await openService({
      config,
      databaseUrl: database.url,
      now: Date.now,
      skipMigrations: true,
      patience: 'always',
    })
    const differences = await differencesAfter(deps, laid)
    deps.statements.close()
    await deps.db.close()
    expect(differences).toEqual([])
  })
})
