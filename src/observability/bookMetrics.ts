import { Counter, Gauge, type Registry } from 'prom-client'
import { isCustomerRepayment } from '../domain/loan/entry.ts'
import { currencyOf, minorToNumber } from '../domain/money.ts'
import { AT_RISK_DAYS } from '../domain/portfolio/cells.ts'
import type { BookTotals } from '../services/book/totals.ts'
import type { Head } from '../services/events/chainHeads.ts'
import type { Listener, Movement } from '../services/listener.ts'

/** Counts the money that moved, by currency. @param isTest whether an organization is a test one, whose money is none */
export function countMoney(registers: Registry[], isTest: (organizationId: number) => boolean) {
  const labelNames = ['currency'] as const
  const disbursed = new Counter({
    name: 'mkopo_loans_disbursed_total',
    help: 'Loans disbursed.',
    labelNames,
    registers,
  })
  const disbursedAmount = new Counter({
    name: 'mkopo_disbursed_amount_total',
    help: 'Principal disbursed, in units of the currency.',
    labelNames,
    registers,
  })
  const posted = new Counter({
    name: 'mkopo_transactions_posted_total',
    help: 'Transactions posted, by type.',
    labelNames: [...labelNames, 'type'] as const,
    registers,
  })
  const repaid = new Counter({
    name: 'mkopo_repayments_posted_total',
    help: 'Repayments posted.',
    labelNames,
    registers,
  })
  const repaidAmount = new Counter({
    name: 'mkopo_repaid_amount_total',
    help: 'Repayments posted, in units of the currency.',
    labelNames,
    registers,
  })
  const duplicates = new Counter({
    name: 'mkopo_duplicates_answered_total',
    help: 'Requests answered with an earlier result, and nothing posted twice.',
    labelNames: ['by'] as const,
    registers,
  })
  const mismatches = new Counter({
    name: 'mkopo_token_mismatches_total',
    help: 'Requests answered with an earlier transaction of another content, found by their dedupe token.',
    registers,
  })
  const retries = new Counter({
    name: 'mkopo_retries_total',
    help: 'Changes of a loan decided again, because another change was saved first.',
    registers,
  })
  for (const by of ['token', 'idempotency_key'] as const) duplicates.inc({ by }, 0)
  const of = ({ currency }: Movement) => ({ currency })
  const units = ({ amount, currency }: Movement) => minorToNumber(amount, currencyOf(currency))
  return {
    loanDisbursed: (loan) => {
      if (isTest(loan.organizationId)) return
      disbursed.inc(of(loan))
      disbursedAmount.inc(of(loan), units(loan))
    },
    transactionPosted: (transaction) => {
      if (isTest(transaction.organizationId)) return
      posted.inc({ ...of(transaction), type: transaction.type })
      if (!isCustomerRepayment(transaction.type)) return
      repaid.inc(of(transaction))
      repaidAmount.inc(of(transaction), units(transaction))
    },
    duplicateAnswered: (by) => duplicates.inc({ by }),
    tokenMismatched: () => mismatches.inc(),
    retried: () => retries.inc(),
  } satisfies Partial<Listener>
}

/** The days overdue above which principal counts as at risk here; the API and the office pages have the other figures. */
const DAYS_AT_RISK = 30
const PLACE_OF_RISK = AT_RISK_DAYS.indexOf(DAYS_AT_RISK)
/** Buckets that are shown, of all organizations together: those with the most principal. */
const MOST_BUCKETS = 20
/** The sum of the buckets that are not shown on their own. */
const OTHER_BUCKETS = '(others)'

interface BucketSums {
  readonly currency: string
  readonly bucket: string
  readonly loans: number
  readonly principal: bigint
}

const units = (minor: bigint, currency: string) => minorToNumber(minor, currencyOf(currency))

