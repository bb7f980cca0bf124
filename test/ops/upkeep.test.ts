import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opsOn, RUN } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const trail = async (entity: string, entityId: string | number) =>
  (
    await service.deps.db.pool.query(
      'SELECT organization_id, action, request_id FROM audit_entry WHERE entity = $1 AND entity_id = $2::text ORDER BY id',
      [entity, entityId],
    )
  ).rows

const PRODUCT = ['--name', 'Boda', '--min', '500.50', '--max', '90000', '--instalments', '4', '--rate', '2.5']

describe('help', () => {
  it('is there for every command, and for the commands below it', async () => {
    const below = async (path: readonly string[]): Promise<string[][]> => {
      const { code, out } = await ops([...path, '--help'])
      expect({ path, code }).toEqual({ path, code: 0 })
      if (path.length > 0) expect(out).toContain('Global Options:')
      const [, listed = ''] = out.split('\nCommands:\n')
      const names = [...listed.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!).filter((name) => name !== 'help')
      return names.map((name) => [...path, name])
    }
    const top = await below([])
    expect(top.flat()).toEqual([
      ...[
        'organizations',
        'books',
        'accounts',
        'api-keys',
        'roles',
        'sign-in',
        'keys',
        'secret',
        'products',
        'credit-policy',
        'credit-decisions',
        'delinquency-policy',
        'loans',
        'approvals',
        'data-requests',
        'book',
        'audit',
        'access',
        'webhooks',
        'payments',
        'exports',
        'export-format',
        'journal',
        'portfolio',
        'reporting',
        'mcp',
        'migrate',
      ],
    ])
    const commands = (await Promise.all(top.map(below))).flat()
    expect(commands).toHaveLength(98)
    expect((await Promise.all(commands.map(below))).flat()).toEqual([
      ['journal', 'chart', 'show'],
      ['journal', 'chart', 'set'],
    ])
  })
})

describe('exit code 2: the command was given wrongly', () => {
  it.each([
    ['', /Usage: mkopo/],
    ['loan show', /Did you mean loans\?/],
    ['products retire x', /must be a whole number above 0/],
    ['products retire', /missing required argument 'id'/],
    ['products retire 1 --force', /unknown option '--force'/],
    ['products retire 1 2', /too many arguments/],
    [`products create ${PRODUCT.join(' ')} --unit fortnights`, /Allowed choices are days, weeks, months, years/],
    [`products create ${PRODUCT.join(' ')} --currency USD`, /Allowed choices are KES, /],
    ['audit --entity nope', /Allowed choices are customer, loan, /],
  ])('%s', async (command, message) => {
    const run = await ops(command === '' ? [] : command)
    expect(run).toMatchObject({ code: 2, out: '' })
    expect(run.err).toMatch(message)
  })

  it('as JSON on stderr where JSON is asked for', async () => {
    const { code, err } = await ops('products retire x --json')
    expect(code).toBe(2)
    expect(JSON.parse(err)).toMatchObject({ code: 'usage' })
  })
})

