import { expect } from 'vitest'
import { drain } from '../../src/services/jobs/job.ts'
import { paymentsJob } from '../../src/services/payments/paymentsJob.ts'
import { keepJournal } from './journal.ts'
import { formOf, type Office, openOffice, type Person, type Seen } from './office.ts'
import { startService, type TestService } from './service.ts'
import type { Wire } from './wire.ts'

/** The day of the statements of the tests. */
export const DAY = '2026-02-10'
export const DAYS = { from: DAY, to: DAY }
/** The address of the form by which a statement is sent. */
export const NEW = '/reconciliations/new'

/** Office pages on the morning after `DAY`, and what tests of reconciliations do there and over HTTP. */
export interface Compared {
  readonly service: TestService
  readonly office: Office
  /** Makes a channel whose days are those of Dar es Salaam. @returns its id */
  makeChannel(name?: string): Promise<string>
  /** Receives a payment of `DAY`. @returns its id */
  pay(channelId: string, receipt: string, amount: number, more?: object): Promise<string>
  /** Compares lines, or lines with other days and balances. */
  compare(channelId: string, lines: readonly object[], more?: object): Promise<Wire>
  /** Sends a statement as a file with the form. */
  send(fields: Record<string, string>, content: string | Uint8Array<ArrayBuffer>): Promise<Seen>
  /** Signs a person in. @returns the cookie of the session, and a token of its forms */
  sessionOf(person: Person): Promise<{ readonly cookie: string; readonly _token: string }>
  close(): Promise<void>
}

/** Starts a service with its office pages, where nothing was compared yet. */
export async function openCompared(): Promise<Compared> {
  const service = await startService()
  service.clock.set('2026-02-11T08:00:00+03:00')
  const office = openOffice(service.deps)
  let channels = 0
  const post = async (path: string, body: object): Promise<Wire> => {
    const answer = await service.post(path, { body, token: service.tokens.operator })
    expect(answer.status, answer.text).toBe(200)
    return answer.body
  }
  return {
    service,
    office,
    async makeChannel(name = `Wallet ${++channels}`) {
      return (await post('/v1/payment-channels', { name, adapter: 'canonical', zone: 'Africa/Dar_es_Salaam' })).id
    },
    async pay(channelId, receipt, amount, more = {}) {
      return (await post('/v1/payments', { channelId, receipt, amount, paidAt: `${DAY}T10:00:00+03:00`, ...more })).id
    },
    compare: (channelId, lines, more = {}) => post('/v1/reconciliations', { channelId, ...DAYS, lines, ...more }),
    send: (fields, content) => office.sendFile(NEW, fields, { field: 'statement', content }),
    async sessionOf(person) {
      const cookie = await office.signIn(person)
      const { body } = await office.monitor.inject({ url: '/', headers: { cookie } })
      return { cookie, _token: formOf(body, '/sign-out')._token! }
    },
    async close() {
      await drain(paymentsJob(service.deps))
      await keepJournal(service.deps)
      await office.monitor.close()
      await service.close()
    },
  }
}

/** Returns a line of a statement as it is told over HTTP. */
export const line = (receipt: string, amount: number, more: object = {}) => {
  return { receipt, amount, at: `${DAY}T10:00:00+03:00`, ...more }
}

/** Returns a statement as a plain CSV file. */
export const csv = (...lines: readonly string[]) => ['receipt,at,amount,reference,reverses', ...lines].join('\n')
