import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { banner, warnOfDemo } from '../../src/process/banner.ts'
import { freshDatabase } from '../support/database.ts'
import { startService, testConfig } from '../support/service.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

it('names the demonstration accounts with their passwords', () => {
  const text = banner(testConfig({ SEED_DEMO: 'true' }), 'http://127.0.0.1:3000', [
    { opsOrigin: 'http://127.0.0.1:3001' },
  ])
  expect(text).toContain('partner@example.com / partner-secret')
  expect(text).toContain('operator@example.com / operator-secret')
  expect(text).toContain('auditor@example.com / auditor-secret    AUDITOR: ')
  expect(text).toContain('sandbox@example.com / sandbox-secret    ADMIN of a test organization')
  expect(banner(testConfig({ SEED_DEMO: 'false' }), 'http://127.0.0.1:3000', [])).not.toContain('secret')
})

describe('the addresses', () => {
  const shown = (host: string, settings: Record<string, string> = {}) =>
    banner(testConfig({ SEED_DEMO: 'true', ...settings }), `http://${host}:3000`, [
      { opsOrigin: `http://${host}:3001` },
    ])
  const call = (text: string) => text.split('\n').filter((line) => /^ {2}(TOKEN=|curl)/.test(line))

  it.each(['0.0.0.0', '[::]'])('of a service that listens on %s can be called', (host) => {
    const text = shown(host)
    expect(text).not.toContain(host)
    expect(text).toContain(
      'Mkopo listens on http://127.0.0.1:3000 and every other address of this machine (of a container: on the port that it publishes)\n',
    )
    expect(text).toContain('  operators http://127.0.0.1:3001    http://127.0.0.1:3001/metrics\n')
    expect(text).toContain('ADMIN: an operator, at http://127.0.0.1:3001 as well')
    expect(call(text).every((line) => line.includes(' http://127.0.0.1:3000/v1/'))).toBe(true)
  })

  it('in the calls to paste are the public URLs, where the settings have some', () => {
    const urls = {
      AUTH_URL: 'https://auth.ziwa.example',
      BASE_URL: 'https://api.ziwa.example',
      RECORDS_URL: 'https://records.ziwa.example',
    }
    const [token, list] = call(shown('0.0.0.0', urls))
    expect(token).toBe(
      `  TOKEN=$(curl -s -u partner@example.com:partner-secret https://auth.ziwa.example/v1/auth/token | cut -d '"' -f 4)`,
    )
    expect(list).toBe('  curl -s -H "Authorization: Bearer $TOKEN" https://api.ziwa.example/v1/loan-products')
    expect(call(shown('0.0.0.0', { ...urls, FALLBACK_STYLE: 'none' }))).toEqual([token, list])
    // On one address the service is called there: a proxy may not be in front yet.
    expect(call(shown('127.0.0.1', urls))[1]).toContain(' http://127.0.0.1:3000/v1/loan-products')
  })

  it('of one address is that one', () => {
    expect(shown('192.168.1.5')).toContain('Mkopo listens on http://192.168.1.5:3000\n')
  })
})

// `npmStart.test.ts` and `workers.test.ts` have the warning of a start.
describe('HOST beyond this machine', () => {
  it('names those that are not disabled, also without the demonstration; nothing where only this machine can call', async () => {
    const { db, drop } = await freshDatabase()
    await db.pool.query(`UPDATE account SET disabled_at = now() WHERE email = 'partner@example.com'`)
    const warnings: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })
    for (const host of ['0.0.0.0', '127.0.0.1']) await warnOfDemo({ host }, db, log)
    expect(warnings).toEqual([
      expect.stringContaining(
        'HOST: 0.0.0.0 lets other machines call, and the demonstration accounts (operator, auditor, sandbox) ',
      ),
    ])
    await drop()
  })
})

it.runIf(hasCurl).each(['partner', 'record', 'none'])(
  'the calls to paste are answered, also with FALLBACK_STYLE=%s',
  async (style) => {
    const { app, deps, close } = await startService({ FALLBACK_STYLE: style })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const calls = banner(deps.config, app.listeningOrigin, [])
      .split('\n')
      .filter((line) => /^ {2}(TOKEN=|curl)/.test(line))
    expect(calls).toHaveLength(2)
    const { stdout } = await promisify(execFile)('sh', ['-c', calls.join('\n')])
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ id: 1 }, {}, {}, {}] })
    await close()
  },
)
