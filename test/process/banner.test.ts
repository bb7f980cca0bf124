import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'

let service: ServiceProcess | undefined
afterEach(() => service?.child.kill('SIGKILL'))

const hasCurl = spawnSync('curl', ['--version']).status === 0

it.runIf(hasCurl).each(['partner', 'record', 'none'])(
  'the calls to paste are answered, also with FALLBACK_STYLE=%s',
  async (style) => {
    const { url, drop } = await freshDatabase()
    service = await startProcess({
      DATABASE_URL: url,
      KEY_ENCRYPTION_SECRET: 'a secret of the tests',
      SEED_DEMO: 'true',
      FALLBACK_STYLE: style,
      STOP_GRACE_MS: '0',
    })
    const calls = service
      .output()
      .split('\n')
      .filter((line) => /^ {2}(TOKEN=|curl)/.test(line))
    expect(calls).toHaveLength(2)
    const { stdout } = await promisify(execFile)('sh', ['-c', calls.join('\n')])
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ id: 1 }, {}, {}, {}] })
    service.child.kill('SIGKILL')
    await service.ended
    await drop()
  },
)
