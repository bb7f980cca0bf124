import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportsJob } from '../../src/services/exports/exportsJob.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { DEMO_AUDITOR, DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../support/journal.ts'
import { formOf, type Office, openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

const CREATE = '/bureau-files/do/create'

let service: TestService
let office: Office
let loan: string
beforeAll(async () => {
  service = await startService()
  office = openOffice(service.deps)
  await service.post('/v1/customers', {
    body: { externalId: 'asha', identity: { firstName: '<b>Asha</b>', gender: 'other' } },
  })
  loan = (await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 60_000 } })).body.id
  service.clock.set('2026-02-10')
})
afterAll(async () => {
  await keepJournal(service.deps)
  await office.monitor.close()
  await service.close()
})

/** Asks for a file by the form, and answers the question. */
async function ask(fields: Readonly<Record<string, string>>) {
  const form = await office.look(CREATE)
  const asked = await office.send(CREATE, { ...formOf(form.text, CREATE), ...fields })
  return asked.status === 200 ? office.send(CREATE, formOf(asked.text, CREATE)) : asked
}

describe('the files for bureaux at the office', () => {
  it('are asked for by a form, and shown with a bar while they are made', async () => {
    expect((await office.look('/bureau-files')).text).toContain('No file has been asked for.')
    expect((await office.look('/')).text).toContain('<a href="/bureau-files">Files for bureaux</a>')
    expect((await office.look(CREATE)).text).toContain('<option>ke_dst_4_1_mobile</option>')
    const wrong = await ask({ format: 'ke_dst_4_1_mobile', mode: 'full', asOf: '2026-02-10' })
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('must be a day that is over')])
    expect((await ask({ format: 'ug_cba', mode: 'full', asOf: '2026-02-09', settings: 'branch' })).status).toBe(400)
    const done = await ask({ format: 'ke_dst_4_1_mobile', mode: 'full', asOf: '2026-02-09' })
    expect([done.status, done.headers.location]).toEqual([303, '/bureau-files?done=doneAskForFile'])
    const { text } = await office.look('/bureau-files?done=doneAskForFile')
    expect(text).toContain('The file is being made.')
    expect(text).toMatch(/being made <progress max="1" value="0">/)
  })

  it('show their totals, and what is wrong with loans, with links to these; in both languages', async () => {
    await drain(exportsJob(service.deps))
    const { text } = await office.look('/bureau-files')
    const [, path = ''] = /href="(\/bureau-files\/\d+)"/.exec(text) ?? []
    const shown = (await office.look(path)).text
    for (const word of ['Control totals', `href="/loans/${loan}"`, 'Surname', 'is missing', 'has no code', '60,000.00'])
      expect(shown).toContain(word)
    expect(shown).not.toContain('<b>Asha')
    const file = await office.look(`${path}/file`)
    expect([file.status, file.headers['content-disposition'], file.text]).toEqual([
      200,
      'attachment; filename="ke_dst_4_1_mobile-4.1-2026-02-09.csv"',
      expect.stringMatching(/^Surname,/),
    ])
  })

  it('are accepted once a question was answered', async () => {
    const { text } = await office.look('/bureau-files')
    const [, path = ''] = /href="(\/bureau-files\/\d+)"/.exec(text) ?? []
    const asked = await office.look(`${path}/do/accept`)
    const done = await office.send(`${path}/do/accept`, formOf(asked.text, `${path}/do/accept`))
    expect(done.status).toBe(303)
    expect((await office.look(path)).text).toContain('accepted by the receiver')
    const corrections = await ask({ format: 'ke_dst_4_1_mobile', mode: 'corrections' })
    expect(corrections.status).toBe(303)
    await drain(exportsJob(service.deps))
  })

  it('are for an ADMIN alone', async () => {
    for (const person of [DEMO_PARTNER, DEMO_AUDITOR]) {
      for (const path of [
        '/bureau-files',
        '/bureau-files/1',
        '/bureau-files/1/file',
        CREATE,
        '/bureau-files/1/do/accept',
      ])
        expect([path, (await office.look(path, person)).status]).toEqual([path, 403])
      expect((await office.look('/', person)).text).not.toContain('/bureau-files')
    }
  })
})
