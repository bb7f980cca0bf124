import {
  acceptFile,
  EXPORT_ORDER,
  type ExportFile,
  findAccepted,
  findFile,
  findFiles,
  findNewestFiles,
  findRunning,
  insertFile,
} from '../../db/exports/files.ts'
import { countErased as countErasedLines, readLinesOf } from '../../db/exports/lines.ts'
import { cursorAt, encodeCursor } from '../../db/queries/cursor.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { dateIn, dayBefore, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, notFound } from '../../domain/errors.ts'
import { type ExportFormat, settingNames } from '../../domain/exports/format.ts'
import type { LineFault } from '../../domain/exports/line.ts'
import type { ExportMode } from '../../domain/exports/vocabulary.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core, Writing } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { offeredFormat } from './formats.ts'
import { openContent } from './sealedLines.ts'

export type { ExportFile, ExportSum, ExportSums } from '../../db/exports/files.ts'

/** The most files that are made at a time for a lender. */
export const MOST_RUNNING = 5

/** A file that is asked for. */
export interface ExportRequest {
  /** The name of a format, or `name@version`. */
  readonly format: string
  /** A day that is over. Of corrections: that of an accepted file, the last one when left out. */
  readonly asOf?: LocalDate | undefined
  readonly mode?: ExportMode | undefined
  /** The constants of the lender, by the names of the format's settings. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

type ExportDeps = Pick<Core & Writing, 'db' | 'config' | 'now' | 'idBlocks' | 'people'>

/** A request that can be met: its format, and the day that it is of. */
export interface CheckedRequest {
  readonly format: ExportFormat
  readonly settings: Readonly<Record<string, string>>
  readonly asOf: LocalDate
  readonly mode: ExportMode
  readonly corrects: bigint | null
}

/**
 * Checks a request for a file, and makes none.
 * @throws LendingError `permission_denied`, `invalid_argument`; `failed_precondition` for corrections without an accepted file
 */
export async function checkRequest(
  deps: Pick<ExportDeps, 'db' | 'config' | 'now'>,
  caller: Caller,
  { format: named, asOf: day, mode = 'full', settings = {} }: ExportRequest,
): Promise<CheckedRequest> {
  requirePermission(caller, 'people.decide')
  const { organizationId } = caller
  const format = (await offeredFormat(deps, organizationId, named))?.format
  if (!format) throw invalidArgument('format', 'is the name of no format')
  const checked = { format, settings: settingsOf(format, settings), mode }
  if (mode === 'corrections') return { ...checked, ...(await correctedBy(deps, organizationId, format, day)) }
  const today = dateIn(deps.config.zone, deps.now(organizationId))
  return { ...checked, asOf: fullDay(day, today), corrects: null }
}

/**
 * Asks for a file; a job makes it. The same request while the first is made answers the first.
 * @throws LendingError `permission_denied`, `invalid_argument`; `failed_precondition` for corrections
 *   without an accepted file, and where too many files are being made
 */
export async function createExport(deps: ExportDeps, caller: Caller, request: ExportRequest): Promise<ExportFile> {
  const { organizationId } = caller
  const { format, settings, asOf, mode, corrects } = await checkRequest(deps, caller, request)
  const now = deps.now(organizationId)
  const asked = { format: format.name, formatVersion: format.version, settings, asOf, mode, corrects }
  const running = await findRunning(deps.db, organizationId)
  const same = running.find((one) => sameRequest(one, asked))
  if (same) return same
  if (running.length >= MOST_RUNNING)
    throw failedPrecondition(`${MOST_RUNNING} files are being made: ask again when one of them is ready`)
  const id = (await reserveIds(deps, 'payment', 1))()
  const file = { ...asked, organizationId, id, document: format, knownAt: now, createdAt: now }
  await abortedWhereKeyTaken(insertFile(deps.db, caller, file))
  return exportNamed(deps, caller, id)
}

type Asked = Pick<ExportFile, 'format' | 'formatVersion' | 'settings' | 'asOf' | 'mode' | 'corrects'>

const sameRequest = (one: Asked, other: Asked): boolean =>
  one.format === other.format &&
  one.formatVersion === other.formatVersion &&
  one.asOf === other.asOf &&
  one.mode === other.mode &&
  one.corrects === other.corrects &&
  Object.keys(other.settings).every((name) => one.settings[name] === other.settings[name])

/** Returns the settings of a request. @throws LendingError `invalid_argument` for one that is missing, unknown or too long */
function settingsOf(format: ExportFormat, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = settingNames(format)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidArgument(
      `settings.${unknown}`,
      names.length === 0
        ? 'is no setting: the format has none'
        : `is no setting of the format: those are ${names.join(', ')}`,
    )
  for (const { name, means, longest } of format.settings) {
    const value = given[name]
    if (value === undefined || value.trim() === '') throw invalidArgument(`settings.${name}`, `is required: ${means}`)
    if ([...value].length > longest)
      throw invalidArgument(`settings.${name}`, `must be at most ${longest} characters long`)
    if (/\p{Cc}/u.test(value) || (format.quotes === 'never' && value.includes(format.separator)))
      throw invalidArgument(`settings.${name}`, 'must not have control characters or the separator of the file')
  }
  return given
}

/** Returns the day of a full file. @throws LendingError `invalid_argument` where it is not over */
function fullDay(asOf: LocalDate | undefined, today: LocalDate): LocalDate {
  if (asOf === undefined) throw invalidArgument('asOf', `is required: a day that is over, such as ${dayBefore(today)}`)
  if (asOf >= today) throw invalidArgument('asOf', `must be a day that is over: today is ${today}`)
  return asOf
}

/** Returns the day and the file that corrections are of. @throws LendingError `failed_precondition` where none was accepted */
async function correctedBy(
  { db }: Pick<ExportDeps, 'db'>,
  organizationId: number,
  { name }: ExportFormat,
  asOf: LocalDate | undefined,
) {
  const accepted = await findAccepted(db, organizationId, { format: name, asOf })
  if (accepted) return { asOf: accepted.asOf, corrects: accepted.id }
  const day = asOf === undefined ? '' : ` of ${asOf}`
  throw failedPrecondition(
    `no file of ${name}${day} was accepted by its receiver: corrections are of the day of a file that was`,
    asOf === undefined ? 'mode' : 'asOf',
  )
}

const noSuchExport = () => notFound('no export has that id', 'export')

/** Returns a file. @throws LendingError `permission_denied`, `not_found` */
export async function getExport(deps: Pick<Core, 'db'>, caller: Caller, id: bigint): Promise<ExportFile> {
  requirePermission(caller, 'people.read')
  return exportNamed(deps, caller, id)
}

/** Returns a file, for a caller whose permission was asked for already. @throws LendingError `not_found` */
export async function exportNamed({ db }: Pick<Core, 'db'>, caller: Caller, id: bigint): Promise<ExportFile> {
  const file = await findFile(db, caller.organizationId, id)
  if (!file) throw noSuchExport()
  return file
}

/** Returns a part of the files of the organization, in the order in which they were asked for. @throws LendingError */
export async function listExports(
  { db }: Pick<Core, 'db'>,
  caller: Caller,
  format: string | undefined,
  range: Range,
): Promise<Ranged<ExportFile>> {
  requirePermission(caller, 'people.read')
  const of = { organizationId: caller.organizationId, format }
  return rangedOf(await findFiles(db, of, positionOf(range, { arrival: EXPORT_ORDER })))
}

/** Returns the newest files, or those before one. @throws LendingError `permission_denied` */
export async function listNewestExports(
  { db }: Pick<Core, 'db'>,
  caller: Caller,
  range: { readonly before?: bigint | undefined; readonly rows: number },
): Promise<ExportFile[]> {
  requirePermission(caller, 'people.read')
  return findNewestFiles(db, caller.organizationId, { before: range.before, rows: range.rows })
}

/**
 * Counts the lines that were in a file, of customers whose key was destroyed since: they are in it no more.
 * @throws LendingError `permission_denied`, `not_found`
 */
export async function countErased(deps: Pick<Core, 'db'>, caller: Caller, id: bigint): Promise<number> {
  return countErasedLines(deps.db, await getExport(deps, caller, id))
}

/**
 * Says that the receiver has accepted a file; corrections are then of it. A second time changes nothing.
 * @throws LendingError `permission_denied`, `not_found`; `failed_precondition` while it is made
 */
export async function acceptExport(deps: ExportDeps, caller: Caller, id: bigint): Promise<ExportFile> {
  requirePermission(caller, 'people.decide')
  const file = await exportNamed(deps, caller, id)
  if (file.state === 'running') throw failedPrecondition('the file is being made: it can be accepted when it is ready')
  if (file.state === 'ready')
    await abortedWhereKeyTaken(acceptFile(deps.db, caller, id, deps.now(caller.organizationId)))
  return exportNamed(deps, caller, id)
}

/** What is wrong with a loan, so that the file does not have it. */
export interface ExportException extends Omit<LineFault, 'rule'> {
  readonly loanId: bigint
  /** A rule of the layout; `erased` where the faults were of a customer who was erased since. */
  readonly rule: LineFault['rule'] | 'erased'
}

/** A loan that a file leaves out, and why. */
export interface ExcludedLoan {
  readonly loanId: bigint
  readonly reason: string
}

const partOf = (kind: string, id: bigint, { rows, after }: Omit<Range, 'page'>) => {
  const order = `export-${kind}-${id}`
  const position = positionOf({ rows, after }, { arrival: order })
  return { order, above: 'page' in position ? 0n : (position.cursor?.floor ?? 0n), most: rows }
}

const withNext = <T>(order: string, items: readonly T[], last: bigint | undefined): Ranged<T> => {
  const next = cursorAt(order, last)
  return { items, ...(next && { next: encodeCursor(next) }) }
}

/** Returns the faults of loans after a place, in the order of the loans; `rows` loans at most. @throws LendingError */
export async function listExceptions(
  deps: Pick<ExportDeps, 'db' | 'people'>,
  caller: Caller,
  id: bigint,
  range: Omit<Range, 'page'>,
): Promise<Ranged<ExportException>> {
  const { organizationId } = await getExport(deps, caller, id)
  const { order, above, most } = partOf('exceptions', id, range)
  const lines = await readLinesOf(deps.db, { organizationId, id, kind: 'exception', above, most })
  const items = lines.flatMap((line): ExportException[] => {
    const { loanId } = line
    const content = openContent(deps, organizationId, line)
    if (content === undefined) return [{ loanId, field: '', rule: 'erased', value: null }]
    return (JSON.parse(content) as LineFault[]).map((fault) => ({ loanId, ...fault }))
  })
  return withNext(order, items, lines.at(-1)?.loanId)
}

/** Returns the loans after a place that the file leaves out, in their order. @throws LendingError */
export async function listExcluded(
  deps: Pick<ExportDeps, 'db'>,
  caller: Caller,
  id: bigint,
  range: Omit<Range, 'page'>,
): Promise<Ranged<ExcludedLoan>> {
  const { organizationId } = await getExport(deps, caller, id)
  const { order, above, most } = partOf('excluded', id, range)
  const lines = await readLinesOf(deps.db, { organizationId, id, kind: 'excluded', above, most })
  const items = lines.map(({ loanId, reason }) => ({ loanId, reason: reason ?? '' }))
  return withNext(order, items, lines.at(-1)?.loanId)
}