/** Shows the portfolios by bucket, all organizations together, and what is at risk of each, as they were last computed. */
export function showPortfolios(registers: Registry[], totals: () => readonly BookTotals[]): void {
  const show = (name: string, help: string, read: (sums: BucketSums) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['currency', 'bucket'] as const,
      registers,
      collect() {
        this.reset()
        for (const sums of bucketsOf(totals())) this.set({ currency: sums.currency, bucket: sums.bucket }, read(sums))
      },
    })
  show('mkopo_portfolio_loans', 'Active loans, by bucket of the delinquency policy in force.', ({ loans }) => loans)
  show(
    'mkopo_portfolio_principal',
    'The principal outstanding of active loans in units of the currency, by bucket.',
    ({ principal, currency }) => units(principal, currency),
  )
  new Gauge({
    name: 'mkopo_portfolio_at_risk',
    help: 'The principal of the loans overdue for more than 30 days (PAR 30), in units of the currency.',
    labelNames: ['organization', 'currency', 'days'] as const,
    registers,
    collect() {
      this.reset()
      for (const { organizationId: organization, products } of totals())
        for (const [currency, of] of Map.groupBy(products, (product) => product.currency)) {
          const amount = of.reduce((sum, { atRisk }) => sum + atRisk[PLACE_OF_RISK]!, 0n)
          this.set({ organization, currency, days: DAYS_AT_RISK }, units(amount, currency))
        }
    },
  })
}

/** Returns the sums of the buckets by currency and name: of the largest each, and of the others together by currency. */
function bucketsOf(totals: readonly BookTotals[]): BucketSums[] {
  const all = sumBy(totals.flatMap(({ buckets }) => buckets))
  const largest = all.sort((one, other) => Number(other.principal - one.principal) || other.loans - one.loans)
  const others = largest.slice(MOST_BUCKETS).map((sums) => ({ ...sums, bucket: OTHER_BUCKETS }))
  return sumBy([...largest.slice(0, MOST_BUCKETS), ...others])
}

const sumBy = (buckets: readonly BucketSums[]): BucketSums[] =>
  [...Map.groupBy(buckets, ({ currency, bucket }) => `${currency} ${bucket}`).values()].map((same) => ({
    currency: same[0]!.currency,
    bucket: same[0]!.bucket,
    loans: same.reduce((sum, { loans }) => sum + loans, 0),
    principal: same.reduce((sum, { principal }) => sum + principal, 0n),
  }))

/** Shows how far the chain of each organization is sealed; organization 0 is the service itself. */
export function showHeads(registers: Registry[], heads: () => readonly Head[]): void {
  const show = (name: string, help: string, read: (head: Head) => bigint) =>
    new Gauge({
      name,
      help,
      labelNames: ['organization'] as const,
      registers,
      collect() {
        this.reset()
        for (const head of heads()) this.set({ organization: head.organizationId }, Number(read(head)))
      },
    })
  show('mkopo_sealed_change', 'The last change that is sealed: its id in the audit trail.', ({ changeId }) => changeId)
  show('mkopo_sealed_sequence', 'The number of the last event.', ({ sequence }) => sequence)
}

/** Counts the changes that are sealed. */
export function countSealed(registers: Registry[]) {
  const sealed = new Counter({
    name: 'mkopo_changes_sealed_total',
    help: 'Changes that were sealed into the chain, and whose events were numbered, by this process.',
    registers,
  })
  const notStamped = new Counter({
    name: 'mkopo_changes_not_stamped_total',
    help: 'Rows of the audit trail that were changed or added past the service, found when they were sealed; book check names them.',
    registers,
  })
  const damaged = new Counter({
    name: 'mkopo_events_damaged_total',
    help: 'Events that were told without their details, because a row of the book is damaged; book check names it.',
    registers,
  })
  return {
    notStamped: () => notStamped.inc(),
    eventDamaged: () => damaged.inc(),
    sealed: (changes) => sealed.inc(changes),
  } satisfies Partial<Listener>
}

/** Counts the changes that the journals take in. */
export function countKept(registers: Registry[]) {
  const kept = new Counter({
    name: 'mkopo_journal_changes_total',
    help: 'Changes and loans that this process has taken into the journals.',
    registers,
  })
  const left = new Counter({
    name: 'mkopo_changes_not_posted_total',
    help: 'Changes that were left out of a journal, because a row of the book is damaged; book check names it.',
    registers,
  })
  return {
    changeNotPosted: () => left.inc(),
    kept: (changes) => kept.inc(changes),
  } satisfies Partial<Listener>
}
