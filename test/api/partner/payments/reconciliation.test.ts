import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../../../src/services/jobs/job.ts'
import { paymentsJob } from '../../../../src/services/payments/paymentsJob.ts'
import { keepJournal } from '../../../support/journal.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  service.clock.set('2026-02-11T08:00:00+03:00')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(async () => {
  await drain(paymentsJob(service.deps))
  await keepJournal(service.deps)
  await service.close()
})

let channels = 0

async function makeChannel(more: object = {}): Promise<string> {
  const body = { name: `Wallet ${++channels}`, adapter: 'canonical', zone: 'Africa/Dar_es_Salaam', ...more }
  return (await service.post('/v1/payment-channels', { body, ...operator })).body.id
}

async function pay(channelId: string, receipt: string, amount: number, paidAt = '2026-02-10T10:00:00+03:00') {
  const { status, text, body } = await service.post('/v1/payments', { body: { channelId, receipt, amount, paidAt } })
  expect(status, text).toBe(200)
  return body.id
}

interface Figure {
  readonly lines: number
  readonly amount: number
}

interface Run {
  readonly id: string
  readonly balanced: boolean
  readonly difference: number
  readonly matched: Figure
  readonly missingHere: Figure
  readonly missingThere: Figure
  readonly amountDiffers: Figure
  readonly reversals: Figure
  readonly reversalsMissing: Figure
  readonly other: Figure
  readonly message?: string
}

const DAY = { from: '2026-02-10', to: '2026-02-10' }

async function compare(channelId: string, body: object) {
  const answer = await service.post('/v1/reconciliations', { body: { channelId, ...DAY, ...body }, ...operator })
  return { status: answer.status, body: answer.body as unknown as Run }
}

const line = (receipt: string, amount: number, more: object = {}) => ({
  ...{ receipt, amount, at: '2026-02-10T10:00:00+03:00' },
  ...more,
})

async function linesOf(id: string, kind = ''): Promise<readonly (readonly [kind: string, receipt: string])[]> {
  const query = kind === '' ? '' : `?kind=${kind}`
  const { body } = await service.get(`/v1/reconciliations/${id}/lines${query}`, operator)
  return (body.items as unknown as { kind: string; receipt: string }[]).map((one) => [one.kind, one.receipt])
}

