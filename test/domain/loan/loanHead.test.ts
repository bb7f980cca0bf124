import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contributionOf, METHODS } from '../../../src/domain/accounting/contribution.ts'
import { dateIn, startOfDay } from '../../../src/domain/dates.ts'
import { LendingError } from '../../../src/domain/errors.ts'
import type { Balances } from '../../../src/domain/loan/balances.ts'
import type { LoanHead } from '../../../src/domain/loan/carriedForward/loanHead.ts'
import { ENTRY_TYPES, type Entry, type EntryType, isOfRestructures } from '../../../src/domain/loan/entry.ts'
import {
  advanceHead,
  type Decision,
  findByToken,
  type Loan,
  needsHistoryFor,
  outcomeAt,
  type Posting,
  post,
  reverse,
} from '../../../src/domain/loan/loan.ts'
import { balancesAt, carriedForward, endFrom, replay } from '../../../src/domain/loan/replay.ts'
import { type PenaltyRule, USUAL_RULES } from '../../../src/domain/loan/rules/loanRules.ts'
import { type LoanTerms, termsOf } from '../../../src/domain/loan/terms/terms.ts'
import { currencyOf } from '../../../src/domain/money.ts'
import { DISBURSED, weeklyTerms, ZONE } from '../../support/weeklyTerms.ts'

const DAY_MS = 86_400_000
const HALF_HOUR_MS = 1_800_000

const anyTerms = fc
  .record({
    principal: fc.bigInt(1_000_00n, 9_000_00n),
    numberOfRepayments: fc.integer({ min: 1, max: 8 }),
    penaltyRate: fc.constantFrom(null, 10_000_000n),
    fee: fc.constantFrom(0n, 0n, 25_00n),
  })
  .map(({ principal, fee, ...rest }): LoanTerms => {
    const product = {
      ...{ id: 1, name: 'Flat', currency: currencyOf('TZS'), principalMin: 1n, principalMax: 10n ** 14n },
      ...{ repayEvery: 1, repayUnit: 'weeks' as const, ratePerPeriod: 5_000_000n, totalMultipleOf: null },
      ...{ enforceCreditLimit: false, retired: false, terms: null },
    }
    const terms = termsOf({ ...product, ...rest }, { units: principal, scale: 2 }, DISBURSED, ZONE)
    return { ...terms, schedule: terms.schedule.map((line) => ({ ...line, fees: fee })) }
  })

/** What is posted, how many half hours after the one before it by a clock of its own, and how many days ago it was. */
const anyStep = fc.record({
  type: fc.oneof(
    { weight: 4, arbitrary: fc.constant<EntryType>('Repayment') },
    fc.constantFrom(...ENTRY_TYPES.filter((type) => !isOfRestructures(type))),
  ),
  amount: fc.oneof(fc.bigInt(1n, 900_00n), fc.bigInt(1n, 9_000_00n)),
  after: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 0, max: 500 }) }, fc.integer({ min: -2, max: 2 })),
  ago: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 30 })),
  reverses: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, fc.nat()),
})

/** The decision, or the words of the refusal. */
function tried(decide: () => Decision): Decision | string {
  try {
    return decide()
  } catch (error) {
    if (error instanceof LendingError) return error.message
    throw error
  }
}

const balancesOf = ({ before, state }: Decision) =>
  [before, state].map((one) =>
    Object.fromEntries(
      Object.keys(one).flatMap((key) => (key === 'periods' || key === 'outcomes' ? [] : [[key, one[key as 'status']]])),
    ),
  )

/** What the books recognise of a loan, and what it contributes to them by each method. */
const recognised = (state: Balances) => {
  const { unearned, forgone, atChargeOff } = state
  return { unearned, forgone, atChargeOff, contributions: METHODS.map((method) => contributionOf(method, state)) }
}

/** The head that is read of a loan which stored that text. */
function headOf({ terms: { schedule: _, ...terms }, entries }: Loan, text: string, asOf: number): LoanHead {
  const count = entries.length
  const end = endFrom(terms, text, count, asOf)
  if (!end) throw new Error(`${text} cannot be read`)
  return { terms, end, count, since: [] }
}

/** The head after a posting, of which nothing is read again. */
const afterPosting = (head: LoanHead, decision: Decision): LoanHead =>
  advanceHead(head, decision, { ...decision.posted!, id: BigInt(decision.posted!.ordinal) })

