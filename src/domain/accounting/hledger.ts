import type { LocalDate } from '../dates.ts'
import { type Currency, currencyOf, minorToText } from '../money.ts'
import type { AccountType, LedgerAccount } from './chart.ts'
import { accountsAsOf, type Charts, chartOn } from './chartsInForce.ts'
import type { Line } from './lines.ts'
import { lastDayOf, monthOf } from './months.ts'
import type { Turnover, Turnovers } from './trialBalance.ts'

/** A month of the journal as a file of hledger: what is true of it before its postings are read. */
export interface Ledger {
  readonly organizationId: number
  readonly firstDay: LocalDate
  readonly charts: Charts
  /** What was posted before the month, and up to its end. */
  readonly opening: Turnovers
  readonly closing: Turnovers
}

/** A posting as a file of hledger has it. */
export interface LedgerPosting {
  readonly id: bigint
  readonly sequence: bigint
  readonly loanId: bigint | null
  readonly transactionId: bigint | null
  readonly paymentId: bigint | null
  readonly kind: string
  readonly bookedOn: LocalDate
  readonly valueDate: LocalDate
  readonly currency: Currency
  readonly lines: readonly Line[]
}

const TOP: Readonly<Record<AccountType, string>> = {
  asset: 'assets',
  liability: 'liabilities',
  equity: 'equity',
  income: 'income',
  expense: 'expenses',
}

