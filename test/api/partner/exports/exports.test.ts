import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UGANDA } from '../../../../src/domain/exports/formats/uganda.ts'
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
  readonly totals: readonly {
    readonly loans: number
    readonly principalOutstanding: number
  }[]
  readonly reasons: readonly { readonly reason: string; readonly loans: number }[]
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
    const par = await ok<{ groups: { currencyCode: string; loans: number; principalOutstanding: number }[] }>(
      service.get(`/v1/portfolio/par?asOf=${asOf}`, operator),
    )
    const groups = par.groups.filter(({ currencyCode }) => currencyCode === 'KES')
    expect([sum('loans'), sum('principalOutstanding')]).toEqual([
      groups.reduce((all, one) => all + one.loans, 0),
      groups.reduce((all, one) => all + one.principalOutstanding, 0),
    ])
    expect(sum('loans')).toBe(3)
    await keepJournal(service.deps)
    const { accounts } = await ok<{ accounts: { code: string; balance: number }[] }>(
      service.get(`/v1/accounting/trial-balance?asOf=${asOf}&basis=economic&currency=KES`, operator),
    )
    expect(accounts.find(({ code }) => code === '1100')!.balance).toBe(sum('principalOutstanding'))
  })
})

describe('corrections', () => {
  it('are refused before a file was accepted, and of a day of which none was', async () => {
    const before = await request({ ...KENYA, mode: 'corrections' })
    expect([before.status, before.body.message]).toEqual([
      409,
      expect.stringContaining('no file of ke_dst_4_1_mobile was accepted'),
    ])
    const file = await make({ ...KENYA, asOf: '2026-02-18' })
    const accept = () => ok(service.post(`/v1/exports/${file.id}/accept`, { body: {}, ...operator }))
    expect(await accept()).toMatchObject({ state: 'accepted', acceptedAt: expect.any(String) })
    expect(await accept()).toMatchObject({ state: 'accepted' })
    const elsewhere = await request({ ...KENYA, mode: 'corrections', asOf: '2026-02-17' })
    expect(elsewhere.status).toBe(409)
  })

  it('have exactly the loans whose lines a back-dated payment makes others, and those that can be told now', async () => {
    service.clock.set('2026-03-01')
    const [paid, quiet, unknown] = [
      await lend(person()),
      await lend(person()),
      await lend(person({ lastName: undefined })),
    ]
    service.clock.set('2026-03-20')
    const full = await make({ ...KENYA, asOf: '2026-03-15' })
    await ok(service.post(`/v1/exports/${full.id}/accept`, { body: {}, ...operator }))
    const back = { transactionAmount: 1_000, transactionDate: '2026-03-10' }
    await ok(service.post(`/v1/loans/${paid.loan}/repayments`, { body: back }))
    await ok(service.post(`/v1/loans/${quiet.loan}/repayments`, { body: { ...back, transactionDate: '2026-03-18' } }))
    await ok(service.put(`/v1/customers/${unknown.customer}/identity`, { body: person() }))
    const corrected = await make({ ...KENYA, mode: 'corrections' })
    expect(corrected).toMatchObject({ asOf: '2026-03-15', corrects: full.id, accepted: 2 })
    const rows = (await fileOf(corrected)).split('\r\n').slice(1, -1)
    expect(rows.map((row) => row.split(',')[7]).toSorted()).toEqual([paid.loan, unknown.loan].toSorted())
    expect(rows.map(kenyanFaults)).toEqual([[], []])
    const left = await itemsOf<{ loanId: string; reason: string }>(`/v1/exports/${corrected.id}/excluded`)
    expect(left).toContainEqual({ loanId: quiet.loan, reason: 'unchanged' })
    // Once these are accepted, nothing is left to correct.
    await ok(service.post(`/v1/exports/${corrected.id}/accept`, { body: {}, ...operator }))
    expect(await make({ ...KENYA, mode: 'corrections', asOf: '2026-03-15' })).toMatchObject({ accepted: 0 })
  })
})

