import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/app/config.ts'
import { explain, withSetting } from '../../src/app/explain.ts'

/** Returns the error of listening at a place, as the system makes it. */
async function refusalOf(place: { host: string; port: number }): Promise<unknown> {
  const server = createServer().listen(place)
  try {
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return error
  } finally {
    server.close()
  }
}

/** Returns the words for an error at the place that a setting names. */
function explainAt(setting: Parameters<typeof withSetting>[0], error: unknown): string {
  try {
    return withSetting(setting)(error)
  } catch (named) {
    return explain(named)
  }
}

const coded = (code: string, more: object = {}) => Object.assign(new Error(`${code} of the system`), { code, ...more })

describe('why a start failed, in one line', () => {
  it('names the setting of a port that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const error = await refusalOf({ host: '127.0.0.1', port })
    taken.close()
    for (const setting of ['PORT', 'OPS_PORT'] as const)
      expect(explainAt(setting, error)).toBe(
        `${setting}: ${port} on 127.0.0.1 is taken by another program; stop it, or set ${setting} to a free one`,
      )
  })

  it('names HOST or OPS_HOST for what is no address of this machine', async () => {
    const error = await refusalOf({ host: '203.0.113.1', port: 0 })
    expect(explainAt('PORT', error)).toBe('HOST: 203.0.113.1 is not an address of this machine')
    expect(explainAt('OPS_PORT', error)).toBe('OPS_HOST: 203.0.113.1 is not an address of this machine')
    const unknown = coded('ENOTFOUND', { hostname: 'no-such-host' })
    expect(explainAt('PORT', unknown)).toBe('HOST: no-such-host is not an address of this machine')
  })

  it('names the setting of a port that this user may not have', () => {
    expect(explainAt('PORT', coded('EACCES', { port: 80, address: '0.0.0.0' }))).toBe(
      'PORT: 80 may not be used by this user; set PORT to another',
    )
  })

  it('names the setting of a port in any other error of it, which is none of the database', () => {
    expect(explainAt('OPS_PORT', coded('EMFILE'))).toBe('OPS_PORT: it cannot be listened on: EMFILE of the system')
  })

  it('gives any error of no setting as it is', () => {
    expect(explain(new Error('something else'))).toBe('something else')
    expect(explain('a text')).toBe('a text')
    expect(explain(new ConfigError('ZONE: is none'))).toContain('ZONE: is none')
  })

  it('names the database that cannot be reached, on each of its addresses', () => {
    const both = new AggregateError([coded('ECONNREFUSED'), coded('ETIMEDOUT')], '')
    for (const setting of ['DATABASE_URL', 'DATABASE_OWNER_URL'] as const)
      expect(explainAt(setting, both)).toBe(
        `${setting}: the database cannot be reached: ECONNREFUSED of the system; ETIMEDOUT of the system`,
      )
  })

  it('says of a database that went away later that it cannot be reached, too', () => {
    expect(explain(coded('ECONNRESET'))).toBe(
      'the database cannot be reached or takes no changes: ECONNRESET of the system',
    )
  })
})