describe('organizations', () => {
  it('create gives the lowest number that is free, and the trail has it', async () => {
    const { json, code } = await ops(['organizations', 'create', '--name', 'Umoja', '--currency', 'UGX', '--json'])
    expect({ json, code }).toEqual({
      code: 0,
      json: {
        id: 2,
        name: 'Umoja',
        currency: 'UGX',
        officeId: '1',
        officeName: 'Head Office',
        paymentMethod: 'Mobile Money',
        mode: 'live',
      },
    })
    expect(await trail('organization', 2)).toEqual([{ organization_id: 2, action: 'create', request_id: RUN }])
    expect((await ops('organizations list')).out).toMatch(/ 2 {2}Umoja +live/)
  })

  it.each([
    [['--name', 'X', '--currency', 'USD'], 2, /Allowed choices are KES, /],
    [['--name', ' ', '--currency', 'KES'], 1, /name: must be 1 to 200/],
    [['--name', 'X', '--currency', 'KES', '--id', '1'], 1, /exists already/],
    [['--name', 'X', '--currency', 'KES', '--id', '-1'], 2, /whole number/],
    [['--name', 'X'], 2, /required option/],
  ])('create %j: exit code %i', async (options, code, message) => {
    const run = await ops(['organizations', 'create', ...options])
    expect(run.code).toBe(code)
    expect(run.err).toMatch(message)
  })

  it('update sets how customers pay from then on; what was posted before keeps its method', async () => {
    const [customer, loan] = [`paid-${Date.now()}`, `paid-loan-${Date.now()}`]
    await service.post('/v1/customers', { body: { externalId: customer } })
    const body = { customerId: customer, productId: 1, principal: 1_000, externalId: loan }
    await service.post('/v1/loans', { body })
    const repay = async (amount: number, path = 'repayments') =>
      (await service.post(`/v1/loans/external/${loan}/${path}`, { body: { transactionAmount: amount } })).body
    expect((await repay(100)).paymentMethod).toBe('Mobile Money')
    const run = await ops(['organizations', 'update', '-o', '1', '--payment-method', 'Bank transfer', '--json'])
    expect([run.code, run.json.paymentMethod]).toEqual([0, 'Bank transfer'])
    service.clock.set(new Date(service.clock.now() + 5_000).toISOString())
    expect((await repay(200)).paymentMethod).toBe('Bank transfer')
    expect(await repay(1, 'repayments/waive-interest')).not.toHaveProperty('paymentMethod')
    const { repaymentHistory } = (await service.get(`/v1/loans/external/${loan}`)).body
    expect(repaymentHistory.map((one) => one.paymentMethod)).toEqual(['Bank transfer', 'Mobile Money'])
    const { rows } = await service.deps.db.pool.query(
      `SELECT before, after FROM audit_entry WHERE entity = 'organization' AND action = 'update'`,
    )
    expect(rows).toEqual([{ before: { paymentMethod: 'Mobile Money' }, after: { paymentMethod: 'Bank transfer' } }])
    await ops(['organizations', 'update', '-o', '1', '--payment-method', 'Mobile Money'])
    service.clock.set(new Date(service.clock.now() + 5_000).toISOString())
  })

  it.each([
    [['-o', '1', '--payment-method', ' '], 1, /paymentMethod: must be 1 to 100/],
    [['-o', '9', '--payment-method', 'Cash'], 1, /no organization 9/],
    [['-o', '1'], 2, /say which setting/],
    [['-o', '1', '--approval-above', '1.001'], 1, /--approval-above: must have at most 2 decimals in TZS/],
    [['-o', '1', '--logo', 'package.json'], 1, /--logo: must be a PNG or a JPEG picture/],
    [['-o', '1', '--logo', 'no-such-file'], 2, /the logo cannot be read/],
  ])('update %j: exit code %i', async (options, code, message) => {
    const run = await ops(['organizations', 'update', ...options])
    expect(run.code).toBe(code)
    expect(run.err).toMatch(message)
  })

  it('update sets and clears what documents say, and the amount above which changes wait', async () => {
    const update = (...options: string[]) => ops(['organizations', 'update', '-o', '1', '--json', ...options])
    const set = await update('--legal-name', 'Demo Ltd', '--licence-number', 'MFB/1', '--approval-above', '2500.5')
    expect(set).toMatchObject({
      code: 0,
      json: { legalName: 'Demo Ltd', licenceNumber: 'MFB/1', approvalAbove: '2500.50', hasLogo: false },
    })
    const cleared = await update('--no-legal-name', '--no-licence-number', '--no-approval-above', '--no-logo')
    expect(cleared.json).toMatchObject({ legalName: null, licenceNumber: null, approvalAbove: null })
  })

  it('where there are several, a command asks which', async () => {
    expect(await ops('products list')).toMatchObject({ code: 2, err: expect.stringContaining('--organization') })
  })
})

