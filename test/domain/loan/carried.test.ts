import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dateIn, startOfDay } from '../../../src/domain/dates.ts'
import { LendingError } from '../../../src/domain/errors.ts'
import {
  type BroughtForward,
  bringForward,
  broughtForward,
} from '../../../src/domain/loan/carriedForward/broughtForward.ts'
import { NotRead, withoutReading } from '../../../src/domain/loan/carriedForward/notRead.ts'
import { ENTRY_TYPES, type Entry, type EntryType } from '../../../src/domain/loan/entry.ts'
import {
  type Decision,
  findByToken,
  type Loan,
  post,
  remember,
  reverse,
  stateOf,
} from '../../../src/domain/loan/loan.ts'
import { carriedForward, endFrom, replay } from '../../../src/domain/loan/replay.ts'
import { type LoanTerms, termsOf } from '../../../src/domain/loan/terms.ts'
import { currencyOf } from '../../../src/domain/money.ts'

const ZONE = 'Africa/Nairobi'
const DISBURSED = Date.UTC(2026, 0, 31, 6, 30)
const DAY_MS = 86_400_000
const HALF_HOUR_MS = 1_800_000

const anyTerms = fc
  .record({
    principal: fc.bigInt(1_000_00n, 9_000_00n),
    numberOfRepayments: fc.integer({ min: 1, max: 8 }),
    penaltyRate: fc.constantFrom(null, 10_000_000n),
  })
  .map(({ principal, ...rest }): LoanTerms => {
    const product = {
      ...{ id: 1, name: 'Flat', currency: currencyOf('TZS'), principalMin: 1n, principalMax: 10n ** 14n },
      ...{ repayEvery: 1, repayUnit: 'weeks' as const, ratePerPeriod: 5_000_000n, totalMultipleOf: null },
      ...{ enforceCreditLimit: false, retired: false },
    }
    return termsOf({ ...product, ...rest }, { units: principal, scale: 2 }, DISBURSED, ZONE)
  })

/** What is posted, how many half hours after the one before it by a clock of its own, and how many days ago it was. */
const anyStep = fc.record({
  type: fc.oneof({ weight: 4, arbitrary: fc.constant<EntryType>('Repayment') }, fc.constantFrom(...ENTRY_TYPES)),
  amount: fc.oneof(fc.bigInt(1n, 900_00n), fc.bigInt(1n, 9_000_00n)),
  after: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 500 }) }, fc.integer({ min: -2, max: 2 })),
  ago: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 30 })),
  reverses: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, fc.nat()),
})

/** What came of a posting: a decision, a refusal in words, or the wish for the history. */
function tried(decide: () => Decision): Decision | string | NotRead {
  try {
    return decide()
  } catch (error) {
    if (error instanceof LendingError) return error.message
    if (error instanceof NotRead) return error
    throw error
  }
}

const balancesOf = ({ before, state }: Decision) =>
  [before, state].map((one) =>
    Object.fromEntries(
      Object.keys(one).flatMap((key) => (key === 'periods' || key === 'outcomes' ? [] : [[key, one[key as 'status']]])),
    ),
  )

const broughtBy = (loan: Loan, text: string, asOf: number, more: Partial<BroughtForward> = {}): Loan => {
  const count = loan.entries.length
  const end = endFrom(text, count, asOf)
  if (!end) throw new Error(`${text} is not gone on from`)
  const forward = { end, count, absent: { token: [], id: [] }, since: [], ...more }
  const { schedule: _, ...terms } = loan.terms
  return bringForward<Loan>({ terms: withoutReading<LoanTerms, 'schedule'>(terms, 'schedule') }, forward)
}

/** The loan as a posting leaves it, of which nothing is read again. */
function gone(from: Loan, { posted, state }: Decision): Loan {
  const forward = broughtForward(from)!
  const since = [...forward.since, { ...posted!, id: BigInt(posted!.ordinal) }]
  const loan = bringForward<Loan>({ terms: from.terms }, { ...forward, since, count: forward.count + 1 })
  remember(loan, state)
  return loan
}

