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

/** Returns a function that returns the cell of a field by its name. */
const cellIn = (table: readonly Rule[], cells: readonly string[]) => (name: string) =>
  cells[table.findIndex(([one]) => one === name)]!

/** Returns what is wrong with a Kenyan row: by the table, and by what its figures have to do with each other. */
export function kenyanFaults(row: string): string[] {
  const cells = cellsOf(row)
  const faults = faultsOf(KENYA_ROW, cells)
  if (faults.length > 0) return faults
  const of = cellIn(KENYA_ROW, cells)
  if (of('PrudentialRiskClassification') !== kenyanClass(Number(of('DaysInArrears'))))
    faults.push('the class is another')
  if (Number(of('OverdueBalance')) > Number(of('CurrentBalance'))) faults.push('more is overdue than owed')
  if (of('AccountStatus') === 'A' && of('CurrentBalance') !== '0') faults.push('closed, and something is owed')
  if (Number(of('DaysInArrears')) > 0 !== Number(of('OverdueBalance')) > 0) faults.push('days without arrears')
  return faults
}

const CODE = /^\d$/
const RATE = /^\d{1,6}\.\d{2}$/
const upTo = (longest: number) => new RegExp(`^[^|]{1,${longest}}$`)
const digits = (longest: number) => new RegExp(`^\\d{1,${longest}}$`)
const AMOUNT = digits(21)
const isOverdue = (cells: Cells) => Number(cells.Balance_Overdue) > 0
const isPaid = (cells: Cells) => cells.Last_Payment_Date !== ''
/** A flag of 0 says that the credit is restructured. */
const isRestructured = (cells: Cells) => cells.Flag_for_Restructured_Credit === '0'
/** 3 is written off, and 4 fully paid. */
const isEnded = (cells: Cells) => /^[34]$/.test(cells.Credit_Account_Status!)

/** Uganda, the file of borrower accounts (CBA): the fields of the account, which those of the person follow. */
const UGANDA_ACCOUNT: readonly Rule[] = [
  ['PI_Identification_Code', true, upTo(6)],
  ['Branch_Identification_Code', true, digits(3)],
  ['Borrowers_Client_Number', true, upTo(30)],
  ['Borrower_Classification', true, CODE],
  ['Credit_Account_Reference', true, upTo(30)],
  ['Credit_Account_Date', true, DAY],
  ['Credit_Amount', true, AMOUNT],
  ['Facility_Amount_Granted', true, AMOUNT],
  ['Credit_Account_Type', true, digits(2)],
  ['Group_Identification_Joint_Account_Number', false, upTo(30)],
  ['Transaction_Date', true, DAY],
  ['Currency', true, /^[A-Z]{3}$/],
  ['Opening_Balance_Indicator', true, CODE],
  ['Maturity_Date', true, DAY],
  ['Type_of_Interest', true, CODE],
  ['Interest_Calculation_Method', true, CODE],
  ['Annual_Interest_Rate_at_Disbursement', true, RATE],
  ['Annual_Interest_Rate_at_Reporting', true, RATE],
  ['Date_of_First_Payment', true, DAY],
  ['Credit_Amortization_Type', true, CODE],
  ['Credit_Payment_Frequency', true, digits(2)],
  ['Number_of_Payments', true, digits(4)],
  ['Monthly_Instalment_Amount', true, AMOUNT],
  ['Current_Balance_Amount', true, AMOUNT],
  ['Current_Balance_Indicator', true, CODE],
  ['Last_Payment_Date', false, DAY],
  ['Last_Payment_Amount', isPaid, AMOUNT],
  ['Credit_Account_Status', true, /^[1-6]$/],
  ['Last_Status_Change_Date', true, DAY],
  ['Credit_Account_Risk_Classification', true, /^[1-5]$/],
  ['Credit_Account_Arrears_Date', isOverdue, DAY],
  ['Number_of_Days_in_Arrears', isOverdue, digits(10)],
  ['Balance_Overdue', false, AMOUNT],
  ['Flag_for_Restructured_Credit', true, /^[01]$/],
  ['Old_Branch_Code', isRestructured, digits(3)],
  ['Old_Account_Number', isRestructured, upTo(30)],
  ['Old_Client_Number', false, upTo(30)],
  ['Balance_Overdue_Indicator', isOverdue, CODE],
  ['Credit_Account_Closure_Date', isEnded, DAY],
  ['Credit_Account_Closure_Reason', isEnded, CODE],
  ['Specific_Provision_Amount', false, AMOUNT],
  ['Client_Consent_Flag', true, /^[YN]$/],
  ['Client_Advice_Notice_Flag', true, /^[YN]$/],
  ['Term', true, digits(5)],
  ['Loan_Purpose', true, upTo(10)],
]
/** The fields of the person: identification, who it is, work, and the primary and the secondary address with their dialling codes. */
const UGANDA_PERSON = 18 + 13 + 7 + 26 + 26

