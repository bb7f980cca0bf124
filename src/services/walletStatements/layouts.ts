/** The roles of columns in the table of transactions. */
export type Role =
  | 'date'
  | 'reference'
  | 'details'
  | 'status'
  | 'in'
  | 'out'
  /** One amount for both ways: signed, or with its sign in `direction`. */
  | 'amount'
  | 'direction'
  | 'fee'
  | 'balance'
  | 'unread'

/** A column: its role, and how its title is written. */
export interface Column {
  readonly role: Role
  readonly title: RegExp
  readonly optional?: true
}

/** The form of a date at the beginning of a text; a time may follow. */
export type DateForm =
  | 'yyyy-MM-dd'
  | 'dd-MM-yyyy'
  | 'dd/MM/yyyy'
  | 'dd-MM-yy'
  | 'dd MMM yyyy'
  | 'dd-MMM-yyyy'
  | 'dd-MMM-yy'

/** The layout of one issuer's statements. A new issuer is a new entry of the table, and no code. */
export interface Layout {
  readonly id: string
  /** The name that people use. */
  readonly name: string
  /** A line above the table that no other issuer's statement has. */
  readonly mark: RegExp
  /** Labelled lines above the table; the label and its value may be one cell or two. */
  readonly owner: RegExp
  /** Null where such statements have no phone number. */
  readonly phone: RegExp | null
  /** Two groups: the first day and the last. */
  readonly period: RegExp
  /** The currency's code or sign, where the statement has it. */
  readonly currency: RegExp | null
  readonly dates: readonly DateForm[]
  /** From left to right. */
  readonly columns: readonly Column[]
  /** The status of a line that moved money; null where every line did. */
  readonly done: RegExp | null
  /** The direction of money that came in. */
  readonly incoming: RegExp | null
  readonly newestFirst: boolean
  /** The statement's own balances, anywhere on it. */
  readonly opening: RegExp | null
  readonly closing: RegExp | null
  /** Two groups: paid in, and paid out with its fees. */
  readonly totals: RegExp | null
  /** A line of the table that repeats a balance and moves nothing. */
  readonly carried: RegExp | null
  /** Lines of the page, not of the table, that begin like a transaction. */
  readonly furniture: RegExp | null
  /** Money that came in and is not income: loans, overdrafts, own savings, reversed payments. */
  readonly notIncome: RegExp
}

const PERIOD = /^(?:statement |date )?period:? (.+?) (?:-|–|to) (.+)$/i
const OPENING = /^opening balance:? (.+)$/i
const CLOSING = /^closing balance:? (.+)$/i

/**
 * The layouts that are recognised, modelled on statements of wallets and banks of the region. The first that fits is
 * used, so the plain bank statement, whose titles are common, comes last.
 */
