import { LendingError } from '../errors.ts'
import type { Bucket } from '../loan/allocation.ts'
import type { Entry } from '../loan/entry.ts'
import type { Loan } from '../loan/loan.ts'
import type { Outcome } from '../loan/outcomes.ts'
import { COMPONENTS, type Portions, totalOf } from '../loan/portions.ts'
import type { LoanState } from '../loan/replay.ts'
import { toStoredRules } from '../loan/rules/storedRules.ts'
import { rulesWithSettled } from '../loan/rules/topUp.ts'
import { type LoanTerms, termsFor } from '../loan/terms/terms.ts'
import { type Currency, minorToText, parseDecimal, sum } from '../money.ts'
import type { Product } from '../product/product.ts'
import type { LoanRecord } from '../recordStyle/loanRecord.ts'
import { agree, type LoanRequest } from '../recordStyle/recordLoan.ts'
import { brokenByRestructures } from './restructureRules.ts'

/** Returns a sentence for each rule that a loan breaks, of the rules that hold for every loan. */
export function brokenRules(loan: Loan, state: LoanState): string[] {
  return [
    ...brokenByTerms(loan.terms),
    ...brokenByEntries(loan),
    ...brokenByRestructures(loan),
    ...brokenByOutcomes(loan, state),
    ...brokenBy(state),
  ]
}

/** Checks that the schedule divides the loan's principal, and that its dates are in order. */
function brokenByTerms({ principal, numberOfRepayments, disbursedOn, dueOn, schedule }: LoanTerms): string[] {
  const total = sum(schedule.map((line) => line.principal))
  const last = schedule.at(-1)
  return faults([
    [total === principal, `the schedule's principal sums to ${total}, and the loan's is ${principal}`],
    [schedule.length === numberOfRepayments, `${schedule.length} instalments, and ${numberOfRepayments} were agreed`],
    [inOrder(schedule.map((line) => line.period)), 'the instalments are not numbered 1, 2, 3 …'],
    [last?.dueDate === dueOn, `the last instalment is due on ${last?.dueDate}, and the loan on ${dueOn}`],
    [
      schedule.every((line, index) => line.dueDate >= (schedule[index - 1]?.dueDate ?? disbursedOn)),
      'an instalment is due before the one before it, or before disbursement',
    ],
    [
      schedule.every(({ principal: p, interest, fees }) => p >= 0n && interest >= 0n && fees >= 0n),
      'an instalment is negative',
    ],
  ])
}

/** Checks the numbers, dates, tokens and references of entries. */
function brokenByEntries({ terms, entries }: Loan): string[] {
  const tokens = entries.flatMap(({ token }) => (token === null ? [] : [token]))
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const replaced = (entry: Entry) => (entry.replaces === null ? undefined : byId.get(entry.replaces))
  return faults([
    [inOrder(entries.map((entry) => entry.ordinal)), 'the entries are not numbered 1, 2, 3 …'],
    [new Set(tokens).size === tokens.length, 'two entries have the same token'],
    ...entries.flatMap((entry): Rule[] => [
      // A restructure that only moves due dates adds nothing.
      [entry.amount > 0n || (entry.amount === 0n && entry.type === 'Restructure'), `entry ${entry.id} has no amount`],
      // A reversed repayment may be dated before a release that was moved later.
      [
        entry.reversedAt !== null || entry.valueDate >= terms.disbursedOn,
        `entry ${entry.id} is dated before disbursement`,
      ],
      [entry.place >= 1 && entry.place <= entry.ordinal, `entry ${entry.id} has the place ${entry.place}`],
      [
        entry.replaces === null || (replaced(entry)?.reversedAt ?? null) !== null,
        `entry ${entry.id} replaces ${entry.replaces}, which is no reversed entry of the loan`,
      ],
    ]),
  ])
}

/**
 * Checks that the outcome of each entry sums to its amount, and all outcomes to the money that came in and went out.
 */