/** Returns what is wrong with a row for Uganda: by the table, and by what its fields have to do with each other. */
export function ugandanFaults(row: string): string[] {
  const [mark, ...cells] = row.split('|')
  if (mark !== 'D') return [`the mark is ${mark}`]
  if (cells.length !== UGANDA_ACCOUNT.length + UGANDA_PERSON) return [`${cells.length} cells`]
  const account = cells.slice(0, UGANDA_ACCOUNT.length)
  const faults = faultsOf(UGANDA_ACCOUNT, account)
  if (faults.length > 0) return faults
  const of = cellIn(UGANDA_ACCOUNT, account)
  const [status, balance] = [of('Credit_Account_Status'), Number(of('Current_Balance_Amount'))]
  const overdue = Number(of('Balance_Overdue'))
  if (overdue > balance) faults.push('more is overdue than owed')
  if ((status === '1') !== overdue > 0) faults.push('the status is not that of the arrears')
  if ((status === '3' || status === '4') !== (balance === 0)) faults.push('the status is not that of the balance')
  if ((of('Credit_Account_Closure_Date') !== '') !== (balance === 0))
    faults.push('the closure is not that of the balance')
  if (of('Balance_Overdue') === '' && of('Number_of_Days_in_Arrears') !== '') faults.push('days without arrears')
  const days = Number(of('Number_of_Days_in_Arrears'))
  const edges = [30, 90, 180, 360]
  if (Number(of('Credit_Account_Risk_Classification')) !== 1 + edges.filter((edge) => days > edge).length)
    faults.push('the class is another')
  return faults
}

const DATE = /^(19|20)\d{2}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
const MONEY = /^\d{1,15}\.\d{2}$/
const COUNT = /^\d{1,5}$/
const CURRENCY = /^[A-Z]{3}$/
const isClassed = (cells: Cells) => cells.class !== ''

/** Creditinfo, the general batch: a contract and its individual in one row. */
const CREDITINFO_ROW: readonly Rule[] = [
  ['SubscriberCode', true, ANY],
  ['ReportingDate', true, DATE],
  ['ContractCode', true, ANY],
  ['CustomerCode', true, ANY],
  ['Branch', true, ANY],
  ['ContractStatus', true, /^(GrantedAndActivated|GrantedAndActivatedPastDue|SettledOnTime|WrittenOff|Rescheduled)$/],
  ['TypeOfContract', true, ANY],
  ['CreditClassification', true, /^(Current|EspeciallyMentioned|Substandard|Doubtful|Loss)$/],
  ['PurposeOfFinancing', true, ANY],
  ['CurrencyOfContract', true, CURRENCY],
  ['MethodOfPayment', true, ANY],
  ['TotalAmount', true, MONEY],
  ['InstallmentAmount', true, MONEY],
  ['NumberOfInstallments', true, COUNT],
  ['OutstandingAmount', true, MONEY],
  ['PastDueAmount', true, MONEY],
  ['PastDueDays', true, COUNT],
  ['NumberOfDueInstallments', true, COUNT],
  ['DateOfLastPayment', false, DATE],
  ['PaymentPeriodicity', true, ANY],
  ['StartDate', true, DATE],
  ['RestructuringDate', false, DATE],
  ['ExpectedEndDate', true, DATE],
  ['RealEndDate', false, DATE],
  ['Consented', true, /^(true|false)$/],
  ['Surname', true, ANY],
  ['FirstName', true, ANY],
  ['MiddleNames', false, ANY],
  ['FullName', true, ANY],
  ['Gender', true, /^(Female|Male|NotSpecified)$/],
  ['DateOfBirth', true, DATE],
  ['Nationality', false, /^[A-Z]{2}$/],
  ['NationalId', false, ANY],
  ['Passport', false, ANY],
  ['DrivingLicence', false, ANY],
  ['MainAddressLine', false, ANY],
  ['CellularPhone', false, /^\+\d{8,15}$/],
  ['Email', false, /^[^@]+@[^@]+$/],
  ['MaritalStatus', false, ANY],
  ['EmployerName', false, ANY],
]

/** The Tanzanian classes, and the last of the days past due of each but the last. */
const TANZANIAN = ['Current', 'EspeciallyMentioned', 'Substandard', 'Doubtful', 'Loss']
const TANZANIAN_DAYS = [5, 30, 60, 90]

