// The field tables of the layouts, written from their papers and apart from the writer: what a validator of a bureau would ask.

/** A rule of a field by its place in the row. */
type Rule = readonly [name: string, isRequired: boolean | ((cells: Cells) => boolean), pattern: RegExp]

/** The cells of a row by the names of the fields. */
type Cells = Readonly<Record<string, string>>

const DAY = /^(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$/
const ANY = /^[^"]*$/
const CENTS = /^\d{1,18}$/
const isLate = (cells: Cells) => Number(cells.OverdueBalance) > 0

/** Kenya, Data Specification Template 4.1, mobile loans. */
export const KENYA_ROW: readonly Rule[] = [
  ['Surname', true, ANY],
  ['Forename1', true, ANY],
  ['Forename2', false, ANY],
  ['Forename3', false, ANY],
  ['TradingAs', false, ANY],
  ['DateOfBirth', true, DAY],
  ['ClientNumber', false, ANY],
  ['AccountNumber', true, /^.{1,20}$/],
  ['Gender', true, /^[MF]$/],
  ['Nationality', true, /^[A-Z]{2}$/],
  ['PrimaryIDocumentType', true, /^00[1-4]$/],
  ['PrimaryIDocumentNumber', true, ANY],
  ['MobilePhoneNumber', true, ANY],
  ['AccountProductType', true, /^I$/],
  ['InstalmentDueDate', true, DAY],
  ['OriginalAmount', true, CENTS],
  ['CurrencyOfFacility', true, /^[A-Z]{3}$/],
  ['CurrentBalanceInKES', true, CENTS],
  ['CurrentBalance', true, CENTS],
  ['OverdueBalance', true, CENTS],
  ['OverdueDate', isLate, DAY],
  ['DaysInArrears', true, /^\d{1,5}$/],
  ['InstalmentsInArrears', true, /^\d{1,4}$/],
  ['PrudentialRiskClassification', true, /^[A-E]$/],
  ['AccountStatus', true, /^[ACFGLP]$/],
  ['AccountStatusDate', true, DAY],
  ['RepaymentPeriod', true, /^\d{1,4}$/],
  ['DisbursementDate', false, DAY],
  ['InstalmentAmount', true, CENTS],
  ['LatestPaymentDate', false, DAY],
  ['LastPaymentAmount', true, CENTS],
]

/** Returns the class of days in arrears as the Kenyan rules have it. */
export function kenyanClass(days: number): string {
  if (days <= 30) return 'A'
  if (days <= 90) return 'B'
  if (days <= 180) return 'C'
  return days <= 360 ? 'D' : 'E'
}

/** Splits a row with quotes where they are needed. */
export function cellsOf(row: string, separator = ','): string[] {
  const cells: string[] = []
  let [cell, isQuoted] = ['', false]
  for (let at = 0; at < row.length; at++) {
    const character = row[at]!
    if (isQuoted && character === '"' && row[at + 1] === '"') {
      cell += '"'
      at++
    } else if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += character
  }
  return [...cells, cell]
}

/** Returns what is wrong with a row by a table. */
export function faultsOf(table: readonly Rule[], cells: readonly string[]): string[] {
  if (cells.length !== table.length) return [`${cells.length} cells in place of ${table.length}`]
  const named: Cells = Object.fromEntries(table.map(([name], place) => [name, cells[place]!]))
  return table.flatMap(([name, isRequired, pattern], place) => {
    const cell = cells[place]!
    const isNeeded = typeof isRequired === 'boolean' ? isRequired : isRequired(named)
    if (cell === '') return isNeeded ? [`${name} is missing`] : []
    return pattern.test(cell) ? [] : [`${name} is ${cell}`]
  })
}

/** Returns what is wrong with a Kenyan row: by the table, and by what its figures have to do with each other. */
export function kenyanFaults(row: string): string[] {
  const cells = cellsOf(row)
  const faults = faultsOf(KENYA_ROW, cells)
  if (faults.length > 0) return faults
  const of = (name: string) => cells[KENYA_ROW.findIndex(([one]) => one === name)]!
  if (of('PrudentialRiskClassification') !== kenyanClass(Number(of('DaysInArrears'))))
    faults.push('the class is another')
  if (Number(of('OverdueBalance')) > Number(of('CurrentBalance'))) faults.push('more is overdue than owed')
  if (of('AccountStatus') === 'A' && of('CurrentBalance') !== '0') faults.push('closed, and something is owed')
  if (Number(of('DaysInArrears')) > 0 !== Number(of('OverdueBalance')) > 0) faults.push('days without arrears')
  return faults
}