function brokenByOutcomes({ entries }: Loan, state: LoanState): string[] {
  const unreversed = entries.filter((entry) => entry.reversedAt === null)
  const outcomes = state.outcomes.values()
  const of = (...types: Entry['type'][]) =>
    sum(unreversed.filter((entry) => types.includes(entry.type)).map((entry) => entry.amount))
  const credited = sum(outcomes.map((outcome) => outcome.credited))
  const cash = of('Repayment', 'Recovery Repayment') - of('Refund', 'Credit Balance Refund')
  const kept = state.totalPaid + state.totalRecovered + state.totalOverpaid - credited
  return faults([
    [outcomes.length === unreversed.length, 'an unreversed entry did nothing, or a reversed one did something'],
    ...unreversed.map((entry): Rule => {
      const outcome = state.outcomes.get(entry.ordinal)
      return [
        outcome === undefined || partsOf(outcome) === outcome.amount,
        `the portions of entry ${entry.id} do not sum to its amount`,
      ]
    }),
    [cash === kept, `${cash} came in on balance, and ${kept} are accounted for`],
  ])
}

const partsOf = ({ portions, overpayment, dropped }: Outcome): bigint => totalOf(portions) + overpayment + dropped

/**
 * Checks that every balance is what was charged less what was paid, waived and written off, and that none is negative.
 */
function brokenBy(state: LoanState): string[] {
  const { charged, paid, waived, writtenOff, outstanding, totalOutstanding, totalOverpaid, totalOverdue } = state
  const { periods } = state
  const sums: [Bucket, Readonly<Portions>][] = [
    ['due', charged],
    ['paid', paid],
    ['waived', waived],
    ['writtenOff', writtenOff],
  ]
  return faults([
    ...COMPONENTS.map(
      (part): Rule => [
        charged[part] === paid[part] + waived[part] + writtenOff[part] + outstanding[part] && outstanding[part] >= 0n,
        `the ${part} charged is not what was paid, waived, written off and is outstanding`,
      ],
    ),
    [totalOf(outstanding) === totalOutstanding, 'the outstanding components do not sum to the total outstanding'],
    ...sums.flatMap(([bucket, total]) =>
      COMPONENTS.map(
        (part): Rule => [
          sum(periods.map((period) => period[bucket][part])) === total[part],
          `the instalments do not sum to the ${part} ${bucket} in all`,
        ],
      ),
    ),
    [
      sum(periods.map((period) => totalOf(period.recovered))) === state.totalRecovered,
      'the instalments do not sum to what was recovered',
    ],
    [sum(periods.map(({ owed }) => owed)) === totalOutstanding, 'the instalments do not sum to the total outstanding'],
    ...periods.map(
      ({ period, due, paid, waived, writtenOff, owed }): Rule => [
        owed === totalOf(due) - totalOf(paid) - totalOf(waived) - totalOf(writtenOff) && owed >= 0n,
        `instalment ${period} does not owe what was due less what became of it`,
      ],
    ),
    [totalOutstanding === 0n || totalOverpaid === 0n, 'outstanding and overpaid at once'],
    [totalOverdue <= totalOutstanding, 'more is overdue than outstanding'],
    [totalOverpaid >= 0n, 'the overpayment is negative'],
    [state.totalRecovered <= state.totalWrittenOff, 'more was recovered than was written off'],
    [
      (state.status === 'Active') === totalOutstanding > 0n,
      `it is ${state.status}, and ${totalOutstanding} are outstanding`,
    ],
    [(state.status === 'Overpaid') === totalOverpaid > 0n, `it is ${state.status}, and ${totalOverpaid} are overpaid`],
    [
      (state.closedOn !== null) === state.status.startsWith('Closed'),
      `it is ${state.status}, and closed on ${state.closedOn}`,
    ],
  ])
}

type Rule = readonly [holds: boolean, broken: string]

const faults = (rules: readonly Rule[]): string[] => rules.flatMap(([holds, broken]) => (holds ? [] : [broken]))

const inOrder = (numbers: readonly number[]): boolean => numbers.every((number, index) => number === index + 1)

/** The fields of a loan that take part in the computation of its terms. */
interface AgreedLoan {
  readonly productId: number | null
  readonly record: LoanRecord | null
  readonly terms: LoanTerms
}

/** The stored facts from which a loan's terms follow. */
interface Grounds {
  /** The loan's product; undefined where it does not exist or is damaged. */
  readonly product: Product | undefined
  /** The organization's currency; undefined where the organization does not exist or is damaged. */
  readonly currency: Currency | undefined
}