/** Returns the faults of a row for Creditinfo: by the table, and by what its fields have to do with each other. */
export function creditinfoFaults(row: string): string[] {
  const cells = cellsOf(row)
  const faults = faultsOf(CREDITINFO_ROW, cells)
  if (faults.length > 0) return faults
  const of = cellIn(CREDITINFO_ROW, cells)
  const [owed, late, days] = ['OutstandingAmount', 'PastDueAmount', 'PastDueDays'].map((name) => Number(of(name)))
  const hasEnded = ['SettledOnTime', 'WrittenOff'].includes(of('ContractStatus'))
  if (late! > owed!) faults.push('more is past due than owed')
  if (days! > 0 !== late! > 0) faults.push('days without an amount past due')
  if (late! > 0 && of('ContractStatus') === 'GrantedAndActivated') faults.push('the status is not that of the arrears')
  if (late === 0 && of('ContractStatus') === 'GrantedAndActivatedPastDue') faults.push('past due, and nothing is late')
  if (hasEnded !== (owed === 0)) faults.push('the status is not that of the balance')
  if (hasEnded !== (of('RealEndDate') !== '')) faults.push('the end is not that of the status')
  if (of('CreditClassification') !== TANZANIAN[TANZANIAN_DAYS.filter((edge) => days! > edge).length])
    faults.push('the class is another')
  for (const name of ['StartDate', 'DateOfLastPayment', 'RealEndDate'])
    if (of(name) > of('ReportingDate')) faults.push(`${name} is after the day of the report`)
  if (!of('FullName').includes(of('Surname'))) faults.push('the full name is of somebody else')
  return faults
}

/** The return of the portfolio, by the guide of exports. */
const PORTFOLIO_ROW: readonly Rule[] = [
  ['reportingDate', true, DATE],
  ['loanId', true, /^\d{1,20}$/],
  ['customerId', true, /^\d{1,20}$/],
  ['productId', false, COUNT],
  ['product', false, ANY],
  ['currency', true, CURRENCY],
  ['disbursedOn', true, DATE],
  ['maturesOn', true, DATE],
  ['instalments', true, COUNT],
  ['annualRatePercent', false, /^\d{1,6}(\.\d+)?$/],
  ['principal', true, MONEY],
  ['outstanding', true, MONEY],
  ['principalOutstanding', true, MONEY],
  ['interestOutstanding', true, MONEY],
  ['feesOutstanding', true, MONEY],
  ['penaltyOutstanding', true, MONEY],
  ['overdue', true, MONEY],
  ['daysPastDue', true, COUNT],
  ['bucket', false, ANY],
  ['class', false, ANY],
  ['stage', false, /^[123]$/],
  ['provision', isClassed, MONEY],
  ['status', true, /^(current|in arrears|paid off|written off|charged off)$/],
  ['statusOn', true, DATE],
  ['restructuredOn', false, DATE],
  ['lastPaidOn', false, DATE],
  ['writtenOff', true, MONEY],
]

/** Returns the faults of a row of the return of the portfolio: by the table, and by what its figures have to do with each other. */
export function portfolioFaults(row: string): string[] {
  const cells = cellsOf(row)
  const faults = faultsOf(PORTFOLIO_ROW, cells)
  if (faults.length > 0) return faults
  const of = cellIn(PORTFOLIO_ROW, cells)
  const inCents = (name: string) => BigInt(of(name).replace('.', ''))
  const parts = ['principalOutstanding', 'interestOutstanding', 'feesOutstanding', 'penaltyOutstanding']
  const owed = inCents('outstanding')
  if (parts.reduce((sum, part) => sum + inCents(part), 0n) !== owed) faults.push('the parts are not the whole')
  if (inCents('overdue') > owed) faults.push('more is overdue than owed')
  if (inCents('provision') > owed) faults.push('more is provided for than owed')
  if (inCents('principal') < inCents('principalOutstanding')) faults.push('more principal is owed than was lent')
  if (Number(of('daysPastDue')) > 0 !== inCents('overdue') > 0n) faults.push('days without arrears')
  if (['paid off', 'written off'].includes(of('status')) !== (owed === 0n))
    faults.push('the status is not the balance’s')
  if ((of('status') === 'in arrears') !== inCents('overdue') > 0n) faults.push('the status is not that of the arrears')
  if (inCents('writtenOff') > 0n !== (of('status') === 'written off')) faults.push('written off by its amount alone')
  for (const name of ['disbursedOn', 'statusOn', 'lastPaidOn', 'restructuredOn'])
    if (of(name) > of('reportingDate')) faults.push(`${name} is after the day of the report`)
  return faults
}
