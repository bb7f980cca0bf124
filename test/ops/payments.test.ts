import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../src/services/jobs/job.ts'
import { paymentsJob } from '../../src/services/payments/paymentsJob.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let channelId: string
let folder: string
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  folder = await mkdtemp(join(tmpdir(), 'mkopo-payments-'))
  service.clock.set('2026-02-11T08:00:00+03:00')
  const body = { name: 'Till', adapter: 'canonical', zone: 'Africa/Dar_es_Salaam', shortCode: '600111' }
  const { body: channel } = await service.post('/v1/payment-channels', { body, token: service.tokens.operator })
  channelId = channel.id
  for (const [receipt, amount] of [
    ['AA1', 100],
    ['AA2', 200.5],
    ['AA3', 300],
  ] as const)
    await service.post('/v1/payments', {
      body: { channelId, receipt, amount, paidAt: '2026-02-10T10:00:00+03:00', reference: 'nobody' },
    })
  await drain(paymentsJob(service.deps))
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

async function statement(rows: readonly string[]): Promise<string> {
  const file = join(folder, 'statement.csv')
  await writeFile(file, ['receipt,at,amount,reference', ...rows].join('\n'))
  return file
}

const days = ['--from', '2026-02-10', '--to', '2026-02-10']
const ROW = (receipt: string, amount: string) => `${receipt},2026-02-10T10:00:00+03:00,${amount},x`

interface Printed {
  readonly id: string
  readonly balanced: boolean
  readonly difference: string
  readonly figures: Readonly<Record<string, { lines: number; amount: string }>>
  readonly differences: readonly { kind: string; receipt: string; amount: string }[]
}

describe('mkopo payments', () => {
  it('channels shows the wallets, and no hash of a secret', async () => {
    expect((await ops('payments channels')).out).toMatch(/ID +STATE +ADAPTER.+active +canonical.+600111.+Till/s)
    const { json, out } = await ops('payments channels --json')
    expect(json).toMatchObject([{ id: channelId, state: 'active', zone: 'Africa/Dar_es_Salaam', account: null }])
    expect(out).not.toMatch(/secret/i)
  })

  it('list shows payments with their money in suspense, by status, receipt and channel', async () => {
    const { json } = await ops('payments list --status unmatched --json')
    expect(json).toMatchObject([
      { receipt: 'AA1', amount: '100.00', suspense: '100.00', candidates: [] },
      { receipt: 'AA2', amount: '200.50' },
      { receipt: 'AA3', status: 'unmatched' },
    ])
    const { out } = await ops(`payments list --receipt AA2 --channel ${channelId}`)
    expect(out).toMatch(/unmatched +200\.50 +200\.50 +TZS/)
    expect(out).not.toContain('AA1')
    const { err } = await ops('payments list -n 2')
    expect(err).toContain('There are more than these 2.')
  })

  it('reconcile names each difference and exits with 1; apply receives what is missing, and the same file then differs less', async () => {
    const file = await statement([ROW('AA1', '100'), ROW('AA2', '200'), ROW('AA4', '50.25')])
    const args = ['payments', 'reconcile', file, '--channel', channelId, ...days]
    const { json, code } = await ops<Printed>([...args, '--json'])
    expect(code).toBe(1)
    expect(json).toMatchObject({ balanced: false, figures: { matched: { lines: 1, amount: '100.00' } } })
    expect(json.differences.map(({ kind, receipt, amount }) => [kind, receipt, amount])).toEqual([
      ['amount_differs', 'AA2', '200.00'],
      ['missing_here', 'AA4', '50.25'],
      ['missing_there', 'AA3', '300.00'],
    ])
    const { out, err } = await ops(args)
    expect(out).toMatch(/missing here +1 +50\.25/)
    expect(err).toMatch(new RegExp(`Reconciliation ${json.id} of channel ${channelId}, 2026-02-10: not balanced`))

    const declined = await ops(['payments', 'apply', json.id], { says: false })
    expect([declined.code, declined.err]).toEqual([1, expect.stringContaining('Receive 1 payments of reconciliation')])
    expect((await ops('payments list --receipt AA4')).out).toBe('none\n')
    const { json: after } = await ops<Printed>(['payments', 'apply', json.id, '--yes', '--json'])
    expect(after.differences.map(({ receipt }) => receipt)).toEqual(['AA2', 'AA3'])
    expect((await ops<Printed>([...args, '--json'])).json).toEqual(after)
  })

  it('reconcile exits with 0 where nothing differs', async () => {
    const file = await statement([ROW('AA1', '100'), ROW('AA2', '200.50'), ROW('AA3', '300'), ROW('AA4', '50.25')])
    const run = await ops([
      ...['payments', 'reconcile', file, '--channel', channelId, ...days],
      ...['--opening', '-10', '--closing', '640.75'],
    ])
    expect([run.code, run.err]).toEqual([0, expect.stringContaining('nothing is missing or different')])
  })

  it('refuses a file, a layout, an amount and days that are none, in words', async () => {
    const file = await statement([ROW('AA1', 'much')])
    const on = ['--channel', channelId, ...days]
    for (const [args, code, message] of [
      [['nowhere.csv', ...on], 2, /the statement cannot be read/],
      [[file, ...on], 1, /--?statement.*line 2|statement: line 2/],
      [[file, ...on, '--layout', 'paper'], 2, /Allowed choices are plain/],
      [[file, ...on, '--opening', 'x'], 2, /must be an amount such as/],
      [[file, ...on.slice(0, -1), '2026-02-09'], 1, /--to: must not be before/],
      [[file, '--channel', '999', ...days], 1, /no payment channel|no channel/],
    ] as const) {
      const run = await ops(['payments', 'reconcile', ...args])
      expect([run.code, run.err]).toEqual([code, expect.stringMatching(message)])
    }
    expect((await ops('payments apply 999 --yes')).code).toBe(1)
    expect((await ops('payments list -n 501')).code).toBe(2)
  })
})
