import { type Command, InvalidArgumentError } from 'commander'
import { currencyCodes, currencyOf, minorToText } from '../../../domain/money.ts'
import { type Checked, checkBook } from '../../../services/book/bookCheck.ts'
import { type EventHash, type Head, parseEventHash, parseHead } from '../../../services/events/chainHeads.ts'
import { wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { type Printer, toTable } from '../../terminal/format.ts'
import { type Io, type Progress, UsageError } from '../../terminal/terminalIo.ts'
import { proofsOf, provenBy } from './proofs.ts'
import { waitingNote } from './seal.ts'

const listed = (lines: readonly string[]) => lines.map((line) => `  - ${line}`).join('\n')

export function checkCommand(book: Command, shell: Shell): void {
  book
    .command('check')
    .description(
      'replay every loan, and compare figures, totals, terms, the audit trail, keys and the chain of changes',
    )
    .option('-o, --organization <id>', 'only this one; all when left out', wholeNumber)
    .option(
      '--head <text>',
      'a line of book seal, or evt_<organization>_<number>:<hash> of an event, that was kept elsewhere; may be given for several',
      head,
      [],
    )
    .addHelpText(
      'after',
      `\nReads one snapshot in bounded batches while the service is running. Exits with 1 and names what differs, if anything does.

Where nothing differs, this is proven:
${listed(proofsOf(true).proves)}
And this is not:
${listed(proofsOf(true).doesNot)}`,
    )
    .action((options: { organization?: number; head: readonly KeptHead[] }, command: Command) =>
      perform(shell, command, async ({ io, deps, printer }) => {
        const { organization: organizationId, head: heads } = options
        requireChecked(heads, organizationId)
        const begun = performance.now()
        const checked = await withProgress(io, 'loans', (onProgress) =>
          withProgress(io, 'changes', (onSealProgress) =>
            checkBook(deps, { organizationId, heads, stopping: io.stopping, onProgress, onSealProgress }),
          ),
        )
        printResult(printer, io, checked, { seconds: (performance.now() - begun) / 1000, heads })
        return checked.found > 0 || checked.stopped ? 1 : 0
      }),
    )
}

/** The most heads that are given at once. */
const MOST_HEADS = 1_000

type KeptHead = Head | EventHash

/** Collects the heads of several `--head`. */
function head(text: string, before: readonly KeptHead[]): KeptHead[] {
  const read = parseHead(text) ?? parseEventHash(text)
  if (!read)
    throw new InvalidArgumentError(
      'It must be a line of "book seal", mkopo-head-1:1:250:180:<64 hexadecimal digits>, or the hash of an event, evt_1_180:<64 hexadecimal digits>.',
    )
  if (before.length === MOST_HEADS) throw new InvalidArgumentError(`There must be ${MOST_HEADS} at most.`)
  return [...before, read]
}

/** @throws UsageError for a head of another organization than the one that is checked */
function requireChecked(heads: readonly KeptHead[], organizationId: number | undefined): void {
  const other = heads.find((one) => organizationId !== undefined && one.organizationId !== organizationId)
  if (other)
    throw new UsageError(
      `--head is of organization ${other.organizationId}, and only organization ${organizationId} is checked`,
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

/** Returns the sums of an organization in a currency, as they are printed. */
function totalsOf(total: Checked['totals'][number]) {
  // A damaged code has no decimals: its sums are shown in minor units.
  const isKnown = currencyCodes.includes(total.currency)
  const money = (minor: bigint) => (isKnown ? minorToText(minor, currencyOf(total.currency)) : String(minor))
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
}

const tableOf = (totals: readonly ReturnType<typeof totalsOf>[]): string =>
  toTable(totals, [
    ['organization', (one) => one.organizationId, 'right'],
    ['currency', (one) => one.currency],
    ['loans', (one) => one.loans, 'right'],
    ['entries', (one) => one.entries, 'right'],
    ['principal', (one) => one.principal, 'right'],
    ['outstanding', (one) => one.outstanding, 'right'],
    ['paid', (one) => one.paid, 'right'],
    ['overpaid', (one) => one.overpaid, 'right'],
  ])

function printResult(
  printer: Printer,
  io: Io,
  checked: Checked,
  { seconds, heads }: { readonly seconds: number; readonly heads: readonly KeptHead[] },
): void {
  const totals = checked.totals.map(totalsOf)
  const {
    loans,
    entries,
    postings,
    waitingForSweep,
    sealed,
    unsealed,
    begunAgain,
    keptHeads,
    found,
    stopped,
    differences,
  } = checked
  const rate = Math.round(loans / Math.max(seconds, 0.001))
  const verdict = stopped ? 'stopped before the end' : found === 0 ? 'nothing differs' : `${found} differences`
  if (!printer.json) {
    for (const { organizationId, of, message } of differences)
      io.out(`${of} (organization ${organizationId}): ${message}\n`)
    if (found > differences.length) io.out(`… and ${found - differences.length} more\n`)
    io.out(`${tableOf(totals)}\n`)
    if (waitingForSweep > 0) printer.note(`${waitingForSweep} loans wait for the sweep.`)
    if (unsealed > 0) printer.note(waitingNote(unsealed))
    if (keptHeads > 0) printer.note(`The chains were compared with ${keptHeads} heads in HEADS_FILE.`)
    for (const { organizationId, changeId } of begunAgain)
      printer.note(
        `The chain of organization ${organizationId} began again at change ${changeId}, as it does with another secret: the stamps of the changes up to it cannot be checked.`,
      )
  }
  const { isProven, proven, notProven } = provenBy(checked, heads.length + keptHeads > 0)
  printer.done(
    {
      loans,
      entries,
      postings,
      waitingForSweep,
      sealed,
      unsealed,
      begunAgain,
      keptHeads,
      seconds,
      totals,
      found,
      stopped,
      differences,
      proven,
      notProven,
      notFound: checked.notFound,
    },
    `${isProven ? `Proven:\n${listed(proven)}\nNot proven:\n${listed(notProven)}\n` : ''}${loans} loans and ${entries} entries replayed, ${rate} loans a second, ${postings} postings and ${sealed} seals checked: ${verdict}.`,
  )
}
