import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { opsOn } from '../support/ops.ts'
import { startService, type TestService } from '../support/service.ts'

// What the commands take as the name of what they make.

let service: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
})
afterAll(() => service.close())

describe('a name', () => {
  const COMMANDS = [
    ['organizations', 'create', '--currency', 'UGX'],
    ['api-keys', 'create', '-o', '1'],
    ['products', 'create', '-o', '1', '--min', '500', '--max', '9000', '--instalments', '4', '--rate', '2'],
  ]
  const countMade = async () =>
    (await service.owner.pool.query(`SELECT count(*)::int AS made FROM audit_entry WHERE action = 'create'`)).rows[0]
      .made

  it.each(COMMANDS)('of %s %s is the argument or --name', async (...command) => {
    const asArgument = await ops([...command, 'As argument', '--json'])
    const asOption = await ops([...command, '--name', 'As option', '--json'])
    expect([asArgument.code, asArgument.json.name]).toEqual([0, 'As argument'])
    expect([asOption.code, asOption.json.name]).toEqual([0, 'As option'])
  })

  it.each(COMMANDS)('of %s %s is given once, and nothing is made otherwise', async (...command) => {
    const before = await countMade()
    expect(await ops([...command, 'One', '--name', 'Two'])).toMatchObject({
      ...{ code: 2, out: '' },
      err: 'mkopo: the name is given twice, as One and as --name Two: give it once\n',
    })
    expect(await ops(command)).toMatchObject({
      ...{ code: 2, out: '' },
      err: `mkopo: the name is missing: mkopo ${command[0]} create --name <name> …\n`,
    })
    expect((await ops([...command, 'One', 'Two'])).err).toContain('too many arguments')
    expect(await countMade()).toBe(before)
  })
})
