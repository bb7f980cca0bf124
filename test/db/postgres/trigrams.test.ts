import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'

// The owner of a database who is no superuser can create the extension that the search needs.

const OWNER = `trigrams_${process.pid}`

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await database.db.pool.query(`DROP DATABASE IF EXISTS ${OWNER}`)
  await database.db.pool.query(`DROP ROLE IF EXISTS ${OWNER}`)
  await database.drop()
})

it('takes no superuser', async () => {
  const { pool } = database.db
  await pool.query(`CREATE ROLE ${OWNER} LOGIN PASSWORD 'a secret of the tests' NOSUPERUSER NOCREATEDB NOCREATEROLE`)
  await pool.query(`CREATE DATABASE ${OWNER} OWNER ${OWNER} TEMPLATE template0`)
  const url = new URL(database.url)
  url.username = OWNER
  url.password = encodeURIComponent('a secret of the tests')
  url.pathname = OWNER
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm')
    const { rows } = await client.query("SELECT word_similarity('mwanadi', 'duka la mwanaidi') > 0.5 AS alike")
    expect(rows).toEqual([{ alike: true }])
  } finally {
    await client.end()
  }
})
