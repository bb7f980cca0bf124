// Writes a book to import: `node bench/bookFiles.ts <folder> <loans> [by-date]`. The same numbers give the same files.
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const REPAYMENTS = 6
const DAY_MS = 86_400_000
const FIRST = Date.parse('2024-01-01T06:00:00Z')

/** How the lines of transactions stand: loan after loan, or day after day, as a cash book has them. */
export type Order = 'by loan' | 'by date'

/**
 * Customers with two loans each, of the demonstration's product 3 (six monthly instalments), and six repayments a loan:
 * in time, early, late, too small or too large.
 */
export async function writeBookFiles(folder: string, loans: number, order: Order = 'by loan'): Promise<void> {
  await mkdir(folder, { recursive: true })
  const write = (name: string, lines: Iterable<object>) =>
    pipeline(
      function* () {
        for (const line of lines) yield `${JSON.stringify(line)}\n`
      },
      createWriteStream(join(folder, `${name}.ndjson`)),
    )
  await write(
    'customers',
    range(Math.ceil(loans / 2), (index) => ({ externalId: `cust-${index}` })),
  )
  await write(
    'loans',
    range(loans, (index) => ({
      externalId: `loan-${index}`,
      customerId: `cust-${index >> 1}`,
      productId: 3,
      principal: principalOf(index),
      disbursedAt: new Date(disbursed(index)).toISOString(),
    })),
  )
  const count = loans * REPAYMENTS
  const at = (index: number): readonly [number, number] =>
    order === 'by loan'
      ? [Math.floor(index / REPAYMENTS), index % REPAYMENTS]
      : [index % loans, Math.floor(index / loans)]
  await write(
    'transactions',
    range(count, (index) => repayment(...at(index))),
  )
}

function repayment(loan: number, number: number) {
  const instalment = Math.round((principalOf(loan) * 1.3) / REPAYMENTS)
  // Every third loan is paid about in full, the next falls short, and the one after it is overpaid.
  const factor = [1, 1, 0.5, 1, 1.5, 1][(loan + number) % 6]! * [1, 0.8, 1.1][loan % 3]!
  const day = disbursed(loan) + (number + 1) * 30 * DAY_MS + ((loan * 7) % 11) * DAY_MS
  return {
    loanExternalId: `loan-${loan}`,
    transactionAmount: Math.round(instalment * factor),
    transactionDate: new Date(day).toISOString().slice(0, 10),
    idempotencyKey: `pay-${loan}-${number}`,
  }
}

const principalOf = (loan: number): number => 10_000 + ((loan * 7_919) % 90_000)
/** Within three months. */
const disbursed = (loan: number): number => FIRST + ((loan * 613) % 90) * DAY_MS

function* range<T>(count: number, make: (index: number) => T): Generator<T> {
  for (let index = 0; index < count; index++) yield make(index)
}

const [folder, loans = '100000', order] = process.argv.slice(2)
if (import.meta.main && folder !== undefined)
  await writeBookFiles(folder, Number(loans), order === 'by-date' ? 'by date' : 'by loan')
