import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setRoles } from '../../../src/services/access/accounts.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain, workRound } from '../../../src/services/jobs/job.ts'
import { within } from '../../support/patience.ts'
import { readStatementsHere } from '../../support/readHere.ts'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { startService, type TestService } from '../../support/service.ts'
import { smallStatement } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'

const ROUNDS = 12

let service: TestService
beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
})
afterAll(() => service.close())

it(
  'finds nothing on a book that is changed, sealed and checked at the same time',
  async () => {
    const record = { host: 'records.localhost' }
    const ok = async (answer: ReturnType<TestService['post']>) => {
      const { status, text, body } = await answer
      expect(status, text).toBe(200)
      return body
    }
    service.clock.set('2026-07-02')
    await ok(service.post('/v1/customers', { body: { externalId: 'asha' } }))
    await ok(service.post('/v1/borrowers', { body: aBorrower, ...record }))
    await ok(service.post('/v1/loans', { body: aBasicLoan, ...record }))
    const application = { customerId: 'asha', productId: 3, principal: 60_000 }
    const { id } = (await service.post('/v1/loans', { body: application })).body
    const pdf = await smallStatement('2026-04-01', '2026-06-30')

    const boost = () => ok(service.post('/v1/credit-scorecard/asha/boost', showing(pdf)))
    let isOver = false
    let checks = 0
    const changes = async () => {
      // Twice at one moment: the decisions differ by their ids alone.
      await Promise.all([boost(), boost()])
      // Until some checks have met changes, too, however fast either is.
      for (let round = 0; round < ROUNDS || checks <= 3; round++)
        await Promise.all([
          ok(service.put('/v1/borrowers/1', { body: { region: `Region ${round}` }, ...record })),
          ok(service.put('/v1/loans/1', { body: { principal_amount: 1_000 + round }, ...record })),
          ok(service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 5 } })),
          ok(service.get('/v1/credit-scorecard/asha')),
          setRoles(
            service.deps,
            operator(1, 'test'),
            'partner@example.com',
            round % 2 === 0 ? ['USER', 'ADMIN'] : ['USER'],
          ),
        ])
      isOver = true
    }
    const sequences = async () => {
      const sequencer = sequencerJob(service.deps)
      for (; !isOver; await pause(5)) await workRound(sequencer)
    }
    const checking = async () => {
      for (; !isOver; checks++) {
        const { differences } = await checkBook(service.deps)
        expect(differences).toEqual([])
      }
    }
    await Promise.all([changes(), sequences(), sequences(), checking()])
    await drain(sequencerJob(service.deps))
    expect(await checkBook(service.deps)).toMatchObject({ found: 0, unsealed: 0 })
    expect(checks).toBeGreaterThan(3)
  },
  within(120_000),
)
