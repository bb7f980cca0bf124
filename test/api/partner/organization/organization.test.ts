import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../../../src/services/access/caller.ts'
import {
  getOrganization,
  lenderDetails,
  updateOrganization,
} from '../../../../src/services/organizations/organizations.ts'
import { documentOf, faultsBy } from '../../../support/document.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { aJpeg, aPng } from '../../../support/pictures.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const PATH = '/v1/organization'
const change = (body: object, token = service.tokens.operator) => service.patch(PATH, { body, token })
const caller = operator(1, 'test')
const audited = async () => {
  const text = `SELECT before, after FROM audit_entry WHERE entity = 'organization' AND action = 'update' ORDER BY id DESC`
  return (await service.deps.db.pool.query(text)).rows[0]
}

describe('GET /v1/organization', () => {
  it('200: the settings, for a USER', async () => {
    expect(await service.get(PATH)).toMatchObject({
      status: 200,
      body: {
        ...{ id: '1', name: 'Demo Lender', legalName: null, licenceNumber: null, hasLogo: false },
        ...{ currencyCode: 'TZS', approvalAbove: null, officeId: '1', paymentMethod: 'Mobile Money' },
      },
    })
  })
})

describe('PATCH /v1/organization', () => {
  it('200: what is left out stays, null clears, and the trail has each change', async () => {
    const set = await change({ legalName: 'Demo Ltd', licenceNumber: 'MFB/1', approvalAbove: 2_500.5 })
    expect(set).toMatchObject({
      status: 200,
      body: { legalName: 'Demo Ltd', licenceNumber: 'MFB/1', approvalAbove: 2_500.5 },
    })
    expect(await audited()).toEqual({
      before: { legalName: null, licenceNumber: null, approvalAbove: null },
      after: { legalName: 'Demo Ltd', licenceNumber: 'MFB/1', approvalAbove: 250_050 },
    })
    expect((await getOrganization(service.deps, caller)).approvalAbove).toBe(250_050n)
    const cleared = await change({ licenceNumber: null })
    expect(cleared.body).toMatchObject({ legalName: 'Demo Ltd', licenceNumber: null, approvalAbove: 2_500.5 })
    expect(await audited()).toEqual({ before: { licenceNumber: 'MFB/1' }, after: { licenceNumber: null } })
    expect((await change({ legalName: null, approvalAbove: 0 })).body).toMatchObject({
      legalName: null,
      approvalAbove: 0,
    })
  })

  it.each([null, 5])(
    '403 permission_denied: approvalAbove %j, where one is set that is lower',
    async (approvalAbove) => {
      await updateOrganization(service.deps, caller, { approvalAbove: { units: 4n, scale: 0 } })
      const answer = await change({ approvalAbove })
      expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
      expect(answer.body.message).toMatch(/^approvalAbove can be set and lowered here/)
      expect((await service.get(PATH)).body.approvalAbove).toBe(4)
      await updateOrganization(service.deps, caller, { approvalAbove: null })
      expect((await service.get(PATH)).body.approvalAbove).toBeNull()
    },
  )

  it('200: a logo, which documents get, and of which the trail has the digest', async () => {
    const [png, jpeg] = [aPng(20, 30), aJpeg(40, 50)]
    const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')
    expect(await lenderDetails(service.deps, caller)).toMatchObject({ legalName: 'Demo Lender', logo: null })
    expect((await change({ logo: png.toString('base64'), legalName: 'Demo Ltd' })).body.hasLogo).toBe(true)
    const { logo, ...rest } = await lenderDetails(service.deps, caller)
    expect(rest).toEqual({ legalName: 'Demo Ltd', licenceNumber: null })
    expect([logo?.type, Buffer.from(logo?.content ?? []).equals(png)]).toEqual(['image/png', true])
    expect((await change({ logo: jpeg.toString('base64') })).status).toBe(200)
    expect(await audited()).toEqual({
      before: { logo: { type: 'image/png', sha256: sha256(png) } },
      after: { logo: { type: 'image/jpeg', sha256: sha256(jpeg) } },
    })
    expect((await change({ logo: null })).body.hasLogo).toBe(false)
    expect(await lenderDetails(service.deps, caller)).toMatchObject({ logo: null })
  })

  it.each([
    [{ logo: 'a word' }, 'logo', /base64/],
    [{ logo: 'YQ' }, 'logo', /base64, with its padding/],
    [{ logo: Buffer.from('a word').toString('base64') }, 'logo', /PNG or a JPEG/],
    [{ logo: aPng(3_000, 1).toString('base64') }, 'logo', /2000 pixels/],
    [{ logo: Buffer.alloc(70_000).toString('base64') }, 'logo', /at most 65536 bytes/],
    [{ legalName: '' }, 'legalName', /must not be empty/],
    [{ licenceNumber: 'x'.repeat(101) }, 'licenceNumber', /at most 100 characters/],
    [{ approvalAbove: -1 }, 'approvalAbove', /must not be negative/],
    [{ approvalAbove: 1.001 }, 'approvalAbove', /at most 2 decimals in TZS/],
    [{ name: 'Another' }, 'name', /not a known field/],
  ])('400 invalid_argument: %j', async (body, field, message) => {
    const before = (await service.get(PATH)).body
    const answer = await change(body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
    expect(answer.body.details).toEqual([{ field, message: expect.stringMatching(message) }])
    expect((await service.get(PATH)).body).toEqual(before)
  })

  it('400 invalid_argument: an empty logo, which the document says to be too short', async () => {
    const body = { logo: '' }
    expect((await change(body)).body.details).toEqual([{ field: 'logo', message: 'must not be empty' }])
    const document = await documentOf(service)
    const fault = faultsBy(document)
    expect(fault({ $ref: '#/components/schemas/UpdateOrganizationRequest' }, { logo: 'YQ==' })).toBeUndefined()
    expect(fault({ $ref: '#/components/schemas/UpdateOrganizationRequest' }, body)).toMatch(/logo/)
  })

  it('400 invalid_argument: no setting', async () => {
    expect((await change({})).body).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/one setting/),
    })
  })

  it('403 permission_denied: a USER', async () => {
    expect((await change({ legalName: 'Mine' }, service.tokens.partner)).status).toBe(403)
  })

  it("another organization's settings stay as they are", async () => {
    const other = await anotherLender(service, 2, 'UGX')
    await change({ legalName: 'Demo Ltd' })
    expect((await service.get(PATH, { token: other })).body).toMatchObject({
      id: '2',
      legalName: null,
      currencyCode: 'UGX',
    })
  })
})