export const LAYOUTS: readonly Layout[] = [
  {
    id: 'mpesa',
    name: 'M-Pesa',
    mark: /^m-?pesa\b.*\bstatement\b/i,
    owner: /^customer name:? (.+)$/i,
    phone: /^mobile (?:number|no\.?):? (.+)$/i,
    period: PERIOD,
    currency: null,
    dates: ['yyyy-MM-dd', 'dd MMM yyyy'],
    columns: [
      { role: 'reference', title: /^receipt no/i },
      { role: 'date', title: /^completion time$/i },
      { role: 'details', title: /^details$/i },
      { role: 'status', title: /^(?:transaction )?status$/i },
      { role: 'in', title: /^paid in$/i },
      { role: 'out', title: /^(?:withdrawn|paid out)$/i },
      { role: 'balance', title: /^balance$/i },
    ],
    done: /^completed/i,
    incoming: null,
    newestFirst: true,
    opening: null,
    closing: null,
    totals: /^total:? ([\d,.]+) (-?[\d,.]+)$/i,
    carried: null,
    furniture: null,
    notIncome: /\b(?:loan|overdraft|fuliza|songesha|m-?shwari|kcb m-?pesa|m-?pawa|reversal|reversed)\b/i,
  },
  {
    id: 'airtel',
    name: 'Airtel Money',
    mark: /^airtel money\b.*\bstatement\b/i,
    owner: /^(?:customer )?name:? (.+)$/i,
    phone: /^(?:mobile|phone) (?:number|no\.?):? (.+)$/i,
    period: PERIOD,
    currency: /^opening balance:? ([A-Z]{2,3}h?)/i,
    dates: ['dd-MM-yy', 'dd-MMM-yyyy', 'dd-MMM-yy'],
    columns: [
      { role: 'reference', title: /^transaction id$/i },
      { role: 'date', title: /^(?:transaction )?date (?:&|and) time$/i },
      { role: 'details', title: /^description$/i },
      { role: 'status', title: /^(?:transaction )?status$/i },
      { role: 'amount', title: /^(?:transaction )?amount$/i },
      { role: 'direction', title: /^credit\s?\/\s?debit$/i },
      { role: 'fee', title: /^fee$/i },
      { role: 'balance', title: /^balance$/i },
    ],
    done: /success/i,
    incoming: /^cr/i,
    newestFirst: false,
    opening: OPENING,
    closing: CLOSING,
    totals: null,
    carried: null,
    furniture: null,
    notIncome: /\b(?:loan|timiza|mkopo|reversal|reversed|refund)\b/i,
  },
  {
    id: 'yas',
    name: 'Mixx by Yas (Tigo Pesa)',
    mark: /^(?:mixx by yas|tigo ?pesa)\b.*\bstatement\b/i,
    owner: /^account holder:? (.+)$/i,
    phone: /^msisdn:? (.+)$/i,
    period: /^from:? (.+?) to:? (.+)$/i,
    currency: /^amounts in (.+)$/i,
    dates: ['dd/MM/yyyy'],
    columns: [
      { role: 'date', title: /^date$/i },
      { role: 'reference', title: /^transaction id$/i },
      { role: 'details', title: /^type$/i },
      { role: 'unread', title: /^other party$/i, optional: true },
      { role: 'amount', title: /^amount$/i },
      { role: 'fee', title: /^charges?$/i },
      { role: 'balance', title: /^balance$/i },
    ],
    done: null,
    incoming: null,
    newestFirst: true,
    opening: OPENING,
    closing: CLOSING,
    totals: null,
    carried: null,
    furniture: null,
    notIncome: /\b(?:loan|nivushe|bustisha|mkopo|reversal|reversed|refund)\b/i,
  },
  {
    id: 'bank',
    name: 'bank',
    mark: /^(?:account statement|statement of account|bank statement)\b/i,
    owner: /^account (?:name|holder|title):? (.+)$/i,
    phone: null,
    period: PERIOD,
    currency: /^currency:? (.+)$/i,
    dates: ['dd/MM/yyyy', 'dd-MM-yyyy', 'dd MMM yyyy', 'dd-MMM-yyyy', 'dd-MMM-yy', 'yyyy-MM-dd'],
    columns: [
      { role: 'date', title: /^(?:(?:posting|transaction|trans\.?|txn) )?date$/i },
      { role: 'unread', title: /^value date$/i, optional: true },
      { role: 'reference', title: /^(?:reference|ref\.?(?: no\.?)?|cheque no\.?)$/i, optional: true },
      { role: 'details', title: /^(?:details|description|narration|particulars)$/i },
      { role: 'out', title: /^(?:debits?|withdrawals?|money out|paid out)$/i },
      { role: 'in', title: /^(?:credits?|deposits?|money in|paid in)$/i },
      { role: 'balance', title: /^(?:running |book )?balance$/i },
    ],
    done: null,
    incoming: null,
    newestFirst: false,
    opening: OPENING,
    closing: CLOSING,
    totals: null,
    carried: /^(?:opening balance|closing balance|balance (?:b\/f|c\/f|brought forward|carried forward))/i,
    furniture: /\bpage \d+ of \d+\b/i,
    notIncome: /\b(?:loan|disbursement|overdraft|reversal|reversed|own account|returned)\b/i,
  },
]