/**
 * Computes a loan's terms again from its product, or from what the record system sent, and the principal, the moment of
 * disbursement and, of a basic loan, the due date of the loan itself.
 * @returns a sentence for each term that differs
 */
export function brokenByAgreement(loan: AgreedLoan, grounds: Grounds): string[] {
  const { productId, record, terms } = loan
  if (productId !== null) {
    const { product } = grounds
    if (product === undefined) return [`its product ${productId} is not there, or is damaged`]
    const { principalMin, principalMax } = product
    const isWithin = terms.principal >= principalMin && terms.principal <= principalMax
    const bounds = isWithin
      ? []
      : [`principal is ${terms.principal}, and product ${productId} lends ${principalMin} to ${principalMax}`]
    const expected = termsFor(product, terms.principal, terms.disbursedAt, terms.zone)
    // The loans that it paid off are of the request, not of the product.
    const settled = terms.rules?.settled ?? []
    const agreed = settled.length === 0 ? expected : { ...expected, rules: rulesWithSettled(expected.rules, settled) }
    return [...bounds, ...differencesOf(terms, agreed, `product ${productId}`)]
  }
  if (record === null) return ['it has neither a product nor the terms of a record system']
  if (grounds.currency === undefined) return ['its organization is not there, or is damaged']
  try {
    const agreed = agree(requestFrom(record, terms), grounds.currency, terms.zone, terms.disbursedAt)
    return differencesOf(terms, agreed.terms, 'what the record system sent')
  } catch (error) {
    if (!(error instanceof LendingError)) throw error
    return [`its terms cannot be computed from what the record system sent: ${error.message}`]
  }
}

/** Returns the request from which a loan was made. */
function requestFrom(
  { extended, loanType, description, duration, durationPeriod }: LoanRecord,
  terms: LoanTerms,
): LoanRequest {
  if (extended !== null) return { extended }
  const { principal, currency, disbursedOn: releasedOn, dueOn } = terms
  const dates = {
    releasedOn,
    dueOn,
    duration: duration ?? 0,
    durationPeriod: durationPeriod ?? '',
    loanType,
    description,
  }
  return { basic: { ...dates, principal: parseDecimal(minorToText(principal, currency))! } }
}

function differencesOf(terms: LoanTerms, expected: LoanTerms, ground: string): string[] {
  const facts = (of: LoanTerms): Record<string, unknown> => ({
    currency: of.currency.code,
    principal: of.principal,
    number_of_repayments: of.numberOfRepayments,
    rate_per_period: of.ratePerPeriod,
    penalty_amount: of.penaltyAmount ?? 'none',
    disbursed_on: of.disbursedOn,
    disbursed_at: new Date(of.disbursedAt).toISOString(),
    due_on: of.dueOn,
    due_at: new Date(of.dueAt).toISOString(),
    rules: of.rules === null ? 'none' : JSON.stringify(toStoredRules(of.rules)),
  })
  const [is, shouldBe] = [facts(terms), facts(expected)]
  const columns = Object.keys(is).filter((name) => is[name] !== shouldBe[name])
  return [
    ...columns.map((name) => `${name} is ${is[name]}, and by ${ground} it is ${shouldBe[name]}`),
    ...differencesOfSchedule(terms, expected, ground),
  ]
}

/** Returns a sentence for the first instalment that differs: those after it follow from it. */
function differencesOfSchedule({ schedule }: LoanTerms, expected: LoanTerms, ground: string): string[] {
  const wordsOf = (line: LoanTerms['schedule'][number] | undefined) =>
    line === undefined
      ? 'none'
      : `${line.principal} + ${line.interest} + ${line.fees}, from ${line.fromDate} to ${line.dueDate}`
  const count = Math.max(schedule.length, expected.schedule.length)
  for (let index = 0; index < count; index++) {
    const [is, shouldBe] = [wordsOf(schedule[index]), wordsOf(expected.schedule[index])]
    if (is !== shouldBe) return [`instalment ${index + 1} is ${is}, and by ${ground} it is ${shouldBe}`]
  }
  return []
}
