import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderEvents } from '../../../src/app/app.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { startJobs } from '../../../src/services/jobs/runner.ts'
import { webhooksJob } from '../../../src/services/webhooks/delivery.ts'
import { createWebhookFigures } from '../../../src/services/webhooks/figures.ts'
import { within } from '../../support/patience.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'
import { lendTo, operatorOf } from '../../support/webhooks.ts'

let service: TestService
let receiver: Receiver
beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  receiver = await startReceiver()
})
afterAll(async () => {
  await receiver.close()
  await service.close()
})

describe('the job that sends webhooks', () => {
  it('sends on its own until it is stopped, survives a failure, and gives its leases back', {
    timeout: within(60_000),
  }, async () => {
    const errors: string[] = []
    const log = { warn: () => undefined, error: (_: object, message: string) => void errors.push(message) }
    const options = { render: renderEvents(service.deps.config.zone), log }
    const { id } = await operatorOf(service).create(receiver.url)
    const start = () => startJobs([webhooksJob(service.deps, options)], { listener: service.deps.listener, log })
    const job = start()
    await lendTo(service, ['asha'])
    await drain(sequencerJob(service.deps))
    while (receiver.taken.length < 2) await pause(20)
    await job.stop()
    expect(errors).toEqual([])
    const figures = createWebhookFigures(service.deps)
    await drain(figures.job)
    expect(figures.latest().endpoints).toEqual({ active: 1, backing_off: 0, disabled: 0 })
    await lendTo(service, ['juma'])
    await drain(sequencerJob(service.deps))
    await service.owner.pool.query('ALTER TABLE webhook_parked RENAME TO nothing')
    const failing = start()
    while (errors.length === 0) await pause(20)
    await failing.stop()
    expect(errors[0]).toBe('events could not be sent to webhook endpoints; it will be tried again')
    expect(receiver.taken).toHaveLength(2)
    await service.owner.pool.query('ALTER TABLE nothing RENAME TO webhook_parked')
    const { rows } = await service.owner.pool.query('SELECT position FROM webhook_endpoint WHERE id = $1', [id])
    expect(rows).toEqual([{ position: 2n }])
  })
})
