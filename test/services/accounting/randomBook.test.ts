import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isDebitType, methodOf } from '../../../src/domain/accounting/chart.ts'
import { contributionOf } from '../../../src/domain/accounting/contribution.ts'
import { ledgerName } from '../../../src/domain/accounting/hledger.ts'
import { lastDayOf } from '../../../src/domain/accounting/months.ts'
import { SLOTS } from '../../../src/domain/accounting/slots.ts'
import type { AccountAmount } from '../../../src/domain/accounting/statements/incomeStatement.ts'
import { dayBefore } from '../../../src/domain/dates.ts'
import { replay } from '../../../src/domain/loan/replay.ts'
import { minorToText } from '../../../src/domain/money.ts'
import { getChart } from '../../../src/services/accounting/charts.ts'
import { exportJournal } from '../../../src/services/accounting/exportJournal.ts'
import { type BooksOfCurrency, getBooks } from '../../../src/services/accounting/financialStatements.ts'
import { getTrialBalance } from '../../../src/services/accounting/trialBalance.ts'
import { balancesByHledger, hasHledger, hledger, sumByHledger } from '../../support/hledger.ts'
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

describe('the financial statements of a random book', () => {
  const days = (month: string) => ({ from: `${month}-01`, to: lastDayOf(`${month}-01`) })

  it.each(['booked', 'economic'] as const)('agree with the trial balance, %s, in every currency', async (basis) => {
    const { service, caller } = book
    let result = 0n
    for (const month of MONTHS) {
      const { currencies } = await getBooks(service.deps, caller, { ...days(month), basis })
      expect(currencies.map(({ currency }) => currency.code)).toEqual(['TZS'])
      const [{ incomeStatement, balanceSheet, trialBalance }] = currencies as [BooksOfCurrency]
      const asOf = days(month).to
      const balance = await getTrialBalance(service.deps, caller, { asOf, basis })
      expect(trialBalance.accounts).toEqual(balance.accounts)
      const before = await getTrialBalance(service.deps, caller, { asOf: dayBefore(days(month).from), basis })
      const was = new Map(before.accounts.map((one) => [one.code, one.balance]))
      const of = (type: string) => balance.accounts.filter((one) => one.type === type)
      const moved = (type: string) => of(type).map(({ code, balance: now }) => [code, now - (was.get(code) ?? 0n)])
      const amounts = (lines: readonly AccountAmount[]) => lines.map(({ code, amount }) => [code, amount])
      expect(amounts(incomeStatement.income)).toEqual(moved('income'))
      expect(amounts(incomeStatement.expenses)).toEqual(moved('expense'))
      const standing = (type: string) => of(type).map(({ code, balance: now }) => [code, now])
      expect(amounts(balanceSheet.assets)).toEqual(standing('asset'))
      expect(amounts(balanceSheet.liabilities)).toEqual(standing('liability'))
      expect(amounts(balanceSheet.equity)).toEqual(standing('equity'))
      const { totalAssets, totalLiabilities, totalEquity, accumulatedResult } = balanceSheet
      expect(totalAssets).toBe(totalLiabilities + totalEquity + accumulatedResult)
      result += incomeStatement.result
      expect(accumulatedResult).toBe(result)
    }
    expect(result).not.toBe(0n)
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

  it.each(MONTHS)('comes to the result and the sums of our statements of %s', async (month) => {
    const [{ currency, incomeStatement, balanceSheet }] = (
      await getBooks(book.service.deps, book.caller, { from: `${month}-01`, to: lastDayOf(`${month}-01`) })
    ).currencies as [BooksOfCurrency]
    const upTo = (last: number) => files.slice(0, last).join('\n')
    const index = MONTHS.indexOf(month)
    const credits = (journal: string, ...accounts: string[]) => (journal === '' ? 0n : -sumByHledger(journal, accounts))
    const of = (...accounts: string[]) => credits(upTo(index + 1), ...accounts)
    expect(of('income', 'expenses') - credits(upTo(index), 'income', 'expenses')).toBe(incomeStatement.result)
    expect(-of('assets')).toBe(balanceSheet.totalAssets)
    expect(of('liabilities', 'equity')).toBe(balanceSheet.totalLiabilities + balanceSheet.totalEquity)
    expect(of('income', 'expenses')).toBe(balanceSheet.accumulatedResult)
    expect(currency.code).toBe('TZS')
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
