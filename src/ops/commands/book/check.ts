import type { Command } from 'commander'
import { currencyOf, minorToText } from '../../../domain/money.ts'
import { type Checked, checkBook } from '../../../services/book/bookCheck.ts'
import { wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { type Printer, toTable } from '../../terminal/format.ts'
import type { Io, Progress } from '../../terminal/terminalIo.ts'

/** Facts that are proven when a check finds nothing. */
const PROVES = [
  "each loan's balances, status and instalments, and the sums of the book, are what its entries make of it",
  'currency, rate, principal, instalments, dates and penalty of a loan follow from its product, or from what the record system sent',
  'no entry is dated before disbursement or after the day it was posted, and each charge-off and write-off has the amount that was owed',
  'each loan, entry, reversal and customer is in the audit trail, once and with the same content, and nothing else is',
  'each Idempotency-Key names what is there, and no row refers to one that is not',
] as const

/** Facts that a check cannot prove. */
const DOES_NOT_PROVE = [
  'a change made in every place at once, in the book, the trail and the keys, so that all of them agree',
  'that money was paid: hold the entries against the statements of the bank or the wallet',
  'details of customers, accounts and signing keys; credit decisions (credit-decisions show makes each again)',
] as const

const listed = (lines: readonly string[]) => lines.map((line) => `  - ${line}`).join('\n')

export function checkCommand(book: Command, shell: Shell): void {
  book
    .command('check')
    .description('replay every loan, and hold figures, totals, terms, the audit trail and keys against it')
    .option('-o, --organization <id>', 'only this one; all when left out', wholeNumber)
    .addHelpText(
      'after',
      `\nReads one snapshot in bounded batches while the service is running. Exits with 1 and names what differs, if anything does.

Where nothing differs, this is proven:
${listed(PROVES)}
And this is not:
${listed(DOES_NOT_PROVE)}`,
    )
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ io, deps, printer }) => {
        const begun = performance.now()
        const checked = await withProgress(io, 'loans', (onProgress) =>
          checkBook(deps, { organizationId: options.organization, stopping: io.stopping, onProgress }),
        )
        printResult(printer, io, checked, (performance.now() - begun) / 1000)
        return checked.found > 0 || checked.stopped ? 1 : 0
      }),
    )
}

/** Shows a progress bar as soon as the total is known. */
async function withProgress<T>(
  io: Io,
  what: string,
  run: (onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  let bar: Progress | undefined
  try {
    return await run((done, total) => {
      bar ??= io.startProgress(what, total)
      bar.update(done)
    })
  } finally {
    bar?.stop()
  }
}

function printResult(printer: Printer, io: Io, checked: Checked, seconds: number): void {
  const totals = checked.totals.map((total) => {
    const money = (minor: bigint) => minorToText(minor, currencyOf(total.currency))
    const { organizationId, currency, loans, entries } = total
    return {
      organizationId,
      currency,
      loans: Number(loans),
      entries: Number(entries),
      principal: money(total.principal),
      outstanding: money(total.outstanding),
      paid: money(total.paid),
      overpaid: money(total.overpaid),
    }
  })
  const { loans, entries, waitingForSweep, found, stopped, differences } = checked
  const rate = Math.round(loans / Math.max(seconds, 0.001))
  const verdict = stopped ? 'stopped before the end' : found === 0 ? 'nothing differs' : `${found} differences`
  if (!printer.json) {
    for (const { organizationId, of, message } of differences)
      io.out(`${of} (organization ${organizationId}): ${message}\n`)
    if (found > differences.length) io.out(`… and ${found - differences.length} more\n`)
    io.out(
      `${toTable(totals, [
        ['organization', (one) => one.organizationId, 'right'],
        ['currency', (one) => one.currency],
        ['loans', (one) => one.loans, 'right'],
        ['entries', (one) => one.entries, 'right'],
        ['principal', (one) => one.principal, 'right'],
        ['outstanding', (one) => one.outstanding, 'right'],
        ['paid', (one) => one.paid, 'right'],
        ['overpaid', (one) => one.overpaid, 'right'],
      ])}\n`,
    )
    if (waitingForSweep > 0) printer.note(`${waitingForSweep} loans wait for the sweep.`)
  }
  const isProven = found === 0 && !stopped
  const proven = isProven ? PROVES : []
  printer.done(
    {
      ...{ loans, entries, waitingForSweep, seconds, totals, found, stopped, differences },
      ...{ proven, notProven: isProven ? DOES_NOT_PROVE : [...PROVES, ...DOES_NOT_PROVE] },
    },
    `${isProven ? `Proven:\n${listed(PROVES)}\nNot proven:\n${listed(DOES_NOT_PROVE)}\n` : ''}${loans} loans and ${entries} entries replayed, ${rate} loans a second: ${verdict}.`,
  )
}
