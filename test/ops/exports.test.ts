import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PORTFOLIO } from '../../src/domain/exports/formats/flat.ts'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
const folder = join(tmpdir(), `mkopo-exports-${process.pid}`)
const path = (name: string) => `${folder}-${name}`

beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 60_000 } })
  service.clock.set('2026-02-10')
})
afterAll(async () => {
  for (const name of ['right.json', 'wrong.json', 'file.csv']) await rm(path(name), { force: true })
  await service.close()
})

it('a format is checked: it is right, or each fault is named', async () => {
  await writeFile(path('right.json'), JSON.stringify({ ...PORTFOLIO, name: 'own_return' }))
  await writeFile(
    path('wrong.json'),
    JSON.stringify({ ...PORTFOLIO, dates: 'soon', classes: [{ from: 2, to: null, code: 'A' }] }),
  )
  const right = await ops(['export-format', 'check', path('right.json')])
  expect([right.code, right.out]).toEqual([0, 'own_return@1 is right: 27 fields.\n'])
  const wrong = await ops<{ faults: object[] }>(['export-format', 'check', path('wrong.json'), '--json'])
  expect([wrong.code, wrong.json.faults]).toEqual([
    1,
    [
      { field: 'dates', rule: 'must be one of YYYYMMDD, YYYY-MM-DD, DD/MM/YYYY' },
      { field: 'classes[0].from', rule: 'must be 0: no day may be in no class or in two' },
    ],
  ])
  expect((await ops(['export-format', 'check', path('nothing.json')])).code).toBe(2)
})

it('a format is stored, listed and printed', async () => {
  expect((await ops(['export-format', 'store', path('right.json'), '-o', '1'])).out).toContain(
    'own_return@1 of organization 1 is stored.',
  )
  expect((await ops('export-format list -o 1')).out).toMatch(/own_return {2,}1/)
  expect((await ops('export-format show own_return -o 1 --json')).json).toMatchObject({ name: 'own_return' })
})

it('a file is made, shown, written and accepted', async () => {
  const made = await ops<{ id: string; sha256: string }>('exports create own_return --as-of 2026-02-01 -o 1 --json')
  expect([made.code, made.err, made.json]).toMatchObject([
    0,
    '',
    { state: 'ready', accepted: 1, excluded: 0, exceptions: 0 },
  ])
  const { id, sha256 } = made.json
  expect((await ops(`exports show ${id} -o 1`)).out).toMatch(/accepted {2,}TZS {2,}1 {2,}60000\.00/)
  expect((await ops(['exports', 'file', id, '-o', '1', '--output', path('file.csv')])).code).toBe(0)
  const bytes = await readFile(path('file.csv'))
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
  expect((await ops(`exports accept ${id} -o 1 --json`)).json).toMatchObject({ state: 'accepted' })
  const corrected = await ops('exports create own_return --corrections -o 1 --json')
  expect(corrected.json).toMatchObject({
    asOf: '2026-02-01',
    mode: 'corrections',
    accepted: 0,
    reasons: { unchanged: 1 },
  })
  expect((await ops('exports list -o 1 --json')).json).toHaveLength(2)
})

it('a Kenyan file names what is missing; a setting that is missing is named', async () => {
  const made = await ops<{ id: string }>('exports create ke_dst_4_1_mobile --as-of 2026-02-01 -o 1 --json')
  expect(made.json).toMatchObject({ exceptions: 1 })
  expect((await ops(`exports exceptions ${made.json.id} -o 1`)).out).toMatch(/Surname {2,}required/)
  const wrong = await ops('exports create ug_cba --as-of 2026-02-01 --setting branch=1 -o 1')
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('settings.participatingInstitution')])
})