describe('what is carried forward', () => {
  it('takes the next entry as the whole history does, or asks for that; and carries the same on', () => {
    const seen = { same: 0, notRead: 0 }
    fc.assert(
      fc.property(anyTerms, fc.array(anyStep, { minLength: 1, maxLength: 12 }), (terms, steps) => {
        let entries: Entry[] = []
        let now = DISBURSED
        let savedAt = now
        let text = carriedForward(replay(terms, [], now))
        /** One that was read earlier, and has gone on since without being read. */
        let going: Loan | undefined
        for (const { type, amount, after, ago, reverses } of steps) {
          now += after * HALF_HOUR_MS
          const loan: Loan = { terms, entries }
          const valueDate = dateIn(ZONE, now - ago * DAY_MS)
          const wanted = type === 'Charge-off' || type === 'Write-off' ? null : { units: amount, scale: 2 }
          const posting = { type, amount: wanted, valueDate, token: null, note: null }
          const standing = entries.filter((entry) => entry.reversedAt === null)
          const original = reverses === null ? undefined : standing[reverses % standing.length]
          const decide = (one: Loan) =>
            tried(() => (original ? reverse(one, original.id, now, null) : post(one, posting, now)))
          const whole = decide({ terms, entries: [...entries] })
          const read = text === null ? undefined : broughtBy(loan, text, savedAt)
          const [from, before] = [going ?? read, going]
          going = undefined
          for (const one of new Set([read, before])) {
            if (!one) continue
            const carried = decide(one)
            if (carried instanceof NotRead) seen.notRead++
            else if (typeof carried === 'string' || typeof whole === 'string') expect(carried).toBe(whole)
            else if (!(whole instanceof NotRead)) {
              seen.same++
              const { ordinal } = whole.posted!
              expect(carried.posted).toEqual(whole.posted)
              expect(carried.state.outcomes.get(ordinal)).toEqual(whole.state.outcomes.get(ordinal))
              expect(balancesOf(carried)).toEqual(balancesOf(whole))
              expect(carriedForward(carried.state)).toBe(carriedForward(whole.state))
              if (one === from) going = gone(one, carried)
            }
          }
          if (typeof whole === 'string' || whole instanceof NotRead) continue
          entries = entries.map((entry) => (entry === whole.reversed ? { ...entry, reversedAt: now } : entry))
          if (whole.posted) entries = [...entries, { ...whole.posted, id: BigInt(whole.posted.ordinal) }]
          text = carriedForward(whole.state)
          savedAt = now
        }
      }),
      { numRuns: 500 },
    )
    // Repayments in the order of their dates are what it is for; both have to have been there.
    expect(seen.same).toBeGreaterThan(seen.notRead)
    expect(seen.notRead).toBeGreaterThan(0)
  })

  const terms = termsOf(
    {
      ...{ id: 1, name: 'Flat', currency: currencyOf('TZS'), principalMin: 1n, principalMax: 10n ** 14n },
      ...{ repayEvery: 1, repayUnit: 'weeks', ratePerPeriod: 5_000_000n, totalMultipleOf: null, penaltyRate: null },
      ...{ enforceCreditLimit: false, retired: false, numberOfRepayments: 3 },
    },
    { units: 9_000_00n, scale: 2 },
    DISBURSED,
    ZONE,
  )
  const entry = (ordinal: number, more: Partial<Entry> = {}): Entry => ({
    ...{ id: BigInt(ordinal), type: 'Repayment', amount: 1_500_00n, valueDate: '2026-02-03', postedAt: DISBURSED },
    ...{ ordinal, place: ordinal, token: null, note: null, replaces: null, reversedAt: null },
    ...more,
  })
  const now = startOfDay('2026-02-04', ZONE)

  it('is the totals, and what is left of each open instalment', () => {
    const text = carriedForward(replay(terms, [entry(1), entry(2, { amount: 3_500_00n })], now))
    expect(text).toBe(
      '1;2026-02-03,,,,;,,135000,900000;,,90000,410000;,,,;2026-02-14,,,,190000;2026-02-21,,,45000,300000',
    )
  })

  it.each([
    ['empty', () => ''],
    ['of other rules', (text: string) => text.replace(/^1;/, '2;')],
    ['cut off', (text: string) => text.slice(0, -8)],
    ['without its last instalment', (text: string) => text.slice(0, text.lastIndexOf(';'))],
    ['with an amount that is no number', (text: string) => text.replace('410000', '41x')],
    ['with another amount', (text: string) => text.replace('410000', '400000')],
    ['with an instalment that says nothing', (text: string) => `${text};`],
    ['with an instalment of one amount', (text: string) => text.replace(',,,45000,300000', ',345000')],
  ])('is not gone on from where the text is %s', (_, damage) => {
    const text = carriedForward(replay(terms, [entry(1), entry(2, { amount: 3_500_00n })], now))!
    expect(endFrom(text, 2, now)).toBeDefined()
    expect(endFrom(damage(text), 2, now)).toBeUndefined()
  })

  it('is nothing of a loan with a write-off, or with more open instalments than are worth it', () => {
    const writeOff = entry(1, { type: 'Write-off', amount: 1n })
    expect(carriedForward(replay(terms, [writeOff], now))).toBeNull()
    const { schedule } = terms
    const long = {
      ...terms,
      schedule: Array.from({ length: 200 }, (_, index) => ({ ...schedule[0]!, period: index + 1 })),
    }
    expect(carriedForward(replay(long, [], now))).toBeNull()
    expect(carriedForward(replay(long, [entry(1, { amount: 10n ** 9n })], now))).not.toBeNull()
  })

  it('knows no entry from before but those that were posted since, and says so where it was not asked to look', () => {
    const text = carriedForward(replay(terms, [entry(1, { token: 'old' })], now))!
    const since = [entry(2, { token: 'new' })]
    const loan = broughtBy({ terms, entries: [entry(1)] }, text, now, {
      absent: { token: ['new', 'none'], id: [] },
      since,
    })
    expect(findByToken(loan, 'new')).toBe(since[0])
    expect(findByToken(loan, 'none')).toBeUndefined()
    expect(() => findByToken(loan, 'old')).toThrow(NotRead)
  })

  it('has neither entries nor what they did, nor instalments to show; a copy of the loan has not either', () => {
    const text = carriedForward(replay(terms, [entry(1)], now))!
    const loan = broughtBy({ terms, entries: [entry(1)] }, text, now)
    const state = stateOf(loan, now)
    expect(() => loan.entries).toThrow('entries was not read')
    expect(() => loan.terms.schedule).toThrow(NotRead)
    expect(() => state.periods).toThrow(NotRead)
    expect(() => state.outcomes.get(1)).toThrow(NotRead)
    expect(() => state.outcomes.values()).toThrow(NotRead)
    expect({ ...loan }).not.toHaveProperty('entries')
    expect({ ...state }).not.toHaveProperty('periods')
  })

  it('does not hold across the instant of a penalty, which is where the history is asked for', () => {
    const penal = { ...terms, penaltyAmount: 90_000n }
    const loan = broughtBy({ terms: penal, entries: [] }, carriedForward(replay(penal, [], now))!, now)
    expect(stateOf(loan, terms.dueAt - 1)).toMatchObject({ penaltyRaised: false })
    expect(() => stateOf(loan, terms.dueAt)).toThrow(NotRead)
    const free = broughtBy({ terms, entries: [] }, carriedForward(replay(terms, [], now))!, now)
    expect(stateOf(free, terms.dueAt)).toMatchObject({ status: 'Active', totalOverdue: 6_900_00n })
  })
})
