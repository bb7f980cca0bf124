import { describe, expect, it } from 'vitest'
import type { Account } from '../../../src/db/access/accounts.ts'
import { createTokens, signerPlace } from '../../../src/services/access/tokens.ts'

const account = { id: 7, organizationId: 1, roles: ['USER'], tokensFrom: null } as unknown as Account

/** Tokens whose signatures only note in which turn of the event loop they were made. */
function notingTokens(sign: () => string) {
  const tokenSigner = signerPlace()
  tokenSigner.mount({
    sign,
    keyIdOf: () => undefined,
    verify: () => ({}),
  })
  const keys = { signing: async () => ({ kid: 'k', privatePem: '' }) }
  return createTokens({ db: {}, keys, tokenSigner, now: () => 0, issuer: 'http://auth.localhost' } as never)
}

describe('tokens that are issued at once', () => {
  it('are signed one in a turn of the event loop', async () => {
    let turn = 0
    let isDone = false
    const count = () => {
      turn++
      if (!isDone) setImmediate(count)
    }
    setImmediate(count)
    const turns: number[] = []
    const tokens = notingTokens(() => String(turns.push(turn)))
    await Promise.all(Array.from({ length: 20 }, () => tokens.issue(account, 0)))
    isDone = true
    expect(turns).toHaveLength(20)
    expect(new Set(turns).size).toBe(20)
  })

  it('are signed though the one before could not be', async () => {
    let first = true
    const tokens = notingTokens(() => {
      if (!first) return 'signed'
      first = false
      throw new Error('no signature')
    })
    const issued = await Promise.allSettled([tokens.issue(account, 0), tokens.issue(account, 0)])
    expect(issued.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})
