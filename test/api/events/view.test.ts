import { expect, it } from 'vitest'
import { toEvent as toPartnerEvent } from '../../../src/api/partner/events/events.wire.ts'
import { toEvent as toRecordEvent } from '../../../src/api/record/events/events.wire.ts'
import type { EventType } from '../../../src/domain/events/eventTypes.ts'
import type { ToldEvent } from '../../../src/services/events/toldEvent.ts'

/** An event of a row of the trail, as far as the view looks at it. */
const eventOf = (type: EventType, before: object, after: object): ToldEvent => ({
  organizationId: 1,
  sequence: 7n,
  type,
  subject: { customerId: 3n },
  at: Date.UTC(2026, 0, 5) as ToldEvent['at'],
  hash: Buffer.from('c053', 'hex'),
  change: { requestId: 'a', accountId: 2, before, after, entityId: '3' } as unknown as ToldEvent['change'],
  loan: undefined,
  transaction: undefined,
  customer: undefined,
  payment: undefined,
})

const inBoth = (event: ToldEvent) => {
  const organization = { currency: 'TZS', mode: 'live' } as const
  return {
    partner: toPartnerEvent(event, organization, 'UTC').data,
    record: toRecordEvent(event, organization, 'UTC').data,
  }
}

it('tells what each style has a word for of what changed, and no other member of the trail', () => {
  const before = {
    status: 'Active',
    dueOn: '2026-02-01',
    activationDate: null,
    externalId: 'asha',
    businessName: 'Asha Stores',
    phone: '+255700000001',
    nobodyTellsThis: 1,
    totalPaid: 1_500,
    customerId: 9_007_199_254_740_990,
    grade: 'A',
  }
  const { partner, record } = inBoth(
    eventOf('customer.updated', before, { grade: 'A', posted: {}, reversed: { id: 12, amount: 700 } }),
  )
  expect(partner.previous).toEqual({
    status: 'Active',
    dueDate: '2026-02-01',
    activationDate: null,
    externalId: 'asha',
    totalPaid: 15,
    customerId: '9007199254740990',
    transactionId: '12',
    transactionAmount: 7,
  })
  expect(record.previous).toMatchObject({
    status: 'Active',
    due_date: '2026-02-01',
    business_name: 'Asha Stores',
    phone: '+255700000001',
    total_paid: 15,
    amount: 7,
  })
  expect(JSON.stringify(record.previous)).not.toMatch(/activation|external|asha|nobody/)
})

it('leaves out a part of which nothing is told', () => {
  const { partner, record } = inBoth(eventOf('customer.updated', { grade: 'A' }, { grade: 'B' }))
  expect(Object.keys(partner)).toEqual(['sequence', 'requestId', 'accountId', 'hash', 'cursor'])
  expect(Object.keys(record)).toEqual(['sequence', 'request_id', 'account_id', 'hash', 'cursor'])
})

it('tells a decision by the words of each style; the version of the policy in the partner style alone', () => {
  const after = {
    grade: 'B',
    score: 70,
    creditLimit: 500_00,
    availableLimit: 0,
    policyVersion: '3',
    boostStatus: 'raised',
  }
  const { partner, record } = inBoth(eventOf('credit.decided', {}, after))
  expect(partner.credit).toEqual({
    grade: 'B',
    creditScore: 70,
    creditLimit: 500,
    availableCreditLimit: 0,
    policyVersion: '3',
    boostStatus: 'raised',
  })
  expect(record.credit).toEqual({
    grade: 'B',
    credit_score: 70,
    credit_limit: 500,
    available_credit_limit: 0,
    boost_status: 'raised',
  })
})

it('tells no arrears of a damaged row', () => {
  const { partner, record } = inBoth(
    eventOf('delinquency.changed', { bucket: 3 }, { bucket: '1-30', since: '2026-03-01' }),
  )
  expect([partner.delinquency, record.delinquency]).toEqual([undefined, undefined])
})
