import type { TrialBalance } from '../../domain/accounting/trialBalance.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { type Currency, currencyOf, minorToText, rateToNumber } from '../../domain/money.ts'
import { AT_RISK_DAYS, shareOf } from '../../domain/portfolio/cells.ts'
import { incomeRows, type StatementRow, sheetRows } from '../accounting/csv.ts'
import { columnsNamed, csvFile, othersText } from '../csv.ts'
import { rollCells } from '../portfolio/csv.ts'
import type { Provisions } from '../portfolio/provisions.ts'
import type { MonthEnd } from './monthEnd.ts'

const COLUMNS = [
  ...(['month', 'section', 'row', 'currencyCode', 'productId', 'code', 'name', 'type', 'from', 'to'] as const),
  ...(['loans', 'debit', 'credit', 'amount', 'principal', 'provisionRate', 'provision', 'booked'] as const),
  ...(['difference', 'percent', 'value'] as const),
] as const

type Row = Partial<Record<(typeof COLUMNS)[number], string | number | null>>

/** Writes the pack of a month as one CSV file: the column `section` says of which part a row is. */
export function monthEndCsv(month: MonthEnd, zone: string): string {
  const rows: Row[] = [
    ...stateRows(month, zone),
    ...month.books.currencies.flatMap((books) => [
      ...trialBalanceRows(books.trialBalance, books.currency),
      ...incomeRows(books).map((row) => statementRow('income_statement', row, books.currency)),
      ...sheetRows(books).map((row) => statementRow('balance_sheet', row, books.currency)),
    ]),
    ...('refused' in month.provisions
      ? [{ section: 'provisions', row: 'refused', value: month.provisions.refused }]
      : month.provisions.value.groups.flatMap(provisionRows)),
    ...month.rolls.rates.flatMap(rollCells).map(
      ({ currency, from, to, loans, principal }): Row => ({
        section: 'roll_rates',
        row: 'roll',
        currencyCode: currency.code,
        from: othersText(from),
        to: othersText(to),
        loans,
        principal: minorToText(principal, currency),
      }),
    ),
    ...month.atRisk.groups.flatMap(({ currency: code, total }) =>
      AT_RISK_DAYS.map((days, place): Row => {
        const currency = currencyOf(code)
        return {
          section: 'portfolio_at_risk',
          row: `par${days}`,
          currencyCode: code,
          loans: total.loans,
          principal: minorToText(total.principal, currency),
          amount: minorToText(total.atRisk[place]!, currency),
          percent: shareOf(total.atRisk[place]!, total.principal),
        }
      }),
    ),
  ]
  return csvFile(
    columnsNamed(COLUMNS),
    rows.map((row) => ({ ...row, month: month.month })),
  )
}

function stateRows({ firstDay, end, readAt, period, against, books }: MonthEnd, zone: string): Row[] {
  const row = (name: string, value: string | null | undefined): Row => ({
    section: 'state',
    row: name,
    value: othersText(value ?? null),
  })
  return [
    row('from', firstDay),
    row('to', end),
    row('state', period?.state ?? 'not in the books'),
    row('against', against),
    row('closedAt', period?.closedAt == null ? null : toRfc3339(period.closedAt, zone)),
    row('trialBalanceHash', period?.trialBalanceHash),
    row('basis', books.basis),
    row('sequence', String(books.sequence)),
    row('readAt', toRfc3339(readAt, zone)),
  ]
}

function trialBalanceRows({ accounts, totalDebit, totalCredit }: TrialBalance, currency: Currency): Row[] {
  const text = (minor: bigint) => minorToText(minor, currency)
  const key = { section: 'trial_balance', currencyCode: currency.code }
  return [
    ...accounts.map(({ code, name, type, debit, credit, balance }) => ({
      ...key,
      row: 'account',
      code: othersText(code),
      name: othersText(name),
      type,
      debit: text(debit),
      credit: text(credit),
      amount: text(balance),
    })),
    { ...key, row: 'total', debit: text(totalDebit), credit: text(totalCredit) },
  ]
}

const statementRow = (section: string, { row, type, code, name, amount }: StatementRow, currency: Currency): Row => ({
  section,
  row,
  currencyCode: currency.code,
  code: othersText(code),
  name: othersText(name),
  type,
  amount: minorToText(amount, currency),
})

function provisionRows({ currency: code, productId, total, booked, buckets }: Provisions['groups'][number]): Row[] {
  const text = (minor: bigint) => minorToText(minor, currencyOf(code))
  const key = { section: 'provisions', currencyCode: code, productId }
  return [
    ...buckets.map(({ bucket, loans, principal, provision }) => ({
      ...key,
      row: 'bucket',
      name: othersText(bucket.name),
      loans,
      principal: text(principal),
      provisionRate: bucket.provisionRate === null ? null : rateToNumber(bucket.provisionRate),
      provision: text(provision),
    })),
    {
      ...key,
      row: 'total',
      loans: total.loans,
      principal: text(total.principal),
      provision: text(total.provision),
      booked: text(booked),
      difference: text(total.provision - booked),
    },
  ]
}
