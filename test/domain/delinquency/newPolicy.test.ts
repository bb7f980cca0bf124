import { describe, expect, it } from 'vitest'
import { policyOf, policyToJson, readNewPolicy } from '../../../src/domain/delinquency/newPolicy.ts'
import { COUNT_FROM, PRESETS } from '../../../src/domain/delinquency/policy.ts'
import { inNames, LendingError } from '../../../src/domain/errors.ts'

const KES = { code: 'KES', decimals: 2 }

/** Returns the faults of a policy that nothing has checked, each with its member. */
function faultsOf(json: unknown): string[] {
  try {
    policyOf(readNewPolicy(json), KES)
  } catch (error) {
    if (error instanceof LendingError)
      return inNames(error, {}).details.map(({ field, message }) => `${field}: ${message}`)
    throw error
  }
  return []
}

const CURRENT = { name: 'Current', fromDays: 0, toDays: 0 }
const LATE = { name: 'Late', fromDays: 1 }
const withBuckets = (...buckets: readonly unknown[]) => ({ countFrom: COUNT_FROM[0], buckets })

describe('a policy of arrears', () => {
  it('of a preset, and of rules of its own, is read back as it was written', () => {
    for (const { name, policy } of PRESETS) {
      expect(policyOf({ preset: name }, KES)).toEqual({ name, policy })
      expect(policyOf(readNewPolicy(policyToJson(policy, KES)), KES).policy).toEqual(policy)
    }
    const own = { ...withBuckets(CURRENT, LATE), materiality: { amount: 1.5 } }
    expect(policyOf(readNewPolicy(own), KES).policy.materiality).toEqual({
      ...{ amount: 150n, currency: 'KES', percentOfPrincipal: null },
    })
  })

  it.each([
    [{ preset: 'mars' }, /^preset: must be one of /],
    [
      { preset: PRESETS[0]!.name, cureDays: 3 },
      'cureDays: cannot be given together with preset, which has rules of its own',
    ],
    [{}, /^buckets: is required, unless preset names one of /],
    [{ buckets: [CURRENT, LATE] }, 'countFrom: is required'],
    [{ buckets: [CURRENT, LATE], countFrom: 'birth' }, /^countFrom: must be one of /],
    [withBuckets(), 'buckets: must have 1 to 20 buckets, not 0'],
    [withBuckets(...new Array(21).fill(CURRENT)), 'buckets: must have 1 to 20 buckets, not 21'],
    [withBuckets({ ...CURRENT, name: 'a\u200Bb' }, LATE), /^buckets\[0\].name: must be 1 to 100 characters/],
    [withBuckets(CURRENT, { ...LATE, name: 'Current' }), /^buckets\[1\].name: is the name of buckets\[0\], too/],
    [withBuckets(CURRENT, { ...LATE, class: '' }), /^buckets\[1\].class: must be 1 to 100 characters/],
    [
      withBuckets({ ...CURRENT, fromDays: 0.5, toDays: 1 }, { ...LATE, fromDays: 2 }),
      'buckets[0].fromDays: must be a whole number, 0 to 3650',
    ],
    [
      withBuckets({ ...CURRENT, fromDays: 1, toDays: 1 }, { ...LATE, fromDays: 2 }),
      /^buckets\[0\].fromDays: must be 0: /,
    ],
    [withBuckets(CURRENT, { ...LATE, fromDays: 5 }), /^buckets\[1\].fromDays: must be 1, one more than toDays/],
    [withBuckets(CURRENT, { ...LATE, toDays: 9 }), /^buckets\[1\].toDays: must be left out in the last bucket/],
    [
      withBuckets({ name: 'Current', fromDays: 0 }, LATE),
      'buckets[0].toDays: is required: only the last bucket has no end',
    ],
    [
      withBuckets({ ...CURRENT, toDays: -1 }, { ...LATE, fromDays: 0 }),
      'buckets[0].toDays: must be a whole number, 0 to 3650',
    ],
    [withBuckets(CURRENT, { ...LATE, stage: 4 }), 'buckets[1].stage: must be 1, 2, 3'],
    [
      withBuckets({ ...CURRENT, stage: 2 }, { ...LATE, stage: 1 }),
      'buckets[1].stage: must not be below 2, the stage of a bucket before it',
    ],
    [withBuckets(CURRENT, { ...LATE, provisionRate: 101 }), 'buckets[1].provisionRate: must be 0 to 100 percent'],
    [
      withBuckets(CURRENT, { ...LATE, provisionRate: 0.00001 }),
      'buckets[1].provisionRate: must have at most 4 decimals',
    ],
    [{ ...withBuckets(CURRENT, LATE), cureDays: 400 }, 'cureDays: must be a whole number, 0 to 365'],
    ['text', 'policy: must be an object'],
    [{ buckets: 5 }, 'buckets: must be a list of buckets'],
    [withBuckets(5), 'buckets[0]: must be an object'],
    [withBuckets({ ...CURRENT, colour: 1 }), /^buckets\[0\]: has the member "colour", and takes name, /],
    [withBuckets({ fromDays: 0 }), 'buckets[0].name: is required'],
    [withBuckets({ name: 'Current' }), 'buckets[0].fromDays: is required'],
    [withBuckets({ ...CURRENT, name: 5 }), 'buckets[0].name: must be a text'],
    [withBuckets({ ...CURRENT, fromDays: '0' }), 'buckets[0].fromDays: must be a number'],
    [
      withBuckets({ ...CURRENT, provisionRate: 1e300 }),
      'buckets[0].provisionRate: is too large, or has too many digits',
    ],
  ])('%j is refused, and what is wrong is told', (json, told) => {
    expect(faultsOf(json)).toEqual([typeof told === 'string' ? told : expect.stringMatching(told)])
  })

  it.each([
    [{}, 'materiality: must have amount, percentOfPrincipal, or both'],
    [{ percentOfPrincipal: -1 }, 'materiality.percentOfPrincipal: must be 0 to 100 percent'],
    [{ amount: 1.234 }, /^materiality.amount: /],
  ])('with the materiality %j is refused', (materiality, told) => {
    const [fault] = faultsOf({ ...withBuckets(CURRENT, LATE), materiality })
    expect(fault).toEqual(typeof told === 'string' ? told : expect.stringMatching(told))
  })
})
