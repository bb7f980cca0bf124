import type { TimeFormat } from './adapters/adapter.ts'

/** How the CSV of a provider says what moved: the names of its columns. */
export interface CsvLayout {
  readonly receipt: string
  readonly at: string
  readonly times: readonly TimeFormat[]
  /** One column with a sign, or one of money that came in and one of money that went out. */
  readonly amount: string | { readonly in: string; readonly out: string }
  readonly reference?: string
  /** The receipt that a line takes back. */
  readonly reverses?: string
  /** Only lines whose column has the word count. */
  readonly only?: { readonly column: string; readonly is: string }
}

const TIMES = ['yyyy-MM-dd HH:mm:ss', 'dd-MM-yyyy HH:mm:ss', 'dd.MM.yyyy HH:mm:ss', 'RFC 3339'] as const

/** The layouts of CSV statements, by name. */
export const CSV_LAYOUTS = {
  plain: { receipt: 'receipt', at: 'at', times: TIMES, amount: 'amount', reference: 'reference', reverses: 'reverses' },
  daraja_organization: {
    receipt: 'Receipt No.',
    at: 'Completion Time',
    times: TIMES,
    amount: { in: 'Paid In', out: 'Withdrawn' },
    reference: 'A/C No.',
    reverses: 'Linked Transaction ID',
    only: { column: 'Transaction Status', is: 'Completed' },
  },
} as const satisfies Readonly<Record<string, CsvLayout>>

/** The layouts of statements: those of CSV, and camt.053 of ISO 20022. */
export const STATEMENT_LAYOUTS = ['plain', 'daraja_organization', 'camt053'] as const

export type StatementLayout = (typeof STATEMENT_LAYOUTS)[number]
