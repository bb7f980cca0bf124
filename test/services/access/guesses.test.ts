import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LendingError } from '../../../src/domain/errors.ts'
import { operator } from '../../../src/services/access/caller.ts'
import { NO_ACCOUNT_HASH } from '../../../src/services/access/passwords/passwords.ts'
import { DEMO_OPERATOR, DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { addAccount } from '../../support/accounts.ts'
import { startService, type TestService } from '../../support/service.ts'

// Guesses of passwords, many at once, each from an address of its own.

const GUESSES = 13
const MOST_FAILURES = 10

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

let addresses = 0
const newAddress = () => {
  addresses++
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/** Guesses a password. @returns the code of the refusal and its message, or that the password was right */
const guess = (email: string, password: string, on = service) =>
  on.deps.signIn.confirm(email, password, newAddress()).then(
    () => 'right',
    ({ code, message }: LendingError) => `${code}: ${message.replace(/\d+ s$/, '… s')}`,
  )

/** Makes an account that never signed in. */
async function anAccount(name: string, more = {}): Promise<{ email: string; password: string }> {
  const person = { email: `${name}@example.com`, password: `the secret of ${name}` }
  await addAccount(service.deps, operator(1, 'test'), { ...person, roles: ['USER'], ...more })
  return person
}

describe('the right password among many guesses at once', () => {
  it.each([0, GUESSES - 1])(
    'at place %d is let in within the limit of the e-mail, or refused as the wrong ones are',
    async (place) => {
      const { email, password } = await anAccount(`guessed-${place}`)
      const guesses = Array.from({ length: GUESSES }, (_, index) =>
        guess(email, index === place ? password : `wrong ${index}`),
      )
      const answers = await Promise.all(guesses)
      const wrong = answers.filter((_, index) => index !== place)
      const checked = wrong.filter((answer) => answer.startsWith('unauthenticated'))
      const refused = wrong.filter((answer) => answer.startsWith('resource_exhausted'))
      expect([checked.length + refused.length, new Set(refused).size]).toEqual([GUESSES - 1, 1])
      // Each that was checked had been counted: the right one gives its count back to one more.
      expect(checked.length).toBeLessThanOrEqual(MOST_FAILURES + Number(answers[place] === 'right'))
      expect(['right', refused[0]]).toContain(answers[place])
      // Once the e-mail has failed too often, nothing is checked.
      let failures = 0
      while ((await guess(email, 'wrong')) !== refused[0]) expect(++failures).toBeLessThanOrEqual(2)
      const later = await Promise.all(['wrong', password, 'wrong too', password].map((one) => guess(email, one)))
      expect(new Set(later)).toEqual(new Set(refused))
    },
  )

  it('of an account that is disabled is refused as a wrong one is', async () => {
    const { email, password } = await anAccount('disabled')
    await service.owner.pool.query('UPDATE account SET disabled_at = now() WHERE email = $1', [email])
    const answers = await Promise.all([guess(email, 'wrong'), guess(email, password)])
    expect(new Set(answers)).toEqual(new Set(['unauthenticated: wrong e-mail or password, or the account is disabled']))
  })
})

/** The accounts that are guessed at, and the cost of their hashes: a tenth of that of production, which one thread keeps up with. */
const GUESSED = 60
const COST = 2 ** 13

describe('while 60 clients from changing addresses guess', () => {
  beforeAll(async () => {
    const passwordHash = NO_ACCOUNT_HASH.replace(/^scrypt\$\d+\$8\$\d/, `scrypt$${COST}$8$1`)
    for (let number = 0; number < GUESSED; number++) await anAccount(`attacked-${number}`, { passwordHash })
  })

  it('every sign-in of an e-mail that signed in lately passes, also on another instance', async () => {
    const other = await service.another()
    for (const { email, password } of [DEMO_PARTNER, DEMO_OPERATOR])
      await service.deps.signIn.confirm(email, password, newAddress())
    let isOver = false
    let guesses = 0
    const answers = new Map<string, number>()
    const attack = async () => {
      while (!isOver) {
        const [code = ''] = (await guess(`attacked-${guesses++ % GUESSED}@example.com`, 'wrong')).split(':')
        answers.set(code, (answers.get(code) ?? 0) + 1)
        await pause(20)
      }
    }
    const attackers = Array.from({ length: 60 }, attack)
    try {
      await expect.poll(() => answers.get('unavailable') ?? 0).toBeGreaterThan(0)
      for (const on of [service, other])
        for (const { email, password } of [DEMO_PARTNER, DEMO_OPERATOR])
          expect(await guess(email, password, on)).toBe('right')
    } finally {
      isOver = true
      await Promise.all(attackers)
    }
  })
})