describe('the head of a loan', () => {
  it('takes each entry that needs no history as the whole loan does, and stores and recognises the same', () => {
    const seen = { same: 0, needsHistory: 0, forgone: 0, chargedOff: 0, unearned: 0 }
    fc.assert(
      fc.property(anyTerms, fc.array(anyStep, { minLength: 1, maxLength: 12 }), (terms, steps) => {
        let entries: Entry[] = []
        let now = DISBURSED
        let savedAt = now
        let text = carriedForward(terms, replay(terms, [], now))
        /** A head that was read earlier, with what was posted on it since. */
        let older: LoanHead | undefined
        for (const { type, amount, after, ago, reverses } of steps) {
          now += after * HALF_HOUR_MS
          const loan: Loan = { terms, entries }
          const valueDate = dateIn(ZONE, now - ago * DAY_MS)
          const wanted = type === 'Charge-off' || type === 'Write-off' ? null : { units: amount, scale: 2 }
          const posting: Posting = { type, amount: wanted, valueDate, token: null, note: null }
          const open = entries.filter((entry) => entry.reversedAt === null)
          const original = reverses === null ? undefined : open[reverses % open.length]
          const fresh = { terms, entries: [...entries] }
          const whole = tried(() => (original ? reverse(fresh, original.id, now, null) : post(fresh, posting, now)))
          const read = text === null ? undefined : headOf(loan, text, savedAt)
          const heads = new Set([read, older])
          const newest = older ?? read
          older = undefined
          for (const head of heads) {
            if (!head || original) continue
            if (needsHistoryFor(head, posting, now)) {
              seen.needsHistory++
              continue
            }
            const decision = tried(() => post(head, posting, now))
            if (typeof decision === 'string' || typeof whole === 'string') {
              expect(decision).toBe(whole)
              continue
            }
            seen.same++
            expect(decision.posted).toEqual(whole.posted)
            expect(decision.outcome).toEqual(whole.outcome)
            expect(balancesOf(decision)).toEqual(balancesOf(whole))
            expect(carriedForward(terms, decision.state)).toBe(carriedForward(terms, whole.state))
            expect(recognised(decision.state)).toEqual(
              recognised(replay(terms, [...entries, { ...whole.posted!, id: 0n }], now)),
            )
            if (decision.state.forgone.waived.interest > 0n) seen.forgone++
            if (decision.state.atChargeOff !== null) seen.chargedOff++
            if (decision.state.unearned.fees > 0n) seen.unearned++
            if (head === newest) older = afterPosting(head, decision)
          }
          if (typeof whole === 'string') continue
          entries = entries.map((entry) => (entry === whole.reversed ? { ...entry, reversedAt: now } : entry))
          if (whole.posted) entries = [...entries, { ...whole.posted, id: BigInt(whole.posted.ordinal) }]
          text = carriedForward(terms, whole.state)
          savedAt = now
        }
      }),
      { numRuns: 500 },
    )
    // Most entries come in the order of their dates; both kinds have to have been there.
    expect(seen.same).toBeGreaterThan(seen.needsHistory)
    expect(seen.needsHistory).toBeGreaterThan(0)
    for (const times of [seen.forgone, seen.chargedOff, seen.unearned]) expect(times).toBeGreaterThan(0)
  })

  const terms = weeklyTerms
  const entry = (ordinal: number, more: Partial<Entry> = {}): Entry => ({
    ...{ id: BigInt(ordinal), type: 'Repayment', amount: 1_500_00n, valueDate: '2026-02-03', postedAt: DISBURSED },
    ...{ ordinal, place: ordinal, token: null, note: null, replaces: null, reversedAt: null },
    ...more,
  })
  const now = startOfDay('2026-02-04', ZONE)

  it('is the totals, and what is left of each open instalment', () => {
    const text = carriedForward(terms, replay(terms, [entry(1), entry(2, { amount: 3_500_00n })], now))
    expect(text).toBe(
      '1;2026-02-03,,,,;,,135000,900000;,,90000,410000;,,,;2026-02-14,,,,190000;2026-02-21,,,45000,300000',
    )
  })

  it('has the text of before of a loan with the single penalty: other versions of the program read it, too', () => {
    const penal = { ...terms, penaltyAmount: 90_000n }
    const text = carriedForward(penal, replay(penal, [entry(1)], penal.dueAt))
    expect(text).toBe(
      '1;2026-02-03,,,1,;90000,,135000,900000;,,45000,105000;,,,;2026-02-07,,,,195000;2026-02-14,,,45000,300000;2026-02-21,90000,,45000,300000',
    )
    expect(endFrom(penal, text!, 1, penal.dueAt)?.fold).toMatchObject({
      penaltiesRaised: 1,
      lastPenaltyOn: penal.dueOn,
    })
  })

  it('has the day of the latest penalty and the penalties of each instalment where they repeat', () => {
    const penalty: PenaltyRule = {
      ...{
        base: 'fixed' as const,
        value: 500n,
        every: { every: 1, unit: 'days' as const },
        graceDays: 0,
        maxTimes: 9,
        most: 10n ** 9n,
      },
      per: 'instalment',
    }
    const own = { ...terms, rules: { ...USUAL_RULES, penalty } }
    const at = startOfDay('2026-02-10', ZONE)
    const text = carriedForward(own, replay(own, [entry(1)], at))
    expect(text).toBe(
      '3;2026-02-03,,,3,;1500,,135000,900000;,,45000,105000;,,,;/;;2026-02-09;2026-02-07*3,1500,,,195000;2026-02-14,,,45000,300000;2026-02-21,,,45000,300000',
    )
    expect(endFrom(own, text!, 1, at)?.fold).toMatchObject({ penaltiesRaised: 3, lastPenaltyOn: '2026-02-09' })
    expect(endFrom(terms, text!, 1, at)).toBeUndefined()
    expect(endFrom(own, carriedForward(terms, replay(terms, [entry(1)], at))!, 1, at)).toBeUndefined()
  })

  it.each([
    ['empty', () => ''],
    ['of other rules', (text: string) => text.replace(/^1;/, '2;')],
    ['cut off', (text: string) => text.slice(0, -8)],
    ['without its last instalment', (text: string) => text.slice(0, text.lastIndexOf(';'))],
    ['with an amount that is no number', (text: string) => text.replace('410000', '41x')],
    ['with another amount', (text: string) => text.replace('410000', '400000')],
    ['with an empty instalment', (text: string) => `${text};`],
    ['with an instalment of one amount', (text: string) => text.replace(',,,45000,300000', ',345000')],
  ])('is not read where the text is %s', (_, damage) => {
    const text = carriedForward(terms, replay(terms, [entry(1), entry(2, { amount: 3_500_00n })], now))!
    expect(endFrom(terms, text, 2, now)).toBeDefined()
    expect(endFrom(terms, damage(text), 2, now)).toBeUndefined()
  })

  it.each([['Waive Interest', 450_00n] as const, ['Charge-off', 1n] as const])(
    'is not read after a %s where the text says nothing of what the books had recognised',
    (type, amount) => {
      const text = carriedForward(terms, replay(terms, [entry(1, { type, amount })], now))!
      const [version, ...fields] = text.split(';')
      expect(version).toBe('2')
      expect(endFrom(terms, text, 1, now)).toBeDefined()
      expect(endFrom(terms, ['1', ...fields.toSpliced(4, 2)].join(';'), 1, now)).toBeUndefined()
    },
  )

  it('is nothing of a loan with a write-off, or with more open instalments than are worth it', () => {
    const writeOff = entry(1, { type: 'Write-off', amount: 1n })
    expect(carriedForward(terms, replay(terms, [writeOff], now))).toBeNull()
    const { schedule } = terms
    const long = {
      ...terms,
      schedule: Array.from({ length: 200 }, (_, index) => ({ ...schedule[0]!, period: index + 1 })),
    }
    expect(carriedForward(long, replay(long, [], now))).toBeNull()
    expect(carriedForward(long, replay(long, [entry(1, { amount: 10n ** 9n })], now))).not.toBeNull()
  })

  it('knows the entries that were posted since it was read, and what they did', () => {
    const read = headOf({ terms, entries: [entry(1)] }, carriedForward(terms, replay(terms, [entry(1)], now))!, now)
    const posting: Posting = {
      type: 'Repayment',
      amount: { units: 5n, scale: 0 },
      valueDate: undefined,
      token: 'new',
      note: null,
    }
    const decision = post(read, posting, now)
    const head = afterPosting(read, decision)
    const found = findByToken(head, 'new')
    expect(found).toMatchObject({ token: 'new', amount: 5_00n, ordinal: 2 })
    expect(outcomeAt(head, found!, now)).toEqual(decision.outcome)
    expect(findByToken(head, 'other')).toBeUndefined()
    expect(head.count).toBe(2)
    expect(read.since).toEqual([])
  })

  it('has balances of its own at a later moment, without the penalty between', () => {
    const free = headOf({ terms, entries: [] }, carriedForward(terms, replay(terms, [], now))!, now)
    expect(balancesAt(free.terms, free.end, terms.dueAt)).toMatchObject({ status: 'Active', totalOverdue: 6_900_00n })
    const penal = { ...terms, penaltyAmount: 90_000n }
    const head = headOf({ terms: penal, entries: [] }, carriedForward(penal, replay(penal, [], now))!, now)
    expect(balancesAt(head.terms, head.end, terms.dueAt - 1)).toMatchObject({ penaltiesRaised: 0 })
    expect(() => balancesAt(head.terms, head.end, terms.dueAt)).toThrow('nothing is raised between the two moments')
  })
})