describe('a loan that is not paid', () => {
  const rowOf = async (file: File, loan: string) =>
    (await fileOf(file)).split('\r\n').find((row) => row.includes(`,${loan},`))
  const reasonOf = async (file: File, loan: string) =>
    (await itemsOf<{ loanId: string; reason: string }>(`/v1/exports/${file.id}/excluded`)).find(
      ({ loanId }) => loanId === loan,
    )?.reason

  it('is listed 30 days after its borrower was told, and never where little is owed', async () => {
    service.clock.set('2026-04-01')
    const [late, small] = [await lend(person()), await lend(person(), 900)]
    service.clock.set('2026-09-30')
    const without = await make({ ...KENYA, asOf: '2026-09-20' })
    expect(await reasonOf(without, late.loan)).toBe('notice_missing')
    expect(await reasonOf(without, small.loan)).toBe('below_listing_amount')
    const notices = `/v1/loans/${late.loan}/listing-notices`
    const body = { sentOn: '2026-09-25', channel: 'sms', reference: 'SMS-1' }
    const early = await service.post(notices, { body: { ...body, sentOn: '2026-10-01' }, ...operator })
    expect([early.status, early.body.message]).toEqual([400, 'sentOn: must not be in the future: today is 2026-09-30'])
    await ok(service.post(notices, { body, ...operator }))
    expect(await itemsOf(notices)).toEqual([expect.objectContaining(body)])
    service.clock.set('2026-10-31')
    const soon = await make({ ...KENYA, asOf: '2026-10-24' })
    expect(await reasonOf(soon, late.loan)).toBe('notice_missing')
    const then = await make({ ...KENYA, asOf: '2026-10-25' })
    expect(await rowOf(then, late.loan)).toMatch(/,177,2,C,F,20260401,/)
  })

  it('is told as disputed until the dispute is resolved; no word of it is in a table or in the trail', async () => {
    service.clock.set('2026-11-10')
    const { loan } = await lend(person())
    const disputes = `/v1/loans/${loan}/disputes`
    service.clock.set('2026-11-20')
    const reason = 'Nililipa dukani kwa Mama Njeri'
    const opened = await ok<{ id: string; reason: string }>(
      service.post(disputes, { body: { openedOn: '2026-11-15', reason }, ...operator }),
    )
    expect(opened.reason).toBe(reason)
    const disputed = await make({ ...KENYA, asOf: '2026-11-16' })
    expect(await rowOf(disputed, loan)).toContain(',A,P,20261115,')
    expect(await rowOf(await make({ ...KENYA, asOf: '2026-11-14' }), loan)).toContain(',A,F,20261110,')
    const end = { resolvedOn: '2026-11-18', outcome: 'rejected', note: 'Mama Njeri hakumwona' }
    const resolve = () => service.post(`${disputes}/${opened.id}/resolve`, { body: end, ...operator })
    expect(await ok(resolve())).toMatchObject({ outcome: 'rejected', resolution: end.note, reason })
    expect((await resolve()).status).toBe(409)
    expect(await itemsOf(disputes)).toEqual([expect.objectContaining({ reason, resolution: end.note })])
    expect(await rowOf(await make({ ...KENYA, asOf: '2026-11-18' }), loan)).toContain(',A,F,')
    const { rows } = await service.owner.pool.query<{ found: string }>(
      `SELECT d::text AS found FROM dispute d UNION ALL SELECT a::text FROM audit_entry a UNION ALL SELECT e::text FROM export_line e
       UNION ALL SELECT f::text FROM export_file f UNION ALL SELECT k::text FROM idempotency_key k`,
    )
    expect(rows.filter(({ found }) => /Njeri|Otieno|Wanjiru|712345678/.test(found))).toEqual([])
  })
})

describe('a customer whose key is destroyed', () => {
  it('is in no file any more, and the file says how many lines are gone', async () => {
    const { customer, loan } = await lend(person())
    service.clock.set('2026-11-22')
    const file = await make({ ...KENYA, asOf: '2026-11-21' })
    expect(await fileOf(file)).toContain(`,${loan},`)
    await service.owner.pool.query(
      'UPDATE customer SET person_key = NULL, identity = NULL, words = NULL, erased_at = now() WHERE id = $1',
      [customer],
    )
    service.damages('a customer is erased by SQL')
    expect(await fileOf(file)).not.toContain(`,${loan},`)
    expect(await ok<{ erased: number }>(service.get(`/v1/exports/${file.id}`, operator))).toMatchObject({ erased: 1 })
    const again = await make({ ...KENYA, asOf: '2026-11-21' })
    const left = await itemsOf<{ loanId: string }>(`/v1/exports/${again.id}/excluded`)
    expect(left).toContainEqual({ loanId: loan, reason: 'person_erased' })
  })
})

describe('a request that is wrong', () => {
  const DAY = '2026-11-21'
  const SETTINGS = Object.fromEntries(UGANDA.settings.map(({ name }) => [name, '1']))
  it.each([
    [{ asOf: '2026-01-31', format: 'nothing' }, 400, 'format: is the name of no format'],
    [{ ...KENYA }, 400, 'asOf: is required: a day that is over, such as 2026-11-21'],
    [{ ...KENYA, asOf: '2026-11-22' }, 400, 'asOf: must be a day that is over: today is 2026-11-22'],
    [{ ...KENYA, asOf: DAY, settings: { branch: '1' } }, 400, 'settings.branch: is no setting: the format has none'],
    [{ ...KENYA, asOf: DAY, mode: 'half' }, 400, 'mode: must be one of full, corrections'],
    [{ ...KENYA, asOf: DAY, settings: { a: 1 } }, 400, 'settings: must have texts of at most 500 characters'],
  ])('%j is refused: %i', async (body, status, message) => {
    const answer = await request(body)
    expect([answer.status, answer.body.message]).toEqual([status, message])
  })

  it.each([
    [{ shop: '1' }, /^settings.shop: is no setting of the format: those are participatingInstitution, /],
    [{ participatingInstitution: '' }, /^settings.participatingInstitution: is required: PI_Identification_Code that/],
    [{ branch: ' ' }, /^settings.branch: is required: Branch_Identification_Code$/],
    [{ branch: '1234' }, /^settings.branch: must be at most 3 characters long$/],
    [{ institutionName: 'a|b' }, /^settings.institutionName: must not have control characters or the separator/],
  ])('with the setting %j is refused', async (more, message) => {
    const { status, body } = await request({ format: UGANDA.name, asOf: DAY, settings: { ...SETTINGS, ...more } })
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)])
  })

  it('a file that is made has none to send, and no accepted one; another lender’s is not there', async () => {
    const { id } = await ok(request({ ...KENYA, asOf: '2026-11-20' }))
    expect(await ok(request({ ...KENYA, asOf: '2026-11-20' }))).toMatchObject({ id })
    expect((await service.get(`/v1/exports/${id}/file`, operator)).status).toBe(409)
    expect((await service.post(`/v1/exports/${id}/accept`, { body: {}, ...operator })).status).toBe(409)
    expect((await service.get('/v1/exports/1/file', operator)).status).toBe(404)
    await drain(exportsJob(service.deps))
  })

  it('of a USER is refused', async () => {
    for (const path of ['/v1/exports', '/v1/export-formats', '/v1/exports/1/exceptions', '/v1/loans/1/disputes'])
      expect((await service.get(path)).status).toBe(403)
    expect((await service.post('/v1/exports', { body: { ...KENYA, asOf: '2026-01-01' } })).status).toBe(403)
  })
})