describe('a statement that is compared with the payments of its channel', () => {
  it('names exactly what is missing here, missing there and different, and is balanced once it is applied', async () => {
    const channelId = await makeChannel()
    await pay(channelId, 'both', 1_000)
    await pay(channelId, 'other amount', 2_000)
    await pay(channelId, 'only here', 300)
    await pay(channelId, 'the day after', 77, '2026-02-11T00:00:00+03:00')
    const lines = [line('both', 1_000), line('other amount', 2_500), line('only there', 400), line('charge', -15)]
    const { status, body: run } = await compare(channelId, { lines })
    expect(status).toBe(200)
    expect(run).toMatchObject({
      matched: { lines: 1, amount: 1_000 },
      amountDiffers: { lines: 1, amount: 2_500 },
      missingHere: { lines: 1, amount: 400 },
      missingThere: { lines: 1, amount: 300 },
      other: { lines: 1, amount: -15 },
      ...{ balanced: false, difference: 600 },
    })
    expect(await linesOf(run.id)).toEqual([
      ['matched', 'both'],
      ['amount_differs', 'other amount'],
      ['missing_here', 'only there'],
      ['other', 'charge'],
      ['missing_there', 'only here'],
    ])
    expect(await linesOf(run.id, 'missing_here,missing_there')).toEqual([
      ['missing_here', 'only there'],
      ['missing_there', 'only here'],
    ])
    const applied = await service.post(`/v1/reconciliations/${run.id}/apply`, { ...operator })
    expect(applied.body).toMatchObject({
      id: run.id,
      matched: { lines: 2 },
      missingHere: { lines: 0 },
      difference: 200,
    })
    const found = await service.get('/v1/payments?receipt=only there', operator)
    expect(found.body.items).toMatchObject([{ amount: 400, valueDate: '2026-02-10' }])
    const again = await service.post(`/v1/reconciliations/${run.id}/apply`, { ...operator })
    expect(again.body).toMatchObject({ matched: { lines: 2 }, difference: 200 })
  })

  it.each(['opening', 'closing'])('a balance of too many decimals is refused by its name: %s', async (name) => {
    const { status, body } = await compare(await makeChannel(), { lines: [line('r', 1)], [name]: 1.001 })
    expect([status, body]).toMatchObject([400, { details: [{ field: name }] }])
  })

  it('is one reconciliation, however often the same statement comes, as it is then', async () => {
    const channelId = await makeChannel()
    const lines = [line('late', 50)]
    const first = (await compare(channelId, { lines })).body
    expect(first).toMatchObject({ missingHere: { lines: 1 }, balanced: false })
    await pay(channelId, 'late', 50)
    const second = (await compare(channelId, { lines })).body
    expect(second).toMatchObject({ id: first.id, matched: { lines: 1 }, balanced: true, difference: 0 })
    const all = await Promise.all(Array.from({ length: 5 }, () => compare(channelId, { lines })))
    expect(new Set(all.map(({ body }) => body.id))).toEqual(new Set([first.id]))
    const other = (await compare(channelId, { lines, to: '2026-02-11' })).body
    expect(other.id).not.toBe(first.id)
    const listed = await service.get(`/v1/reconciliations?channelId=${channelId}`, operator)
    expect(listed.body.items.map(({ id }) => id)).toEqual([first.id, other.id])
  })

  it('is balanced only where its balances are the sum of its lines', async () => {
    const channelId = await makeChannel()
    await pay(channelId, 'balances', 100)
    const lines = [line('balances', 100), line('fee', -1.5)]
    expect((await compare(channelId, { lines, opening: 10, closing: 108.5 })).body.balanced).toBe(true)
    expect((await compare(channelId, { lines, opening: 10, closing: 110 })).body.balanced).toBe(false)
  })

  it('confirms the payments that awaited it, which are then allocated', async () => {
    const channelId = await makeChannel({ confirmAbove: 100 })
    const lent = await service.post('/v1/loans', {
      body: { customerId: 'asha', productId: 1, principal: 10_000, externalId: 'awaits' },
    })
    service.clock.set('2026-02-11T09:00:00+03:00')
    const id = await awaiting(channelId)
    const asked = { body: { allocations: [{ loanId: lent.body.id, amount: 500 }] } }
    expect((await service.post(`/v1/payments/${id}/allocations`, asked)).body.message).toBe(
      'the payment waits for the statement of the provider, which has to confirm it first',
    )
    const at = '2026-02-11T08:30:00+03:00'
    const { body } = await compare(channelId, { to: '2026-02-11', lines: [line('notified', 500, { at })] })
    expect(body).toMatchObject({ matched: { lines: 1 }, balanced: true })
    await drain(paymentsJob(service.deps))
    expect((await service.get(`/v1/payments/${id}`)).body).toMatchObject({ status: 'allocated', allocated: 500 })
  })

  it('takes back what the statement says was taken back', async () => {
    const channelId = await makeChannel()
    const lent = await service.post('/v1/loans', {
      body: { customerId: 'asha', productId: 1, principal: 10_000, externalId: 'taken-back' },
    })
    const at = '2026-02-11T09:30:00+03:00'
    service.clock.set(at)
    const paid = { channelId, receipt: 'first', amount: 700, reference: 'taken-back', paidAt: at }
    expect((await service.post('/v1/payments', { body: paid })).body.status).toBe('allocated')
    const lines = [line('first', 700, { at }), line('back', -700, { at, reverses: 'first' })]
    const { body } = await compare(channelId, { from: '2026-02-11', to: '2026-02-11', lines })
    expect(body).toMatchObject({
      matched: { lines: 1 },
      reversalsMissing: { lines: 1, amount: -700 },
      difference: -700,
    })
    const applied = await service.post(`/v1/reconciliations/${body.id}/apply`, { ...operator })
    expect(applied.body).toMatchObject({ reversals: { lines: 1 }, reversalsMissing: { lines: 0 }, balanced: true })
    await drain(paymentsJob(service.deps))
    const found = await service.get('/v1/payments?receipt=first', operator)
    expect(found.body.items).toMatchObject([{ status: 'reversed', reversed: 700 }])
    expect((await service.get(`/v1/loans/${lent.body.id}`)).body.totalPaid).toBe(0)
  })

  it('names what was taken back here and is not in it, and what was taken back with another amount', async () => {
    const channelId = await makeChannel()
    const at = '2026-02-11T10:00:00+03:00'
    service.clock.set(at)
    const days = { from: '2026-02-11', to: '2026-02-11' }
    const lines = ['known', 'hidden', 'less'].flatMap((receipt) => [
      line(receipt, 100, { at }),
      line(`${receipt} back`, -100, { at, reverses: receipt }),
    ])
    const { body: first } = await compare(channelId, { ...days, lines })
    const applied = await service.post(`/v1/reconciliations/${first.id}/apply`, { ...operator })
    expect(applied.body).toMatchObject({ matched: { lines: 3 }, reversals: { lines: 3 }, balanced: true })
    await drain(paymentsJob(service.deps))
    const told = lines.flatMap((one) =>
      one.receipt === 'hidden back' ? [] : [one.receipt === 'less back' ? { ...one, amount: -40 } : one],
    )
    const { body: run } = await compare(channelId, { ...days, lines: told })
    expect(run).toMatchObject({
      reversals: { lines: 1, amount: -100 },
      missingThere: { lines: 1, amount: -100 },
      amountDiffers: { lines: 1, amount: -40 },
      ...{ balanced: false, difference: 160 },
    })
    expect(await linesOf(run.id, 'missing_there,amount_differs')).toEqual([
      ['amount_differs', 'less back'],
      ['missing_there', 'hidden back'],
    ])
    const none = await compare(channelId, { from: '2026-02-10', to: '2026-02-10', lines: [line('fee', -1)] })
    expect(none.body).toMatchObject({ missingThere: { lines: 0 }, balanced: true })
  })
})

