import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, open, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openBook } from '../../src/ops/open.ts'
import { endChildren, nodeSettings, programOf, startNode } from '../support/children.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { opsThrough } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import { startProcess } from '../support/process.ts'

let database: FreshDatabase
let directory: string
beforeAll(async () => {
  database = await freshDatabase()
  directory = await mkdtemp(join(tmpdir(), 'mkopo-ops-'))
  await chmod(directory, 0o755)
})
afterAll(async () => {
  await endChildren()
  await database.drop()
  await pause(500)
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

const SECRET = 'a secret of the tests'
const mkopo = (args: readonly string[], env: Record<string, string> = {}, stdin = '') =>
  startNode(
    ['src/ops/main.ts', ...args],
    { DATABASE_URL: database.serviceUrl, KEY_ENCRYPTION_SECRET: SECRET, ...env },
    stdin,
  ).ended

/** What the program does with its arguments and its settings, in this process: starting one takes longer than most commands. */
async function here(args: readonly string[], env: Record<string, string> = {}) {
  // Vitest has a BASE_URL of its own.
  const settings = { BASE_URL: undefined, DATABASE_URL: database.serviceUrl, KEY_ENCRYPTION_SECRET: SECRET, ...env }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  try {
    return await opsThrough(openBook)(args)
  } finally {
    vi.unstubAllEnvs()
  }
}

describe('the program', () => {
  it('has help, which needs no database', async () => {
    const help = await mkopo(['accounts', 'create', '--help'], { DATABASE_URL: 'none at all' })
    expect(help).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('Usage: mkopo accounts create [options] <email>'),
    })
  })

  it('exit codes: 0 done, 1 refused, 2 given wrongly; results on stdout and everything else on stderr', async () => {
    const office = { officeId: '1', officeName: 'Head Office' }
    const unset = {
      legalName: null,
      licenceNumber: null,
      approvalAbove: null,
      keepBorrowersYears: null,
      keepOthersYears: null,
      reminderPolicy: null,
    }
    const settings = { currency: 'TZS', ...office, paymentMethod: 'Mobile Money', ...unset }
    const { code, err, json } = await here(['organizations', 'list', '--json'])
    expect({ code, err, json }).toEqual({
      code: 0,
      err: '',
      json: [
        { id: 1, name: 'Demo Lender', mode: 'live', ...settings },
        { id: 100, name: 'Demo Sandbox', mode: 'test', ...settings },
      ],
    })
    expect(await here(['loans', 'show', '7', '--json'])).toMatchObject({
      code: 1,
      out: '',
      err: '{"code":"not_found","message":"no loan has that id"}\n',
    })
    expect(await mkopo(['loan', 'show'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Did you mean loans'),
    })
  })

  it('asks before what cannot be undone; without a terminal it is refused unless --yes is given', async () => {
    const refused = await mkopo(['products', 'retire', '4'])
    expect(refused).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('Say --yes, for there is no terminal'),
    })
    expect(await here(['products', 'retire', '4', '--yes'])).toMatchObject({ code: 0, err: '' })
  })

  it('takes a password from stdin, and never shows it; the trail names who ran it', async () => {
    const made = await mkopo(['accounts', 'create', 'ops@lender.example', '--json'], {}, 'from the standard input\n')
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.out).not.toContain('standard')
    const { id } = JSON.parse(made.out)
    const { rows } = await database.db.pool.query(
      `SELECT request_id FROM audit_entry WHERE entity = 'account' AND entity_id = $1::text`,
      [id],
    )
    expect(rows).toEqual([{ request_id: expect.stringMatching(/^ops:[^:]+:[0-9a-f]{8}$/) }])
  })

  it('a wrong KEY_ENCRYPTION_SECRET, a database that is away, a bad setting: one line each, exit code 1', async () => {
    const wrong = await here(['keys', 'list'], { KEY_ENCRYPTION_SECRET: 'not the secret of the tests' })
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(wrong.err).toMatch(/^mkopo: KEY_ENCRYPTION_SECRET: [^\n]+\n$/)
    for (const rest of ['127.0.0.1:1/none', '127.0.0.1/none?sslrootcert=/nowhere/ca.pem', '%2Fnowhere/none']) {
      const away = await here(['keys', 'list'], { DATABASE_URL: `postgres://mkopo:hidden@${rest}` })
      expect(away).toMatchObject({ code: 1, out: '' })
      expect(away.err).toMatch(/^mkopo: DATABASE_URL: the database cannot be reached: [^\n]+\n$/)
      expect(away.err).not.toContain('hidden')
    }
    expect((await here(['keys', 'list'], { TENANT_ZONE: 'Mars' })).err).toMatch(/^mkopo: TENANT_ZONE: [^\n]+\n$/)
  })

  it('a database without the schema is refused, and brought up to date by migrate', async () => {
    const bare = await freshDatabase('template0')
    const refused = await here(['organizations', 'list'], { DATABASE_URL: bare.url })
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('run mkopo migrate') })
    expect((await here(['migrate'], { DATABASE_URL: bare.url })).code).toBe(0)
    expect(await here(['organizations', 'list'], { DATABASE_URL: bare.url })).toMatchObject({ code: 0, out: 'none\n' })
    await bare.drop()
  })
})