describe('a format of the lender', () => {
  const document = {
    ...{
      name: 'own_list',
      version: '1',
      title: 'Ours',
      source: 'Ours',
      separator: ';',
      quotes: 'needed',
      lineEnd: 'lf',
    },
    ...{
      dates: 'DD/MM/YYYY',
      amounts: 'decimal',
      header: { kind: 'none' },
      mark: 'X',
      settings: [],
      maps: {},
      classes: [],
    },
    ...{ statuses: [], exclude: { endedBefore: null, consent: true, disputed: true, notice: null } },
    fields: [
      { name: 'loan', type: 'text', need: 'mandatory', from: { source: 'loan.id' } },
      { name: 'owed', type: 'amount', need: 'mandatory', from: { source: 'loan.outstanding' } },
      { name: 'since', type: 'date', need: 'conditional', when: 'overdue', from: { source: 'arrears.since' } },
    ],
  }
  const store = (more: object = {}) =>
    service.post('/v1/export-formats', { body: { document: { ...document, ...more } }, ...operator })

  it('is stored once it is right, never changes, and makes files of those who consent', async () => {
    const wrong = await store({
      dates: 'tomorrow',
      fields: [{ name: 'a', type: 'date', need: 'mandatory', from: { source: 'loan.id' } }],
    })
    expect([wrong.status, wrong.body.details]).toEqual([
      400,
      [
        { field: 'document.dates', message: 'must be one of YYYYMMDD, YYYY-MM-DD, DD/MM/YYYY' },
        { field: 'document.fields[0].type', message: 'must be text or digits: loan.id is a text' },
      ],
    ])
    await ok(store())
    await ok(store())
    expect((await store({ title: 'Theirs' })).status).toBe(409)
    expect((await store({ name: 'ug_cba' })).body.message).toBe(
      'document.name: is the name of a format that comes with the service',
    )
    await ok(store({ version: '2' }))
    const listed = await itemsOf<{ name: string; version: string }>('/v1/export-formats')
    expect(listed.slice(-2).map(({ name, version }) => `${name}@${version}`)).toEqual(['own_list@2', 'own_list@1'])
    const { loan, customer } = await lend(person())
    const consent = { purpose: 'bureau', channel: 'app', givenAt: '2026-11-01T08:00:00+03:00' }
    await ok(service.post(`/v1/customers/${customer}/consents`, { body: consent }))
    service.clock.set('2026-11-23')
    const file = await make({ format: 'own_list@1', asOf: '2026-11-22' })
    expect(await fileOf(file)).toBe(`X;${loan};11000.00;\n`)
    expect(file.reasons.find(({ reason }) => reason === 'no_consent')!.loans).toBe(file.excluded)
  })
})

describe('a job that ends in the middle', () => {
  it('goes on where it was: the file is the same as one that was made at once', async () => {
    const whole = await make({ format: 'portfolio_return', asOf: '2026-11-22' })
    const { id } = await ok(request({ format: 'portfolio_return', asOf: '2026-11-22' }))
    // A step that is thrown away, and one that is done, by processes that end then.
    const aborted = new AbortController()
    aborted.abort()
    const job = () => exportsJob(service.deps, { loansAStep: 5 })
    await expect(job().work(1, aborted.signal)).rejects.toThrow()
    expect((await ok(service.get(`/v1/exports/${id}`, operator))).progress.done).toBe(0)
    await workRound(job())
    const half = await ok(service.get(`/v1/exports/${id}`, operator))
    expect(half).toMatchObject({ state: 'running', progress: { done: 5, total: whole.progress.total } })
    await drain(job())
    expect((await ok(service.get(`/v1/exports/${id}`, operator))).sha256).toBe(whole.sha256)
  })
})