/** Has a message tell of a payment, and returns the payment's number. */
async function awaiting(channelId: string): Promise<string> {
  const { body } = await service.post(`/v1/payment-channels/${channelId}/rotate-secret`, { body: {}, ...operator })
  const path = new URL((body as unknown as { inboundUrl: string }).inboundUrl).pathname
  const message = { receipt: 'notified', amount: '500', paidAt: '2026-02-11T08:30:00+03:00', reference: 'awaits' }
  const told = await service.post(path, { body: message })
  expect(told.status, told.text).toBe(200)
  await drain(paymentsJob(service.deps))
  const { items } = (await service.get('/v1/payments?receipt=notified', operator)).body
  expect(items).toMatchObject([{ status: 'received', awaitsStatement: true }])
  return items[0]!.id
}

it('a statement has as many lines as the document says, and no more', async () => {
  const channelId = await makeChannel()
  const one = { at: '2026-02-10T10:00:00+03:00', amount: -1, reference: 'loan', reverses: 'R' }
  const lines = Array.from({ length: 5_001 }, (_, index) => ({ ...one, receipt: `B${index}` }))
  const { status, body } = await compare(channelId, { lines: lines.slice(1), opening: 0, closing: 0 })
  expect([status, body.reversalsMissing]).toEqual([200, { lines: 5_000, amount: -5_000 }])
  expect((await compare(channelId, { lines })).status).toBe(400)
})

