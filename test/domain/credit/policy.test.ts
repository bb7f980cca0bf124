import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultPolicy, GRADES } from '../../../src/domain/credit/policy.ts'
import { policyToJson, policyToKeep, readPolicy } from '../../../src/domain/credit/policyJson.ts'
import { currencyCodes, currencyOf } from '../../../src/domain/money.ts'
import { DEFAULT_POLICY } from './customers.ts'

type Stored = Record<string, unknown>

/** The default as stored, with one figure changed: `'score.base'` → value; undefined removes it. */
function storedWith(path: string, value: unknown): Stored {
  const stored = structuredClone(policyToJson(DEFAULT_POLICY)) as Stored
  const names = path.split('.')
  const last = names.pop()!
  let part: Stored = stored
  for (const name of names) part = part[name] as Stored
  if (value === undefined) delete part[last]
  else part[last] = value
  return stored
}

describe('a stored policy', () => {
  it.each([...currencyCodes])('the default of %s is read back as it was written', (code) => {
    const policy = defaultPolicy(currencyOf(code))
    expect(readPolicy(JSON.parse(JSON.stringify(policyToJson(policy))))).toEqual(policy)
  })

  it('of before, without the flag of anonymous statements, takes none; kept, it is left out unless it is true', () => {
    expect(readPolicy(storedWith('statement.anonymous', undefined)).statement.anonymous).toBe(false)
    const policy = readPolicy(storedWith('statement.anonymous', true))
    expect(policy.statement.anonymous).toBe(true)
    expect(readPolicy(policyToKeep(policy))).toEqual(policy)
    expect(readPolicy(policyToKeep(DEFAULT_POLICY))).toEqual(DEFAULT_POLICY)
    expect(JSON.stringify(policyToKeep(policy))).toContain('"anonymous":true')
    expect(JSON.stringify(policyToKeep(DEFAULT_POLICY))).not.toContain('anonymous')
  })

  it('holds amounts as text in the currency', () => {
    const { limits } = policyToJson(DEFAULT_POLICY) as { limits: { A: Stored } }
    expect(limits.A).toEqual({ percent: 200, least: '200000.00', most: '10000000.00' })
  })

  it.each([
    ['version', '', 'policy.version', /1 to 100 characters/],
    ['currency', 'USD', 'policy.currency', /must be one of KES/],
    ['score.base', 1.5, 'policy.score.base', /whole number from 0 to 1000/],
    ['score.base', undefined, 'policy.score.base', /whole number/],
    ['score.onTime.weight', 301, 'policy.score', /1000 at most, not 1001/],
    ['score.months.full', 0, 'policy.score.months.full', /from 1/],
    ['score.surprise', 1, 'policy.score.surprise', /not a figure/],
    ['score.overdueNow.first', 301, 'policy.score.overdueNow', /not begin above/],
    ['grades.B', 750, 'policy.grades', /fall from A to C/],
    ['limits.C.percent', 151, 'policy.limits.C', /better grade/],
    ['limits.D.least', '1.00', 'policy.limits.D', /not be above its most/],
    ['limits.A.most', 5, 'policy.limits.A.most', /as text/],
    ['limits.A.most', '1.001', 'policy.limits.A.most', /at most 2 decimals/],
    ['step', '0', 'policy.step', /greater than 0/],
    ['statement.grades', ['E'], 'policy.statement.grades', /list of A, B, C, D, XX/],
    ['statement.anonymous', 'yes', 'policy.statement.anonymous', /true or false/],
    ['statement.anonymous', null, 'policy.statement.anonymous', /true or false/],
    ['statement', null, 'policy.statement', /must be an object/],
  ])('%s: %j is refused, naming it', (path, value, role, message) => {
    expect(() => readPolicy(storedWith(path, value))).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        faults: [{ role, wording: expect.stringMatching(message) }],
      }),
    )
  })
})

describe('the default, as docs/credit.md shows it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/credit.md'), 'utf8')
  const { score, grades, limits, step, statement } = DEFAULT_POLICY
  const shillings = (minor: bigint) => (minor / 100n).toLocaleString('en')
  const { writtenOff, chargedOff, recovered } = score.ceilings

  it.each([
    `begins with | ${score.base} |`,
    `${score.onTime.prior} more count as not paid, so that one is no proof | up to ${score.onTime.weight} |`,
    `repaid in full | up to ${score.loansClosed.weight}, from ${score.loansClosed.full} on |`,
    `since the first loan | up to ${score.months.weight}, from ${score.months.full} on |`,
    `largest loan repaid | up to ${score.largestRepaid.weight}, from ${shillings(score.largestRepaid.full)} TZS on |`,
    `ever overdue | up to −${score.worstDelay.most}, from ${score.worstDelay.fullDays} days on |`,
    `| −${score.overdueNow.first} at once, up to −${score.overdueNow.most} from ${score.overdueNow.fullDays} days on |`,
    `after a charge-off or write-off | ${recovered} in all at most |`,
    `still owed | ${chargedOff} in all at most |`,
    `is written off | ${writtenOff} in all at most |`,
    ...GRADES.map((grade) => {
      const { percent, least, most } = limits[grade]
      const from = grade === 'D' ? 0 : grades[grade]
      return `| ${grade} | ${from} | ${percent} % | ${shillings(least)} | ${shillings(most)} |`
    }),
    `rounded down to ${shillings(step)} TZS`,
    `raises the limit to ${statement.percent} % of`,
    `At most ${shillings(statement.most)} TZS`,
    `less than ${statement.cooldownDays} days ago`,
    `more than ${statement.oldestDays} days ago`,
  ])('%s', (words) => expect(page).toContain(words))

  it('in other currencies: the same figures, half, or a twentieth', () => {
    const most = (code: string) =>
      Number(defaultPolicy(currencyOf(code)).limits.A.most) / 10 ** currencyOf(code).decimals
    expect(['UGX', 'BIF', 'RWF', 'KES', 'ETB'].map((code) => most('TZS') / most(code))).toEqual([1, 1, 2, 20, 20])
  })
})
