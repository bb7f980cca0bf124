import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportsJob } from '../../../../src/services/exports/exportsJob.ts'
import { drain, workRound } from '../../../../src/services/jobs/job.ts'
import { kenyanFaults } from '../../../support/exportRules.ts'
import { keepJournal } from '../../../support/journal.ts'
import { opsOn } from '../../../support/ops.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let operator: { token: string }
let productId: number

const PERSON = {
  firstName: 'Asha',
  middleName: 'Wanjiru',
  lastName: 'Otieno',
  dateOfBirth: '1990-04-12',
  gender: 'female',
  nationality: 'KE',
  idType: 'national_id',
  idNumber: '29345678',
  phone: '+254712345678',
}

beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  const made = await opsOn(service)<{ id: number }>(
    'products create -o 1 --name Simu --currency KES --min 100 --max 200000 --instalments 2 --unit months --rate 5 --json',
  )
  expect(made.code, made.err).toBe(0)
  productId = made.json.id
})
afterAll(async () => {
  await keepJournal(service.deps)
  await service.close()
})

interface File {
  readonly id: string
  readonly state: string
  readonly accepted: number
  readonly excluded: number
  readonly exceptions: number
  readonly sha256: string
  readonly progress: { readonly done: number; readonly total: number }
  readonly corrects: string | null
  readonly totals: readonly {
    readonly kind: string
    readonly currencyCode: string
    readonly loans: number
    readonly principalOutstanding: number
    readonly outstanding: number
  }[]
  readonly reasons: readonly { readonly kind: string; readonly reason: string | null; readonly loans: number }[]
  readonly message?: string
}

async function ok<Body = File>(answer: Promise<{ status: number; text: string; body: unknown }>): Promise<Body> {
  const { status, text, body } = await answer
  expect(status, text).toBe(200)
  return body as Body
}

const request = (body: object) => service.post('/v1/exports', { body, ...operator })
const KENYA = { format: 'ke_dst_4_1_mobile' }

/** Asks for a file, and waits until it is made. */
async function make(body: object): Promise<File> {
  const { id } = await ok(request(body))
  await drain(exportsJob(service.deps))
  return ok(service.get(`/v1/exports/${id}`, operator))
}

const itemsOf = async <Item>(path: string): Promise<Item[]> =>
  (await ok<{ items: Item[] }>(service.get(path, operator))).items

const fileOf = async ({ id }: File): Promise<string> => {
  const { status, text } = await service.get(`/v1/exports/${id}/file`, operator)
  expect(status, text).toBe(200)
  return text
}

let people = 0

/** Lends to a new customer of whom something is known. @returns the numbers of the loan and the customer */
async function lend(identity: object | undefined, principal = 10_000) {
  const externalId = `person-${++people}`
  const customer = await ok<{ id: string }>(
    service.post('/v1/customers', { body: { externalId, ...(identity && { identity }) } }),
  )
  const loan = await ok<{ id: string }>(
    service.post('/v1/loans', { body: { customerId: externalId, productId, principal } }),
  )
  return { loan: loan.id, customer: customer.id }
}

const person = (more: object = {}) => ({ ...PERSON, idNumber: `2934${people}`, ...more })

describe('a file for the bureaux of Kenya', () => {
  it('has each loan of the day once, in rows that a validator takes, and faults in place of what is missing', async () => {
    service.clock.set('2026-01-10')
    const whole = await lend(person())
    const nobody = await lend(undefined)
    const other = await lend(person({ gender: 'other', idType: 'voter_id' }))
    await ok(service.post(`/v1/loans/${whole.loan}/repayments`, { body: { transactionAmount: 1_500 } }))
    service.clock.set('2026-02-20')
    const file = await make({ ...KENYA, asOf: '2026-02-19' })
    expect(file).toMatchObject({
      state: 'ready',
      accepted: 1,
      excluded: 0,
      exceptions: 2,
      progress: { done: 3, total: 3 },
    })
    const text = await fileOf(file)
    expect(createHash('sha256').update(text).digest('hex')).toBe(file.sha256)
    const [header, ...rows] = text.split('\r\n').slice(0, -1)
    expect(header).toMatch(/^Surname,Forename1,/)
    expect(rows.map(kenyanFaults)).toEqual([[]])
    expect(rows[0]).toContain(`Otieno,Asha,Wanjiru,,,19900412,${whole.customer},${whole.loan},F,KE,001,`)
    const faults = await itemsOf<{ loanId: string; field: string; rule: string; value: string | null }>(
      `/v1/exports/${file.id}/exceptions`,
    )
    expect(faults.filter(({ loanId }) => loanId === nobody.loan).map(({ field, rule }) => `${field} ${rule}`)).toEqual(
      [
        ...['Surname', 'Forename1', 'DateOfBirth', 'Gender', 'Nationality', 'PrimaryIDocumentType'],
        ...['PrimaryIDocumentNumber', 'MobilePhoneNumber'],
      ].map((field) => `${field} required`),
    )
    expect(faults.filter(({ loanId }) => loanId === other.loan)).toEqual([
      { loanId: other.loan, field: 'Gender', rule: 'map', value: 'other' },
      { loanId: other.loan, field: 'PrimaryIDocumentType', rule: 'map', value: 'voter_id' },
    ])
  })

  it('is the same to the byte when it is asked for again, and other loans of later days change nothing', async () => {
    service.clock.set('2026-02-21')
    const first = await make({ ...KENYA, asOf: '2026-02-19' })
    await lend(person())
    const second = await make({ ...KENYA, asOf: '2026-02-19' })
    expect(second.id).not.toBe(first.id)
    expect(second.sha256).toBe(first.sha256)
    expect(await fileOf(second)).toBe(await fileOf(first))
  })

  it('sums to the portfolio and to the trial balance of the day', async () => {
    const asOf = '2026-02-19'
    const { totals } = await make({ ...KENYA, asOf })
    const sum = (member: 'principalOutstanding' | 'loans') => totals.reduce((all, one) => all + one[member], 0)
    const par = await ok<{ currencies: { currencyCode: string; total: { principal: number; loans: number } }[] }>(
      service.get(`/v1/portfolio/par?asOf=${asOf}`, operator),
    )
    await keepJournal(service.deps)
    const balance = await ok<{ accounts: object[] }>(
      service.get(`/v1/accounting/trial-balance?asOf=${asOf}&basis=value&currencyCode=KES`, operator),
    )
    expect({ par, balance, sum: [sum('principalOutstanding'), sum('loans')] }).toEqual({})
  })
})