describe('the file of a provider', () => {
  const daraja = [
    'Account Holder,Demo Lender Ltd',
    'Receipt No.,Completion Time,Initiation Time,Details,Transaction Status,Paid In,Withdrawn,Balance,Balance Confirmed,Reason Type,Other Party Info,Linked Transaction ID,A/C No.',
    '"SKA1",2026-02-10 09:00:00,2026-02-10 08:59:58,"Pay bill from 2547…",Completed,"1,000.00",,"1,000.00",TRUE,Pay Utility,,,LOAN-1',
    'SKA2,10-02-2026 09:05:00,10-02-2026 09:05:00,Pay bill,Failed,300.00,,1000.00,TRUE,Pay Utility,,,LOAN-2',
    'SKA1,2026-02-10 09:00:00,2026-02-10 09:00:00,Charge,Completed,,-12.50,987.50,TRUE,Pay Utility,,,',
    'SKA3,2026-02-10 10:00:00,2026-02-10 10:00:00,Reversal,Completed,,-1000.00,-12.50,TRUE,Reversal,,SKA1,',
  ].join('\n')

  it('of Daraja is read by its columns: what completed, charges, and what was reversed', async () => {
    const channelId = await makeChannel()
    await pay(channelId, 'SKA1', 1_000, '2026-02-10T09:00:00+03:00')
    const { body } = await compare(channelId, { layout: 'daraja_organization', statement: daraja })
    expect(body).toMatchObject({
      matched: { lines: 1, amount: 1_000 },
      other: { lines: 1, amount: -12.5 },
      reversalsMissing: { lines: 1, amount: -1_000 },
    })
  })

  const camt = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="TZS">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="TZS">625.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>
<Ntry><Amt Ccy="TZS">500.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-02-10</Dt></BookgDt>
<AcctSvcrRef>BK1</AcctSvcrRef><NtryDtls><TxDtls><RmtInf><Ustrd>LOAN-1</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
<Ntry><Amt Ccy="TZS">30.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>PDNG</Sts><BookgDt><Dt>2026-02-10</Dt></BookgDt><AcctSvcrRef>BK2</AcctSvcrRef></Ntry>
<Ntry><Amt Ccy="TZS">25.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><BookgDt><DtTm>2026-02-10T12:00:00+03:00</DtTm></BookgDt>
<NtryDtls><TxDtls><Refs><TxId>P1</TxId></Refs><Amt Ccy="TZS">10.00</Amt></TxDtls><TxDtls><Refs><TxId>P2</TxId></Refs><Amt Ccy="TZS">15.00</Amt></TxDtls></NtryDtls></Ntry>
</Stmt></BkToCstmrStmt></Document>`

  it('of a bank is read as camt.053: booked entries, each transaction of a batch, and the balances', async () => {
    const channelId = await makeChannel()
    await pay(channelId, 'BK1', 500, '2026-02-10T00:00:00+03:00')
    await pay(channelId, 'P1', 10)
    const { body } = await compare(channelId, { layout: 'camt053', statement: camt })
    expect(body).toMatchObject({
      matched: { lines: 2, amount: 510 },
      missingHere: { lines: 1, amount: 15 },
      balanced: false,
    })
    const applied = await service.post(`/v1/reconciliations/${body.id}/apply`, { ...operator })
    expect(applied.body).toMatchObject({ matched: { lines: 3, amount: 525 }, balanced: true })
  })

  it.each([
    ['both lines and a file', { statement: 'receipt', lines: [line('x', 1)] }, 'not both'],
    ['neither', {}, 'or lines is required'],
    ['a file without the columns', { statement: 'a,b\n1,2' }, 'must have a column receipt'],
    ['a time that is none', { statement: 'receipt,at,amount\nR,yesterday,5' }, 'line 2: at must be a time such as'],
    [
      'an amount that is none',
      { statement: 'receipt,at,amount\nR,2026-02-10 10:00:00,five' },
      'line 2: must have amounts',
    ],
    ['XML with a document type', { layout: 'camt053', statement: '<!DOCTYPE a><a/>' }, 'document type'],
    ['another XML', { layout: 'camt053', statement: '<a/>' }, 'must be a camt.053'],
    ['days in the wrong order', { from: '2026-02-11', lines: [line('x', 1)] }, 'must not be before from'],
    ['too many days', { to: '2026-06-10', lines: [line('x', 1)] }, 'must be less than 93 days after from'],
  ])('is refused where it has %s', async (_, body, message) => {
    const { status, body: refused } = await compare(await makeChannel(), body)
    expect(status).toBe(400)
    expect(refused.message).toContain(message)
  })
})
