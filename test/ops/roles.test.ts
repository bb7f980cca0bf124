import { afterAll, beforeAll, expect, it } from 'vitest'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
})
afterAll(() => service.close())

it('roles put, list, show and delete keep the roles of an organization, and permissions says what each lets do', async () => {
  const put = ['roles', 'put', 'cashier', 'repayments.post,reports.read', '-o', '1', '--description', 'pays in']
  expect((await ops(put)).out).toContain('The role cashier of organization 1: repayments.post reports.read.')
  expect((await ops('roles list -o 1 --json')).json).toContainEqual({
    name: 'cashier',
    permissions: ['repayments.post', 'reports.read'],
    description: 'pays in',
    builtIn: false,
  })
  expect((await ops('roles show ADMIN -o 1')).out).toContain('loans.write_off')
  expect(await ops('roles put bad loans.burn -o 1')).toMatchObject({ code: 1 })
  expect((await ops('roles delete cashier -o 1 --yes')).code).toBe(0)
  expect((await ops('roles show cashier -o 1')).err).toContain('no role has that name')
  expect((await ops('roles permissions')).out).toContain('write loans off')
})

it('sign-in provider, show and remove-provider keep the provider; the secret is read from stdin and never shown', async () => {
  const command = 'sign-in provider https://login.example.com mkopo -o 1 --claim groups --role admins=ADMIN'
  const set = await ops(command, { stdin: 'the secret of the client\n' })
  expect(set.out).toContain('Provider https://login.example.com, client mkopo; of groups: admins is ADMIN.')
  expect((await ops('sign-in require-second-factor -o 1')).out).toContain('A second factor is required.')
  const { out } = await ops('sign-in show -o 1 --json')
  expect(out).not.toContain('the secret of the client')
  expect(out).toContain('"secondFactorRequired":true')
  expect((await ops(`${command} --keep-secret`)).code).toBe(0)
  expect((await ops('sign-in remove-provider -o 1 --yes')).out).toContain('No provider.')
  expect((await ops('sign-in allow-password-alone -o 1')).code).toBe(0)
})
