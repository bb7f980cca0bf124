import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STATEMENT_PLACES } from '../../../src/services/walletStatements/limits.ts'
import type { StatementReader } from '../../../src/services/walletStatements/reader.ts'
import { createGate } from '../../../src/toolbox/gate.ts'
import * as hostile from '../../support/hostilePdf.ts'
import { within } from '../../support/patience.ts'
import { readStatementsHere } from '../../support/readHere.ts'
import { startService, type TestService } from '../../support/service.ts'
import { smallStatement } from '../../support/statementPdf.ts'
import { form, type Part, showing } from '../../support/upload.ts'

const JULY = '2026-07-02'
const PATH = '/v1/credit-scorecard/asha/boost'
const MIB = 1024 * 1024

let service: TestService
let small: Buffer
beforeAll(async () => {
  service = await startService()
  for (const externalId of ['asha', 'juma', 'neema']) await service.post('/v1/customers', { body: { externalId } })
  small = await smallStatement('2026-05-01', '2026-06-30')
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(JULY))

/** Everything that a boost could have changed. */
async function everything(): Promise<unknown> {
  const tables = ['credit_standing', 'credit_decision', 'credit_statement', 'idempotency_key', 'audit_entry']
  const all = await Promise.all(
    tables.map((table) => service.deps.db.pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY 1`)),
  )
  return all.map(({ rows }) => rows)
}

/** Sends what is refused, and finds nothing changed. */
async function refusal(call: Parameters<TestService['post']>[1], path = PATH) {
  const before = await everything()
  const { status, body, headers } = await service.post(path, call)
  expect(await everything()).toEqual(before)
  return { ...body, status, retry: headers['retry-after'] }
}

describe('a body that is refused, and nothing is changed', () => {
  const good: Part = ['statement', Buffer.from('%PDF-')]

  it.each<[string, Part[], string, string]>([
    ['no statement', [['fullName', 'Asha Mwangi']], 'statement', 'is required'],
    ['nothing at all', [], 'statement', 'is required'],
    ['a statement that is text', [['statement', 'text']], 'statement', 'must be a file: its part needs a filename'],
    ['an unknown field', [good, ['fullname', 'A']], 'fullname', 'is not a known field; did you mean fullName?'],
    ['a name twice', [good, ['fullName', 'A'], ['fullName', 'B']], 'fullName', 'is given twice'],
    ['an empty name', [good, ['fullName', ' ']], 'fullName', 'must not be only spaces'],
    ['a long name', [good, ['fullName', 'x'.repeat(201)]], 'fullName', 'must be at most 200 characters long'],
    ['a name without end', [good, ['fullName', 'x'.repeat(5_000)]], 'fullName', 'is too long'],
  ])('400 invalid_argument: %s', async (_what, parts, field, message) => {
    expect(await refusal(form(parts))).toMatchObject({
      status: 400,
      code: 'invalid_argument',
      message: `${field}: ${message}`,
      details: [{ field, message }],
    })
  })

  it.each<[string, Part, string, string]>([
    ['an unknown file in place of the statement', ['payslip', Buffer.from('x')], 'payslip', 'is not a known field'],
    ['a name that is a file', ['fullName', Buffer.from('A')], 'fullName', 'must be a string'],
  ])('400 invalid_argument: %s', async (_what, part, field, message) => {
    const { status, code, details } = await refusal(form([part]))
    expect({ status, code }).toEqual({ status: 400, code: 'invalid_argument' })
    expect(details).toEqual(expect.arrayContaining([{ field, message }]))
  })

  it.each([
    ['a boundary that never comes', { raw: 'hello' }, /not multipart\/form-data/],
    ['no boundary', { headers: { 'content-type': 'multipart/form-data' } }, /not multipart\/form-data: .*[Bb]oundary/],
    ['a body that is cut', { raw: showing(Buffer.alloc(1000)).raw.subarray(0, 500) }, /not multipart\/form-data/],
    ['a statement twice', form([good, good]), /^the body has more than one file$/],
    ['a statement and another file', form([good, ['payslip', Buffer.from('x')]]), /^the body has more than one file$/],
    ['21 parts', form(Array.from({ length: 21 }, (_, index) => [`p${index}`, 'x'] as const)), /more than 20 parts/],
    ['a part called __proto__', form([['__proto__', 'x']]), /a name that no field has/],
  ])('400 invalid_argument: %s', async (_what, call, message) => {
    const { headers } = showing(small)
    expect(await refusal({ headers, raw: showing(small).raw, ...call })).toMatchObject({
      status: 400,
      code: 'invalid_argument',
      message: expect.stringMatching(message),
    })
  })

  it.each([
    ['JSON', { body: { statement: 'x' } }],
    ['text', { raw: 'x', headers: { 'content-type': 'text/plain' } }],
    ['another multipart', { raw: 'x', headers: { 'content-type': 'multipart/mixed; boundary=x' } }],
    ['no body', {}],
  ])('415 unsupported_media_type: %s', async (_what, call) => {
    expect(await refusal(call)).toMatchObject({
      status: 415,
      code: 'unsupported_media_type',
      message: 'the content type must be multipart/form-data',
    })
  })

  it('415 unsupported_media_type: a body with a Content-Encoding', async () => {
    const { raw, headers } = showing(small)
    const answer = await refusal({ raw, headers: { ...headers, 'content-encoding': 'gzip' } })
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type', message: /must not be compressed/ })
  })

  it('elsewhere multipart stays 415', async () => {
    const answer = await service.post('/v1/customers', showing(small))
    expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  it.each([
    ['a byte over 10 MiB', 10 * MIB + 1],
    ['30 MiB', 30 * MIB],
  ])('413 payload_too_large: %s', async (_what, bytes) => {
    expect(await refusal(showing(Buffer.alloc(bytes)))).toMatchObject({ status: 413, code: 'payload_too_large' })
  })

  it('exactly 10 MiB is read', async () => {
    expect(await refusal(showing(Buffer.alloc(10 * MIB)))).toMatchObject({ status: 400, message: /is not a PDF/ })
  })

  it('429 resource_exhausted: too many statements are read and wait', async () => {
    const { gates } = service.deps
    const { statements } = gates
    const full = createGate({ ...STATEMENT_PLACES, atOnce: 1, waiting: { all: 0, ofGroup: 0 } })
    const free = full.enter({ group: 'another' })
    Object.assign(gates, { statements: full })
    try {
      expect(await refusal(showing(small))).toMatchObject({
        status: 429,
        code: 'resource_exhausted',
        message: 'too many statements are being read: try again shortly',
        retry: '5',
      })
    } finally {
      free()
      Object.assign(gates, { statements })
    }
  })

  it('404 not_found: no such customer; 401 unauthenticated: no token', async () => {
    expect(await refusal(showing(small), '/v1/credit-scorecard/nobody/boost')).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    expect(await refusal({ ...showing(small), token: 'none' })).toMatchObject({ status: 401, code: 'unauthenticated' })
  })
})

/** Has each statement of some tests read in this process: what is refused here is what it says, and not the file. */
function readingHere(): void {
  beforeAll(() => {
    const { statements } = service.deps
    readStatementsHere(service)
    return () => void Object.assign(service.deps, { statements })
  })
}

describe('a statement that is refused, and nothing is changed', () => {
  readingHere()

  it.each<[string, () => Promise<Buffer>, Record<string, string>, string, string]>([
    ['another name', async () => small, { fullName: 'Juma Pembe' }, 'fullName', 'is not the name on the statement'],
    [
      'another number',
      () => smallStatement('2026-05-01', '2026-06-30', 'mpesa'),
      { mobileNumber: '0754000124' },
      'mobileNumber',
      'is not the number on the statement',
    ],
    [
      'too old',
      () => smallStatement('2026-01-01', '2026-04-02'),
      {},
      'statement',
      'ended 91 days ago: at most 90 are accepted',
    ],
    [
      'too short',
      () => smallStatement('2026-06-01', '2026-06-30'),
      {},
      'statement',
      'covers 1 whole month: at least 2 are needed',
    ],
    [
      'of tomorrow',
      () => smallStatement('2026-05-01', '2026-07-03'),
      {},
      'statement',
      'ends on 2026-07-03, in the future: today is 2026-07-02',
    ],
    ['no PDF', async () => Buffer.from('hello'), {}, 'statement', 'is not a PDF'],
  ])('400 invalid_argument: %s', async (_what, make, fields, field, message) => {
    expect(await refusal(showing(await make(), { fullName: 'Asha Mwangi', ...fields }))).toMatchObject({
      status: 400,
      code: 'invalid_argument',
      details: [{ field, message }],
    })
  })
})

describe('a statement that could be anybody’s', () => {
  readingHere()

  const bare = '%PDF- of which nothing is read, startxref'

  it('is refused before it is read where neither a name nor a number is given, naming both', async () => {
    const message = 'is required, unless the other is given'
    for (const file of [small, Buffer.from(bare)])
      expect(await refusal(showing(file, {}))).toMatchObject({
        status: 400,
        code: 'invalid_argument',
        message: 'give fullName or mobileNumber, or both: whose the statement is has to be compared with it',
        details: [
          { field: 'fullName', message },
          { field: 'mobileNumber', message },
        ],
      })
  })

  it('is refused with a number alone where it names none, as those of banks', async () => {
    expect(await refusal(showing(small, { mobileNumber: '0754000123' }))).toMatchObject({
      status: 400,
      details: [
        { field: 'fullName', message: 'is required: the statement names no number to compare mobileNumber with' },
      ],
    })
  })
})

// test/programs/hostile.test.ts has every kind of file; here are one for the memory, one for the pages and one for neither.
describe('hostile files are refused, nothing is changed, and others are served meanwhile', () => {
  it.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    ['1 GB deflated', () => hostile.decompressionBomb(2 ** 30, 'content'), /needs too much memory/],
    ['10,000 pages', () => hostile.manyPages(10_000, true), /has 10000 pages: at most 200 are read/],
    ['a ZIP renamed', hostile.zipFile, /is not a PDF/],
  ])(
    '400 invalid_argument: %s',
    async (_what, make, message) => {
      const file = await make()
      let answered: unknown
      const refused = refusal(showing(file)).then((answer) => {
        answered = answer
      })
      let served = 0
      do {
        const [read, lent] = await Promise.all([
          service.get('/v1/customers/external/juma'),
          service.get('/v1/credit-scorecard/neema', { token: 'none' }),
        ])
        expect([read.status, lent.status]).toEqual([200, 401])
        served++
        await pause(100)
      } while (answered === undefined)
      await refused
      expect(served).toBeGreaterThan(0)
      expect(answered).toMatchObject({
        status: 400,
        code: 'invalid_argument',
        details: [{ field: 'statement', message: expect.stringMatching(message) }],
      })
    },
    within(120_000),
  )

  it('429 resource_exhausted, with Retry-After, when too many are being read', async () => {
    const { statements } = service.deps
    const refusal = Promise.withResolvers<void>()
    readStatementsHere(service)
    const here = service.deps.statements
    const read: StatementReader['read'] = async (...file) => {
      await refusal.promise
      return here.read(...file)
    }
    Object.assign(service.deps, { statements: { ...here, read } })
    const answers = await Promise.all(
      Array.from({ length: 14 }, async () => {
        const answer = await service.post('/v1/credit-scorecard/juma/boost', showing(small))
        if (answer.status !== 200) refusal.resolve()
        return answer
      }),
    )
    Object.assign(service.deps, { statements })
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, body, headers } of refused)
      expect([status, body.code, headers['retry-after']]).toEqual([429, 'resource_exhausted', '5'])
  })
})
