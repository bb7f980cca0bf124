import { type Currency, currencyOf, minorToText, rateToNumber } from '../../domain/money.ts'
import { AT_RISK_DAYS, type Sums, shareOf } from '../../domain/portfolio/cells.ts'
import type { Moved, RollRates, RollRow } from '../../domain/portfolio/rolls.ts'
import { type Column, csvFile, othersText } from '../csv.ts'
import type { LateLoan } from './arrears.ts'
import type { PortfolioAtRisk, PortfolioTime, RollAnswer } from './portfolio.ts'
import type { Provisions } from './provisions.ts'

const AT_RISK_COLUMNS = AT_RISK_DAYS.flatMap(
  (days, place): Column<{ sums: Sums | undefined; currency: Currency }>[] => [
    [`par${days}`, ({ sums, currency }) => sums && minorToText(sums.atRisk[place]!, currency)],
    [`par${days}Percent`, ({ sums }) => sums && shareOf(sums.atRisk[place]!, sums.principal)],
  ],
)

/** Writes a portfolio at risk: a row for each bucket, and one for all buckets of a group, with what is at risk. */
export function portfolioCsv({ asOf, groups }: PortfolioAtRisk): string {
  const rows = groups.flatMap(({ currency: code, productId, month, isRestructured, officerId, total, buckets }) => {
    const key = { code, currency: currencyOf(code), productId: productId ?? null, month, isRestructured, officerId }
    return [
      ...buckets.map(({ bucket, ...sums }) => ({
        ...key,
        row: 'bucket',
        bucket: bucket.name,
        of: sums,
        sums: undefined,
      })),
      { ...key, row: 'total', bucket: null, of: total, sums: total },
    ]
  })
  return csvFile<(typeof rows)[number]>(
    [
      ['asOf', () => asOf],
      ['currencyCode', ({ code }) => code],
      ['productId', ({ productId }) => productId],
      ['month', ({ month }) => month],
      ['restructured', ({ isRestructured }) => isRestructured?.toString()],
      ['officerId', ({ officerId }) => officerId],
      ['row', ({ row }) => row],
      ['bucket', ({ bucket }) => othersText(bucket)],
      ['loans', ({ of }) => of.loans],
      ['principalOutstanding', ({ of, currency }) => minorToText(of.principal, currency)],
      ...AT_RISK_COLUMNS,
    ],
    rows,
  )
}

/** Writes provisions: a row for each bucket, and one for all buckets of a product, with what is booked. */
export function provisionsCsv({ asOf, groups }: Provisions): string {
  const rows = groups.flatMap(({ currency: code, productId, total, booked, buckets }) => {
    const key = { code, currency: currencyOf(code), productId }
    return [
      ...buckets.map(({ bucket, ...of }) => ({ ...key, row: 'bucket', bucket, of, booked: undefined })),
      { ...key, row: 'total', bucket: undefined, of: total, booked },
    ]
  })
  const rateOf = (rate: bigint | null | undefined) => (rate === null || rate === undefined ? null : rateToNumber(rate))
  return csvFile<(typeof rows)[number]>(
    [
      ['asOf', () => asOf],
      ['currencyCode', ({ code }) => code],
      ['productId', ({ productId }) => productId],
      ['row', ({ row }) => row],
      ['bucket', ({ bucket }) => bucket && othersText(bucket.name)],
      ['provisionRate', ({ bucket }) => rateOf(bucket?.provisionRate)],
      ['loans', ({ of }) => of.loans],
      ['principalOutstanding', ({ of, currency }) => minorToText(of.principal, currency)],
      ['provision', ({ of, currency }) => minorToText(of.provision, currency)],
      ['booked', ({ booked, currency }) => (booked === undefined ? null : minorToText(booked, currency))],
      [
        'difference',
        ({ of, booked, currency }) => (booked === undefined ? null : minorToText(of.provision - booked, currency)),
      ],
    ],
    rows,
  )
}

interface RollCell extends Moved {
  readonly currency: Currency
  readonly from: string
  readonly to: string
}

const cellsOf = (row: RollRow, from: string, currency: Currency): RollCell[] => [
  ...row.to.map(({ bucket, ...moved }) => ({ ...moved, currency, from, to: bucket.name })),
  { ...row.closed, currency, from, to: 'closed' },
  { ...row.writtenOff, currency, from, to: 'written off' },
]

/** Returns the moves of a currency, one for each pair of places. */
export const rollCells = ({ currency: code, from, lent, reopened }: RollRates): RollCell[] => {
  const currency = currencyOf(code)
  return [
    ...from.flatMap(({ bucket, ...row }) => cellsOf(row, bucket.name, currency)),
    ...cellsOf(lent, 'lent', currency),
    ...cellsOf(reopened, 'reopened', currency),
  ]
}

/** Writes how loans moved between the buckets: a row for each pair of places. */
export const rollsCsv = ({ from: first, to: last, rates }: RollAnswer): string =>
  csvFile<RollCell>(
    [
      ['firstDay', () => first],
      ['lastDay', () => last],
      ['currencyCode', ({ currency }) => currency.code],
      ['from', ({ from }) => othersText(from)],
      ['to', ({ to }) => othersText(to)],
      ['loans', ({ loans }) => loans],
      ['principal', ({ principal, currency }) => minorToText(principal, currency)],
    ],
    rates.flatMap(rollCells),
  )

/** Writes overdue loans. */
export const arrearsCsv = (loans: readonly LateLoan[]): string =>
  csvFile<LateLoan>(
    [
      ['loanId', ({ id }) => othersText(id)],
      ['externalId', ({ externalId }) => othersText(externalId)],
      ['customerId', ({ customerId }) => othersText(customerId)],
      ['customerExternalId', ({ customerExternalId }) => othersText(customerExternalId)],
      ['customerName', ({ customerName }) => othersText(customerName)],
      ['phone', ({ phone }) => othersText(phone)],
      ['productId', ({ productId }) => productId],
      ['productName', ({ productName }) => othersText(productName)],
      ['currencyCode', ({ currency }) => currency.code],
      ['oldestUnpaidDueDate', ({ dueOn }) => dueOn],
      ['daysPastDue', ({ daysPastDue }) => daysPastDue],
      ['bucket', ({ bucket }) => othersText(bucket.name)],
      ['overdue', ({ overdue, currency }) => minorToText(overdue, currency)],
      ['principalOutstanding', ({ principal, currency }) => minorToText(principal, currency)],
      ['lastPaymentDate', ({ lastPaidOn }) => lastPaidOn],
    ],
    loans,
  )

/** Writes the kept days of a portfolio: a row for each day and currency. */
export function portfolioTimeCsv({ days }: PortfolioTime): string {
  const rows = days.flatMap(({ day, isRight, groups }) =>
    groups.map(({ currency, total }) => ({ day, isRight, currency: currencyOf(currency), sums: total })),
  )
  return csvFile<(typeof rows)[number]>(
    [
      ['day', ({ day }) => day],
      ['currencyCode', ({ currency }) => currency.code],
      ['loans', ({ sums }) => sums.loans],
      ['principalOutstanding', ({ sums, currency }) => minorToText(sums.principal, currency)],
      ...AT_RISK_COLUMNS,
      ['changedSince', ({ isRight }) => String(!isRight)],
    ],
    rows,
  )
}
