import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isDebitType, methodOf } from '../../../src/domain/accounting/chart.ts'
import { contributionOf } from '../../../src/domain/accounting/contribution.ts'
import { ledgerName } from '../../../src/domain/accounting/hledger.ts'
import { lastDayOf } from '../../../src/domain/accounting/months.ts'
import { SLOTS } from '../../../src/domain/accounting/slots.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import { minorToText } from '../../../src/domain/money.ts'
import { getChart } from '../../../src/services/accounting/charts.ts'
import { exportJournal } from '../../../src/services/accounting/exportJournal.ts'
import { getTrialBalance } from '../../../src/services/accounting/trialBalance.ts'
import { balancesByHledger, hasHledger, hledger } from '../../support/hledger.ts'
import { MONTHS, openRandomBook, type RandomBook } from '../../support/randomBook.ts'

// A random book over closed months and a changed chart: each loan's postings sum to what the loan contributes, and hledger, a
// program of accountants, reads what we export. MKOPO_SEED makes another book,
// which may lack a kind of change.

let book: RandomBook
beforeAll(async () => {
  book = await openRandomBook(Number(process.env.MKOPO_SEED ?? 7))
})
afterAll(() => book?.end())

describe('the journal of a random book', () => {
  it.skipIf(process.env.MKOPO_SEED !== undefined)(
    'has every kind of change, late money, and balances that moved',
    async () => {
      await getTrialBalance(book.service.deps, book.caller, {})
      const { rows } = await book.service.deps.db.pool.query<{ kind: string; late: boolean }>(
        'SELECT kind, bool_or(value_date < booked_on) AS late FROM posting GROUP BY kind',
      )
      expect(rows.map(({ kind }) => kind).toSorted()).toEqual([
        ...['adjustment', 'charge_off', 'chart_changed', 'credit_balance_refund', 'disbursement', 'method_changed'],
        ...[
          'recovery_repayment',
          'refund',
          'repayment',
          'restatement',
          'reversal',
          'time',
          'waive_interest',
          'write_off',
        ],
      ])
      expect(rows.find(({ kind }) => kind === 'repayment')).toEqual({ kind: 'repayment', late: true })
    },
  )

  it('sums for each loan to what a replay of its entries contributes, by the method that it has now', async () => {
    const { service, caller, loans } = book
    await getTrialBalance(service.deps, caller, {})
    const { chart } = await getChart(service.deps, caller)
    const sums = SLOTS.map((slot) => `coalesce(sum(${slot}), 0)::bigint AS ${slot}`).join(', ')
    const { rows } = await service.deps.db.pool.query(
      `SELECT loan_id, ${sums} FROM posting WHERE loan_id IS NOT NULL GROUP BY loan_id`,
    )
    const posted = new Map(rows.map(({ loan_id, ...amounts }) => [String(loan_id), amounts]))
    for (const id of loans) {
      const loan = await service.deps.loanBatches.readLoan({
        ...{ organizationId: 1, ref: { id: BigInt(id) }, zone: service.deps.config.zone },
      })
      const { terms, entries, productId } = loan!
      const state = replay(terms, entries, service.clock.now())
      expect({ id, ...posted.get(id) }).toEqual({ id, ...contributionOf(methodOf(chart, productId), state) })
    }
    expect(loans.length).toBeGreaterThan(20)
  })
})

async function exported(month: string): Promise<string> {
  const parts = await exportJournal(book.service.deps, book.caller, { period: month, format: 'hledger' })
  const written: string[] = []
  for await (const part of parts) written.push(part)
  return written.join('')
}

/** The balances of our trial balance in the words of hledger: debits less credits. */
async function balancesByService(month: string): Promise<Record<string, string>> {
  const asOf = lastDayOf(`${month}-01`)
  const { accounts, currency } = await getTrialBalance(book.service.deps, book.caller, { asOf })
  const said = accounts.flatMap(({ balance, ...account }): [string, string][] => {
    const net = isDebitType(account.type) ? balance : -balance
    return net === 0n ? [] : [[ledgerName(account), `${minorToText(net, currency)} ${currency.code}`]]
  })
  return Object.fromEntries(said)
}

describe.skipIf(!hasHledger())('hledger (skipped where it is not installed and cannot be)', () => {
  const files: string[] = []
  beforeAll(async () => {
    for (const month of MONTHS) files.push(await exported(month))
  })

  it.each(MONTHS)('accepts the months up to %s, and comes to the balances of our trial balance', async (month) => {
    const upTo = files.slice(0, MONTHS.indexOf(month) + 1).join('\n')
    hledger(upTo, 'check', '--strict')
    const expected = await balancesByService(month)
    expect(Object.keys(expected).length).toBeGreaterThan(1)
    expect(balancesByHledger(upTo)).toEqual(expected)
  })

  it.each(MONTHS)('accepts %s alone, with what came before as opening balances', async (month) => {
    const alone = files[MONTHS.indexOf(month)]!
    hledger(alone, 'check', '--strict')
    expect(balancesByHledger(alone)).toEqual(await balancesByService(month))
  })

  it('refuses a journal of which an amount was changed', () => {
    const changed = files[1]!.replace(/^( {4}income:4000 Interest income {2}-)(\d+)/m, '$19$2')
    expect(changed).not.toBe(files[1])
    expect(() => hledger(changed, 'check', '--strict')).toThrow()
  })
})
