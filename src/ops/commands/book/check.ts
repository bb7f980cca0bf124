import { type Command, InvalidArgumentError } from 'commander'
import { currencyCodes, currencyOf, minorToText } from '../../../domain/money.ts'
import { type Checked, checkBook } from '../../../services/book/bookCheck.ts'
import {
  type EventHash,
  type Head,
  headText,
  type ListedHead,
  listHeads,
  parseEventHash,
  parseHead,
} from '../../../services/events/chainHeads.ts'
import { acceptRestored, findLeft } from '../../../services/events/keptHeads.ts'
import { wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { type Printer, toTable } from '../../terminal/format.ts'
import { type Io, UsageError, withProgress } from '../../terminal/terminalIo.ts'

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

/** Facts that are proven when a check finds nothing. */
const PROVES = [
  "each loan's balances, status and instalments, and the sums of the book, are what its entries make of it",
  'currency, rate, principal, instalments, dates and penalty of a loan follow from its product, or from what the record system sent',
  'no entry is dated before disbursement or after the day it was posted, and each charge-off and write-off has the amount that was owed',
  'each row of the book is in the audit trail, once and with the same content, and nothing else is',
  'the postings of each loan are what its changes make of them, and their sum is what replay contributes; the trial balances are the sums of the postings, and those of closed months have the hash of the close',
  'each Idempotency-Key names a change that its account made, and no row refers to one that is not there',
  'each row of the audit trail is as the service wrote it, also where it is not sealed yet',
  'no row of the audit trail was changed, removed or added since it was sealed; loans, schedules, entries, customers, products, lenders, accounts, keys and credit decisions are as their last change was sealed',
] as const

/** The fact that heads add. */
const WITH_HEADS =
  'the chain of each head, in HEADS_FILE or given, is the chain of then, up to that head: nothing before it was rewritten'

/** Facts that a check cannot prove. */
const NEVER = [
  'that no other row was changed by hand in the moment before it was sealed, or is in changes that are not sealed yet: those are compared with the audit trail only',
  'that money was paid: hold the entries against the statements of the bank or the wallet',
  'that a credit decision follows from its facts (credit-decisions show makes each again)',
  'work that is under way, counters, and sums that are computed again: docs/operating/book.md lists each column, and --json in notFound',
] as const

const WITHOUT_HEADS =
  'that the end of the chain was not cut off, and that somebody who has KEY_ENCRYPTION_SECRET did not make the chain again: set HEADS_FILE, or give a head that was kept elsewhere (book seal, book check --head)'
const AFTER_HEADS =
  'that the chain was not cut off or made again after the last head, and of organizations of which there is no head'

/** Returns what a check proves and does not, with heads or without. */
const proofsOf = (hasHeads: boolean): { proves: readonly string[]; doesNot: readonly string[] } => ({
  proves: hasHeads ? [...PROVES, WITH_HEADS] : PROVES,
  doesNot: [hasHeads ? AFTER_HEADS : WITHOUT_HEADS, ...NEVER],
})

/** Returns what the result of a check has proven, and what not: where anything differs, nothing. */
function provenBy({ found, stopped }: Checked, hasHeads: boolean) {
  const { proves, doesNot } = proofsOf(hasHeads)
  const isProven = found === 0 && !stopped
  return { isProven, proven: isProven ? proves : [], notProven: isProven ? doesNot : [...proves, ...doesNot] }
}

export function sealCommand(book: Command, shell: Shell): void {
  book
    .command('seal')
    .description('show the head of each chain of changes, to be kept elsewhere')
    .option('--restored', 'accept that the chains are older than the heads in HEADS_FILE: an older book was restored')
    .addHelpText(
      'after',
      `\nKeep the lines where nobody who can write to the database can write, such as a signed mail or a safe. Later,
"book check --head <line>" proves that nothing up to that head was rewritten. Organization 0 is the service itself.

The service adds heads to HEADS_FILE by itself, and stops to number events where a chain has gone back. After a restore to an
earlier moment, or a fail-over that lost changes, --restored adds to the file that the heads of the lost changes hold no longer.`,
    )
    .action(({ restored = false }: { restored?: boolean }, command: Command) =>
      perform(shell, command, async ({ io, deps, printer, confirm }) => {
        if (restored) {
          if (deps.config.headsFile === '')
            throw new UsageError(
              'HEADS_FILE is not set: a service without it knows no earlier head once it is started again',
            )
          const left = await findLeft(deps)
          const lines = left.map(
            ({ last, changeId }) => `${headText(last)}: not there; the chain is as kept up to change ${changeId}`,
          )
          if (!printer.json) for (const line of lines) io.out(`${line}\n`)
          if (left.length > 0)
            await confirm('Accept that an older book was restored, and that these heads hold no longer?')
          await acceptRestored(deps, left)
          const said =
            left.length === 0
              ? 'Every head in HEADS_FILE is there; nothing was added.'
              : `Added to ${deps.config.headsFile}.`
          printer.done({ accepted: left.map(({ last, changeId }) => ({ head: headText(last), changeId })) }, said)
          return
        }
        const heads = await listHeads(deps)
        if (!printer.json) for (const head of heads) io.out(`${lineOf(head)}\n`)
        else printer.done({ heads }, '')
        const waiting = heads.reduce((sum, { unsealed }) => sum + unsealed, 0)
        if (waiting > 0) printer.note(waitingNote(waiting))
      }),
    )
}

const lineOf = ({ text, organizationId }: ListedHead): string =>
  text ?? `organization ${organizationId}: nothing is sealed yet`

/** Returns the note about changes that are not sealed yet. */
const waitingNote = (changes: number): string =>
  changes === 1 ? '1 change is not sealed yet.' : `${changes} changes are not sealed yet.`
