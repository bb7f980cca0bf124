import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBorrower } from '../../support/recordBodies.ts'
import type { RecordId } from '../../support/recordIds.ts'
import { recordsOf } from '../../support/records.ts'
import { type Call, startService, type TestService } from '../../support/service.ts'

// A walk by cursor through a list that others change meanwhile (contract 15).

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('customers are inserted by SQL, in transactions that stay open')
})
afterAll(() => service.close())

describe('a walk while the book changes', () => {
  it('gives each customer, loan and transaction exactly once, by two instances', async () => {
    const other = await service.another()
    try {
      const services = [service, other]
      let isDone = false
      const lists = ['/v1/customers', '/v1/loans?schedule=false', '/v1/transactions', '/v1/borrowers', '/v1/repayments']
      const follow = async (path: string, index: number) => {
        const given: string[] = []
        const more = path.includes('?') ? '&' : '?'
        const host = /borrowers|repayments/.test(path) ? new URL(service.deps.config.recordsUrl).host : undefined
        const call: Call = host === undefined ? {} : { host }
        for (let next: unknown, isLast = false; !isLast; ) {
          // What was committed before this answer is in it, or in one before.
          isLast = isDone
          for (let isEmpty = false; !isEmpty; ) {
            const at = next === undefined ? `${path}${more}rows=7` : `${path}${more}rows=7&after=${next}`
            const { status, body } = await services[(index + given.length) % 2]!.get(at, call)
            expect([at, status, body.message]).toEqual([at, 200, undefined])
            given.push(...body.items.map((item) => String(item.id ?? item.repayment_id)))
            next = body.next ?? next
            isEmpty = body.items.length === 0
          }
        }
        return given
      }
      const write = async (lane: number) => {
        for (let number = 0; number < 12; number++) {
          const [one, two] = [services[lane % 2]!, services[(lane + 1) % 2]!]
          const name = `busy-${lane}-${number}`
          await one.post('/v1/customers', { body: { externalId: name } })
          const body = { customerId: name, productId: 3, principal: 6_000, externalId: name }
          await two.post('/v1/loans', { body })
          await Promise.all(
            [1, 2, 3].map((amount) =>
              one.post(`/v1/loans/external/${name}/repayments`, { body: { transactionAmount: amount } }),
            ),
          )
        }
      }
      const walkers = lists.flatMap((path) => [0, 1].map((index) => follow(path, index)))
      await Promise.all([0, 1, 2, 3, 4, 5].map(write))
      isDone = true
      const given = await Promise.all(walkers)
      for (const [index, ids] of given.entries()) {
        const path = lists[Math.floor(index / 2)]!
        const counted = await service.get(
          path,
          /borrowers|repayments/.test(path) ? { host: new URL(service.deps.config.recordsUrl).host } : {},
        )
        expect([path, ids.length, new Set(ids).size]).toEqual([path, counted.body.total, counted.body.total])
      }
    } finally {
      await other.close()
    }
  })

  it('gives a row of a transaction that began later, drew its place earlier and is committed later', async () => {
    const { body: before } = await service.get('/v1/customers')
    const insert = (name: string, number: number) =>
      `INSERT INTO customer (organization_id, external_id, status, created_at, updated_at, account_no)
       VALUES (1, '${name}', 'Active', now(), now(), ${number})`
    const [older, younger] = [await service.owner.pool.connect(), await service.owner.pool.connect()]
    try {
      await older.query('BEGIN; SELECT pg_current_xact_id()')
      await younger.query('BEGIN; SELECT pg_current_xact_id()')
      await younger.query(insert('young', 900_801))
      await older.query(insert('old', 900_802))
      await older.query('COMMIT')
      const { body: seen } = await service.get(`/v1/customers?after=${before.next}`)
      expect(seen.items.map(({ externalId }) => externalId)).toEqual(['old'])
      await younger.query('COMMIT')
      const { body: then } = await service.get(`/v1/customers?after=${seen.next}`)
      expect(then.items.map(({ externalId }) => externalId)).toEqual(['young'])
    } finally {
      older.release(true)
      younger.release(true)
    }
  })

  it('goes on after a later page with what follows it, while a transaction is open', async () => {
    const other = await service.another()
    const open = await service.owner.pool.connect()
    try {
      await open.query('BEGIN; SELECT pg_current_xact_id()')
      const { body: all } = await other.get('/v1/customers?rows=6')
      const { body: second } = await other.get('/v1/customers?page=2&rows=2')
      const { body: third } = await other.get(`/v1/customers?rows=2&after=${second.next}`)
      expect([...second.items, ...third.items]).toEqual(all.items.slice(2, 6))
    } finally {
      open.release(true)
      await other.close()
    }
  })

  it('gives a row that is committed late, after rows that came after it', async () => {
    const { body: before } = await service.get('/v1/customers')
    const first = await service.owner.pool.connect()
    try {
      await first.query('BEGIN')
      await first.query(
        `INSERT INTO customer (organization_id, external_id, status, created_at, updated_at, account_no)
         SELECT 1, 'slow', 'Active', now(), now(), 900803 WHERE pg_current_xact_id() IS NOT NULL`,
      )
      await service.post('/v1/customers', { body: { externalId: 'quick' } })
      const { body: seen } = await service.get(`/v1/customers?after=${before.next}`)
      expect(seen.items.map(({ externalId }) => externalId)).toEqual(['late', 'quick'].slice(-seen.items.length))
      const { body: none } = await service.get(`/v1/customers?after=${seen.next}`)
      expect(none.items).toEqual([])
      await first.query('COMMIT')
      const { body: then } = await service.get(`/v1/customers?after=${seen.next}`)
      expect(then.items.map(({ externalId }) => externalId)).toEqual(['slow'])
      await service.post('/v1/customers', { body: { externalId: 'last' } })
      const { body: end } = await service.get(`/v1/customers?after=${then.next}`)
      expect(end.items.map(({ externalId }) => externalId)).toEqual(['last'])
    } finally {
      first.release(true)
    }
  })

  it('503 unavailable, with Retry-After, when a transaction is open for longer than a cursor can hold', async () => {
    const other = await service.another()
    const open = await service.owner.pool.connect()
    try {
      await open.query('SET idle_in_transaction_session_timeout = 0; BEGIN; SELECT pg_current_xact_id()')
      const records = recordsOf(other)
      const { body: before } = await records.get('/v1/borrowers')
      for (let id = 1; id <= 700; id += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            records.post('/v1/borrowers', { body: { ...aBorrower, id: id + index } }),
          ),
        )
      const seen: RecordId[] = []
      let next: unknown = before.next
      for (;;) {
        const { status, body, headers } = await records.get(`/v1/borrowers?after=${next}`)
        if (status !== 200) {
          expect([status, body.code, headers['retry-after']]).toEqual([503, 'unavailable', '2'])
          break
        }
        seen.push(...body.items.map(({ id }) => id))
        next = body.next
        expect(String(next).length).toBeLessThan(8_000)
      }
      expect(seen.length).toBeGreaterThanOrEqual(400)
      await open.query('COMMIT')
      for (let isEmpty = false; !isEmpty; ) {
        const { status, body } = await records.get(`/v1/borrowers?after=${next}`)
        // Transactions of other databases of the server count: the walk waits for those of the tests beside this one.
        if (status === 503) {
          await pause(100)
          continue
        }
        seen.push(...body.items.map(({ id }) => id))
        next = body.next ?? next
        isEmpty = body.items.length === 0
      }
      expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 700 }, (_, index) => index + 1),
      )
    } finally {
      open.release(true)
      await other.close()
    }
  })
})
