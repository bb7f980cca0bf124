import { setImmediate as turn } from 'node:timers/promises'
import { dateIn, toRfc3339 } from '../../domain/dates.ts'
import { MOST_LINES } from '../../domain/documents/documents.ts'
import { failedPrecondition } from '../../domain/errors.ts'
import { holderOf } from '../../toolbox/gate.ts'
import { documentWordsOfMonth } from '../../words/monthEnd.ts'
import { STATE_WORDS } from '../../words/names.ts'
import { type Language, nameIn, speak } from '../../words/words.ts'
import type { Caller } from '../access/caller.ts'
import type { Listing, ListingPart } from '../documents/pdf/pages.ts'
import { lenderDetails } from '../organizations/organizations.ts'
import { begunMonth, type MonthEnd, type MonthEndDeps, readMonthEnd } from './monthEnd.ts'
import { tablesOf } from './tables.ts'

/** The PDF of a month. */
export interface MonthPdf {
  readonly bytes: Buffer
  readonly type: 'application/pdf'
  readonly name: string
}

/**
 * Writes the pack of a month as a PDF, in a language and in a place of the caller.
 * @throws LendingError as `readMonthEnd` and `Printer.print` do, and `failed_precondition` for one of more than `MOST_LINES` lines
 */
export async function printMonthEnd(
  deps: MonthEndDeps,
  caller: Caller,
  month: string,
  language: Language = 'en',
): Promise<MonthPdf> {
  begunMonth(deps, caller, month)
  return deps.gates.pdfs.run(holderOf(caller), async () => {
    const found = await readMonthEnd(deps, caller, month)
    const { zone } = deps.config
    const say = speak(documentWordsOfMonth, language)
    const parts = [statePart(found, language, zone), ...tableParts(found, language)]
    const lines = parts.flatMap(({ tables = [] }) => tables).reduce((count, { rows }) => count + rows.length, 0)
    if (lines > MOST_LINES)
      throw failedPrecondition(`the PDF would have more than ${MOST_LINES} lines: take the pack as CSV`)
    const { legalName: name, licenceNumber, logo } = await lenderDetails(deps, caller)
    await turn()
    const at = timeOf(found.readAt, zone)
    const document: Listing = {
      kind: 'listing',
      language,
      lender: { name, licenceNumber },
      title: say('packTitle'),
      subject: say('month'),
      number: month,
      foot: say('packFoot', { at, sequence: found.books.sequence }),
      day: dateIn(zone, found.readAt),
      parts,
    }
    const bytes = await deps.printer.print({ document, logo })
    return { bytes, type: 'application/pdf', name: `month-end-${month}-${language}.pdf` }
  })
}

const timeOf = (at: number, zone: string): string => toRfc3339(at, zone).slice(0, 16).replace('T', ' ')

/** Returns the state of a month, and what is to be known of its figures. */
function statePart(
  { month, firstDay, end, readAt, ...found }: MonthEnd,
  language: Language,
  zone: string,
): ListingPart {
  const say = speak(documentWordsOfMonth, language)
  const { period, against, books, provisions, atRisk } = found
  const state = period === undefined ? say('notOfBooks') : nameIn(STATE_WORDS, language, period.state)
  const pairs: (readonly [label: string, value: string])[] = [
    [say('monthEnd'), month],
    [say('monthDays'), `${firstDay} – ${end}`],
    [say('state'), state],
    [say('lastEvent'), String(books.sequence)],
    [say('monthReadAt'), timeOf(readAt, zone)],
    [say('policyVersion'), String(atRisk.policy.version ?? 0)],
  ]
  if (period?.closedAt != null) pairs.push([say('closed'), timeOf(period.closedAt, zone)])
  if (period?.trialBalanceHash != null) pairs.push([say('hash'), period.trialBalanceHash])
  if (against !== undefined) pairs.push([say('againstCloseLabel'), against])
  if ('refused' in provisions) pairs.push([say('provisionComputed'), provisions.refused])
  return { heading: say('monthEndOf', { month }), pairs }
}

const tableParts = (found: MonthEnd, language: Language): ListingPart[] =>
  tablesOf(found, language).map(({ heading, columns, rows, empty }) =>
    rows.length === 0
      ? { heading, pairs: [['', empty]] }
      : { heading, tables: [{ columns, rows: rows.map(({ cells }) => cells) }] },
  )