describe('output that nobody reads', () => {
  it('ends quietly with 141, as other tools do behind a pipe', async () => {
    const child = startNode(['src/ops/main.ts', 'products', 'list'], {
      DATABASE_URL: database.serviceUrl,
      KEY_ENCRYPTION_SECRET: SECRET,
    })
    child.process.stdout?.destroy()
    expect(await child.ended).toEqual({ code: 141, signal: null, out: '', err: '' })
  })

  it('ends what follows the audit trail as soon as its reader has left', async () => {
    const child = startNode(['src/ops/main.ts', 'audit', '--follow', '--json', '--since', '7d', '-o', '1'], {
      DATABASE_URL: database.serviceUrl,
      KEY_ENCRYPTION_SECRET: SECRET,
    })
    child.process.stdout?.destroy()
    expect(await child.ended).toEqual({ code: 141, signal: null, out: '', err: '' })
  })

  it.runIf(process.platform === 'linux')('a full disk is told in one line, exit code 1', async () => {
    await using full = await open('/dev/full', 'w')
    const child = spawn(process.execPath, [programOf('src/ops/main.ts'), 'products', 'list'], {
      env: {
        PATH: process.env.PATH,
        ...nodeSettings(),
        DATABASE_URL: database.serviceUrl,
        KEY_ENCRYPTION_SECRET: SECRET,
      },
      stdio: ['ignore', full.fd, 'pipe'],
    })
    let err = ''
    child.stderr?.on('data', (chunk) => {
      err += chunk
    })
    const [code] = await once(child, 'close')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^mkopo: the output cannot be written: ENOSPC[^\n]*\n$/),
    })
  })
})

describe('a directory that cannot be made', () => {
  it.runIf(process.platform === 'linux').each(['/proc/x', '/proc/x/y'])(
    'book export %s: one line, exit code 1',
    async (folder) => {
      expect(await here(['book', 'export', '-o', '1', folder])).toMatchObject({
        code: 1,
        out: '',
        err: `mkopo: ${folder} cannot be made: ENOENT: no such file or directory, mkdir '/proc/x'; name another folder\n`,
      })
    },
  )

  it('book export where a file is in the way: one line, exit code 1', async () => {
    const inTheWay = join(import.meta.filename, 'book')
    expect(await here(['book', 'export', '-o', '1', inTheWay])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^mkopo: [^\n]+ cannot be made: ENOTDIR[^\n]+; name another folder\n$/),
    })
  })
})

describe('with the embedded database', () => {
  const embedded = () => ({ DATABASE_URL: '', KEY_ENCRYPTION_SECRET: '', DATA_DIR: directory })

  it.each([
    ['organizations', 'list'],
    ['accounts', 'list'],
    ['products', 'list'],
    ['keys', 'list'],
    ['loans', 'show', '7'],
    ['book', 'check'],
    ['book', 'export', 'never-made'],
    ['audit'],
    ['accounts', 'disable', 'partner@example.com'],
  ])('%s %s makes no database where DATA_DIR is mistyped, and reports it', async (...args) => {
    const mistyped = join(directory, 'mistyped')
    expect(await here(args, { ...embedded(), DATA_DIR: mistyped })).toMatchObject({
      code: 1,
      out: '',
      err: `mkopo: DATA_DIR: there is no database in ${mistyped}; correct DATA_DIR, or make one there with mkopo migrate or a start of the service\n`,
    })
    await expect(stat(mistyped)).rejects.toThrow('ENOENT')
  })

  it('starts it for as long as the command takes, and reaches that of the service while that runs', {
    timeout: within(60_000),
  }, async () => {
    const first = await here(['accounts', 'create', 'early@lender.example', '--generate', '--json'], embedded())
    expect(first).toMatchObject({ code: 0, err: '' })
    const { password } = JSON.parse(first.out)
    expect((await stat(join(directory, 'key-encryption-secret'))).mode & 0o777).toBe(0o600)

    const service = await startProcess({ ...embedded(), LOG_LEVEL: 'silent', STOP_GRACE_MS: '0' })
    onTestFinished(() => void service.child.kill('SIGKILL'))
    const basic = Buffer.from(`early@lender.example:${password}`).toString('base64')
    const signIn = () => fetch(`${service.origin}/v1/auth/token`, { headers: { authorization: `Basic ${basic}` } })
    expect((await signIn()).status).toBe(200)

    const left = join(directory, 'database-url')
    expect((await stat(left)).mode & 0o777).toBe(0o600)
    expect(await readFile(left, 'utf8')).toMatch(/^postgres:\/\//)
    const disabled = await here(['accounts', 'disable', 'early@lender.example'], embedded())
    expect(disabled).toMatchObject({ code: 0, err: '' })
    expect((await signIn()).status).toBe(401)

    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    await expect(stat(left)).rejects.toThrow('ENOENT')
    expect(await mkopo(['book', 'check', '--json'], embedded())).toMatchObject({ code: 0, err: '' })
  })
})
