import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GENERATORS, lendersOf } from '../../clients/try/clients.ts'
import { isException } from '../../clients/try/lint.ts'
import { readOptions } from '../../clients/try/options.ts'
import { attemptAll } from '../../clients/try/outcomes.ts'
import { hasFailed, summaryOf, tableOf } from '../../clients/try/report.ts'
import { EXCEPTIONS } from '../../clients/try/rules/exceptions.ts'
import { NotHereError, run, runToEnd } from '../../clients/try/run.ts'
import { claimWork } from '../../clients/try/tools.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-clients-test-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the options of a trial', () => {
  it('try everything, within ten minutes of Schemathesis', () => {
    expect(readOptions([])).toMatchObject({ parts: ['lint', 'schemathesis', 'clients'], seconds: 600 })
    expect(readOptions(['--quick', '--only', 'lint']).parts).toEqual(['lint'])
    expect(readOptions(['--quick']).seconds).toBe(60)
  })

  it.each([
    [['--only', 'lint,paint'], /no such part: paint/],
    [['--seconds', 'soon'], /--seconds: must be a whole number/],
    [['--seconds', '0'], /--seconds: must be a whole number/],
    [['--slow'], /--slow/],
  ])('%j are refused', (args, message) => expect(() => readOptions(args)).toThrow(message))
})

describe('a program of a trial', () => {
  const options = () => ({ cwd: folder, log: join(folder, 'logs', 'program.log') })

  it('leaves a log of its command and of all that it wrote', async () => {
    const script = 'console.log("out"); console.error("err"); process.exitCode = 3'
    const { code, output } = await runToEnd(process.execPath, ['-e', script], options())
    expect([code, output.includes('out'), output.includes('err')]).toEqual([3, true, true])
    expect(await readFile(options().log, 'utf8')).toMatch(/^\$ .*\n(out\nerr|err\nout)\n$/)
  })

  it('that fails is an error with its last lines', async () => {
    await expect(run(process.execPath, ['-e', 'console.log("why"); process.exit(2)'], options())).rejects.toThrow(
      /ended with 2; see .*program\.log\nwhy/,
    )
  })

  it('that is not installed is no failure', async () => {
    await expect(run('mkopo-no-such-program', [], options())).rejects.toBeInstanceOf(NotHereError)
  })

  it('that may not be run is not installed either', async () => {
    await writeFile(join(folder, 'mkopo-no-program'), '', { mode: 0o644 })
    const environment = { PATH: folder }
    await expect(run('mkopo-no-program', [], { ...options(), environment })).rejects.toThrow(/is not installed/)
  })

  it('that takes too long is killed', async () => {
    const endless = run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { ...options(), seconds: 0.2 })
    await expect(endless).rejects.toThrow(/took more than 0.2 s/)
  })
})

describe('the folder of a run', () => {
  it('is emptied, and refused while another process keeps it', async () => {
    const cache = join(folder, 'cache')
    const another = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    try {
      await mkdir(join(cache, 'work', 'logs'), { recursive: true })
      await claimWork(cache)
      await claimWork(cache)
      expect(await readdir(cache)).toEqual(['run.pid'])
      await writeFile(join(cache, 'run.pid'), String(another.pid))
      await expect(claimWork(cache)).rejects.toThrow(/the run of process \d+ uses .*cache: wait for its end/)
    } finally {
      another.kill('SIGKILL')
    }
    await once(another, 'exit')
    await claimWork(cache)
    expect(await readFile(join(cache, 'run.pid'), 'utf8')).toBe(String(process.pid))
  })
})

describe('the steps of a trial', () => {
  const fail = (error: Error) => async () => {
    throw error
  }

  it('end at the first that does not pass', async () => {
    const told: string[] = []
    const steps = { generated: async () => '7 files', compiled: fail(new Error('no such type')), used: async () => '' }
    const outcomes = await attemptAll(steps, (step, { note }) => told.push(`${step}: ${note}`))
    expect(outcomes).toEqual({
      generated: { kind: 'passed', note: '7 files' },
      compiled: { kind: 'failed', note: 'no such type' },
    })
    expect(told).toEqual(['compiled: no such type'])
  })

  it('fail the run, but for those whose tool is not there', async () => {
    const line = (steps: Awaited<ReturnType<typeof attemptAll>>) =>
      ({ tool: 'go', version: '1', style: 'partner', steps }) as const
    const skipped = line(await attemptAll({ compiled: fail(new NotHereError('go is not installed')) }, () => {}))
    const failed = line(await attemptAll({ compiled: fail(new Error('no such type')) }, () => {}))
    expect([hasFailed([skipped]), hasFailed([skipped, failed])]).toEqual([false, true])
    expect(tableOf([skipped, failed])).toMatch(/skipped[\s\S]*failed/)
    expect(summaryOf([skipped, failed])).toBe('0 passed, 1 failed, 1 skipped')
  })
})

describe('the exceptions of the linters', () => {
  it.each([
    [
      'operation-4xx-response: Operation must have at least one `4XX` response. #/paths/~1health~1live/get/responses',
      1,
    ],
    ['operation-4xx-response: Operation must have at least one `4XX` response. #/paths/~1v1~1loans/get/responses', 0],
    ['operation-operationId: Operation object should contain it. #/paths/~1health~1live/get/operationId', 0],
  ])('%s: %i', (finding, count) => {
    const used = new Set<(typeof EXCEPTIONS)[number]>()
    expect([isException(finding, used), used.size]).toEqual([count === 1, count])
  })

  it('have a reason each', () => {
    for (const { reason } of EXCEPTIONS) expect(reason).toMatch(/^[A-Z].{30,}\.$/)
  })
})

describe('the jobs', () => {
  it('are done by four languages or more, each on a book of its own', () => {
    const names = lendersOf(GENERATORS)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(
      expect.arrayContaining(['openapi-generator: java, record', 'oapi-codegen, partner', 'hey-api, record']),
    )
  })
})