/** What hledger would take for a part of its syntax within the name of an account, and what is no character of a name. */
const MISREAD = /[:;|"()[\]{}<>*!=@]|\p{C}|[\p{Zl}\p{Zp}]/gu

/** Returns the name of an account in hledger: `assets:1000 Cash and mobile money`. */
export function ledgerName({ code, name, type }: LedgerAccount): string {
  const plain = name.replace(MISREAD, ' ').replace(/\s+/g, ' ').trim()
  return `${TOP[type]}:${code}${plain === '' ? '' : ` ${plain}`}`
}

/** Returns the function from the code of an account to its name in the file of a month. */
export function ledgerNames({ charts, firstDay }: Pick<Ledger, 'charts' | 'firstDay'>): (code: string) => string {
  const accounts = accountsAsOf(charts, lastDayOf(firstDay))
  return (code) => ledgerName(accounts.get(code) ?? { code, name: '', type: 'asset' })
}

/**
 * Returns the names that an account had in charts before the one in force at the end of the month, without the one that it
 * has. A later chart changes nothing in the file of a closed month.
 */
function earlierNames({ charts, firstDay }: Ledger, code: string): string[] {
  const now = ledgerNames({ charts, firstDay })(code)
  const { version } = chartOn(charts, lastDayOf(firstDay))
  const upToNow = charts.filter((one) => one.version <= version)
  const names = upToNow.flatMap(({ chart }) => chart.accounts.filter((one) => one.code === code).map(ledgerName))
  return [...new Set(names)].filter((name) => name !== now)
}

/** Writes an amount with its currency: `-1234.50 KES`. */
const amountText = (amount: bigint, currency: Currency) => `${minorToText(amount, currency)} ${currency.code}`

const netOf = ({ debit, credit }: Turnover): bigint => debit - credit

const entry = (name: string, amount: string) => `    ${name}  ${amount}\n`

/**
 * Writes the beginning of the file: currencies, accounts, and the balances with which the month opens. The opening
 * assigns balances: where the files of the months before are read, too, it adds nothing.
 */
export function ledgerHead(ledger: Ledger, currencies: readonly string[]): string {
  const { organizationId, firstDay, charts, opening, closing } = ledger
  const nameOf = ledgerNames(ledger)
  const inForce = chartOn(charts, lastDayOf(firstDay)).chart.accounts.map(({ code }) => code)
  const codes = [...new Set([...inForce, ...codesIn(closing)])].toSorted()
  const earlier = [...codesIn(opening)].flatMap((code) => earlierNames(ledger, code))
  const names = [...new Set([...codes.map(nameOf), ...earlier])]
  const commodity = (code: string) => {
    const { decimals } = currencyOf(code)
    return `commodity 1000.${'0'.repeat(decimals)} ${code}\n`
  }
  const balances = [...opening].toSorted(byFirst).map(([code, accounts]) => openingOf(ledger, code, accounts))
  return [
    `; The journal of ${monthOf(firstDay)}, organization ${organizationId}\n`,
    'decimal-mark .\n',
    ...currencies.map(commodity),
    ...names.map((name) => `account ${name}\n`),
    ...balances,
  ].join('')
}

function openingOf(ledger: Ledger, code: string, accounts: ReadonlyMap<string, Turnover>): string {
  const currency = currencyOf(code)
  const nameOf = ledgerNames(ledger)
  const entries = [...accounts]
    .toSorted(byFirst)
    .flatMap(([account, turnover]) => [
      ...earlierNames(ledger, account).map((name) => entry(name, `= ${amountText(0n, currency)}`)),
      entry(nameOf(account), `= ${amountText(netOf(turnover), currency)}`),
    ])
  return `\n${ledger.firstDay} opening balances\n${entries.join('')}`
}

/** Writes a posting as a transaction on its booked day. */
export function ledgerTransaction(posting: LedgerPosting, nameOf: (code: string) => string): string {
  const { id, sequence, loanId, transactionId, paymentId, kind, bookedOn, valueDate, currency, lines } = posting
  const tags = [
    ...(loanId === null ? [] : [`loan:${loanId}`]),
    ...(transactionId === null ? [] : [`transaction:${transactionId}`]),
    ...(paymentId === null ? [] : [`payment:${paymentId}`]),
    `sequence:${sequence}`,
    `valueDate:${valueDate}`,
  ]
  const entries = lines.map(({ account, debit, credit }) =>
    entry(nameOf(account), amountText(debit - credit, currency)),
  )
  return `\n${bookedOn} (${id}) ${kind}  ; ${tags.join(', ')}\n${entries.join('')}`
}

/** Control totals of a month in one currency: all that was posted in it, minor units. */
export interface ControlTotal extends Turnover {
  readonly currency: string
}

/** Returns the control totals of a month by currency: the sums of all accounts at its end less those before it. */
export function controlTotals(opening: Turnovers, closing: Turnovers): ControlTotal[] {
  const sum = (turnovers: Turnovers, currency: string, side: keyof Turnover) =>
    [...(turnovers.get(currency)?.values() ?? [])].reduce((total, turnover) => total + turnover[side], 0n)
  const inMonth = (currency: string, side: keyof Turnover) =>
    sum(closing, currency, side) - sum(opening, currency, side)
  return [...closing.keys()].toSorted().map((currency) => {
    return { currency, debit: inMonth(currency, 'debit'), credit: inMonth(currency, 'credit') }
  })
}

/** Writes the end of the file: the control totals, and for each account the balance that hledger has to come to. */
export function ledgerEnd(ledger: Ledger, postings: number, totals: readonly ControlTotal[]): string {
  const nameOf = ledgerNames(ledger)
  const checks = [...ledger.closing].toSorted(byFirst).map(([code, accounts]) => {
    const currency = currencyOf(code)
    const zero = amountText(0n, currency)
    const entries = [...accounts].toSorted(byFirst).map(([account, turnover]) => {
      return entry(nameOf(account), `${zero} = ${amountText(netOf(turnover), currency)}`)
    })
    return `\n${lastDayOf(ledger.firstDay)} closing balances\n${entries.join('')}`
  })
  const comments = totals.map(({ currency: code, debit, credit }) => {
    const text = (amount: bigint) => amountText(amount, currencyOf(code))
    return `; debit ${text(debit)}, credit ${text(credit)}\n`
  })
  return [...checks, '\n; control totals\n', `; postings ${postings}\n`, ...comments].join('')
}

const codesIn = (turnovers: Turnovers): Set<string> =>
  new Set([...turnovers.values()].flatMap((accounts) => [...accounts.keys()]))

const byFirst = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : Number(a > b))