describe('products', () => {
  it('create, in the currency of the organization, exactly as given', async () => {
    const { json, code } = await ops(['products', 'create', ...PRODUCT, '-o', '1', '--penalty', '10', '--json'])
    expect(code).toBe(0)
    expect(json).toEqual({
      id: 5,
      name: 'Boda',
      currency: 'TZS',
      min: '500.50',
      max: '90000.00',
      instalments: 4,
      every: 1,
      unit: 'months',
      rate: 2.5,
      multipleOf: null,
      penalty: 10,
      enforceCreditLimit: false,
      retired: false,
    })
    expect((await service.get('/v1/loan-products/5')).body).toMatchObject({ minPrincipal: 500.5, active: true })
  })

  it('retire: takes no new loans, and the terms of those there are stay', async () => {
    const lend = () => service.post('/v1/loans', { body: { customerId: 'asha', productId: 4, principal: 60_000 } })
    const { body: loan } = await lend()
    const declined = await ops('products retire 4 -o 1', { says: false })
    expect(declined).toMatchObject({ code: 1, err: expect.stringContaining('nothing was done') })
    expect((await ops('products retire 4 -o 1', { says: true })).code).toBe(0)
    expect(await lend()).toMatchObject({ status: 409, body: { code: 'failed_precondition' } })
    const { delinquency: _, ...read } = (await service.get(`/v1/loans/${loan.id}`)).body
    expect(read).toEqual({ ...loan, repaymentHistory: [] })
    expect(await ops('products retire 4 -o 1 -y')).toMatchObject({
      code: 1,
      err: 'mkopo: the product is retired already\n',
    })
    expect((await ops('products list -o 1')).out).toMatch(/Weekly flat .* yes/)
    const ofDemo = (await trail('loan product', 4)).filter(({ organization_id }) => organization_id === 1)
    expect(ofDemo.map(({ action }) => action)).toEqual(['create', 'retire'])
  })

  it.each([
    [['--min', '0'], /--min: must be greater than 0/],
    [['--max', '1'], /--max: must not be less than --min/],
    [['--rate', '2.1234567'], /at most 6 decimals/],
    [['--min', '1.001'], /at most 2 decimals in TZS/],
    [['--instalments', '2001'], /1 to 2000/],
    [
      ['--unit', 'years', '--instalments', '101'],
      /--instalments: must be so few that a loan ends within a hundred years/,
    ],
    [
      ['--max', '999999999999', '--rate', '26'],
      /--rate: must be so low that the largest principal costs at most 9{12}\.99/,
    ],
    [['--max', '999999999999', '--rate', '1', '--penalty', '101'], /--penalty: must be so low that the largest/],
    [['--id', '1'], /exists already/],
  ])('create with %j is refused', async (options, message) => {
    const run = await ops(['products', 'create', ...PRODUCT, '-o', '1', ...options])
    expect(run).toMatchObject({ code: 1, out: '' })
    expect(run.err).toMatch(message)
  })
})

describe('api-keys', () => {
  it('create shows the key once; list never; revoke ends it within 5 s', async () => {
    const created = await ops(['api-keys', 'create', 'till 7', '-o', '1', '--json'])
    expect(created.code).toBe(0)
    const { id, key } = created.json
    expect(key).toMatch(/^mk_/)
    const use = () => service.get('/v1/borrowers', { host: 'records.localhost', token: key })
    expect((await use()).status).toBe(200)
    const { out } = await ops('api-keys list -o 1')
    expect(out).toContain('till 7')
    expect(out).not.toContain(key)
    expect((await ops(`api-keys revoke ${id} -o 1`)).code).toBe(1)
    expect((await ops(`api-keys revoke ${id} -o 1 --yes`)).code).toBe(0)
    service.clock.set(new Date(service.clock.now() + 4_999).toISOString())
    expect((await use()).status).toBe(401)
    expect((await trail('api key', id)).map(({ action }) => action)).toEqual(['create', 'revoke'])
    expect((await ops(`api-keys revoke 9999 -o 1 --yes`)).err).toContain('no API key has that id')
  })
})

describe('keys', () => {
  it('rotate, retire and revoke, with what each key is and the trail of it', async () => {
    const list = async () => (await ops<{ kid: string; state: string; signs: boolean }[]>('keys list --json')).json
    const [old] = await list()
    expect(old).toMatchObject({ state: 'active', signs: true })
    expect(await ops(`keys revoke ${old!.kid} --yes`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('make a new one first'),
    })
    service.clock.set(new Date(service.clock.now() + 1_000).toISOString())
    const { json } = await ops('keys rotate --json')
    expect(await list()).toMatchObject([
      { kid: json.kid, state: 'active', signs: true },
      { kid: old!.kid, state: 'active', signs: false },
    ])
    expect((await ops(`keys retire ${old!.kid}`, { says: true })).code).toBe(0)
    expect((await ops(`keys revoke ${old!.kid}`, { says: false })).code).toBe(1)
    expect((await ops(`keys revoke ${old!.kid}`, { says: true })).code).toBe(0)
    expect((await list())[1]).toMatchObject({ state: 'revoked', signs: false })
    expect((await ops('keys list')).out).toContain('active, signs')
    expect((await trail('signing key', old!.kid)).map(({ action }) => action)).toEqual(['create', 'retire', 'revoke'])
    expect(await ops('keys revoke nobody --yes')).toMatchObject({ code: 1, err: 'mkopo: no signing key has that id\n' })
  })
})
