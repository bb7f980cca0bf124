import { countFormats, findFormat, findFormats, insertFormat } from '../../db/exports/formats.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { Instant } from '../../domain/dates.ts'
import { alreadyExists, failedPrecondition, invalidArgument, LendingError, notFound } from '../../domain/errors.ts'
import { checkFormat, isFaulty } from '../../domain/exports/checkFormat.ts'
import type { ExportFormat } from '../../domain/exports/format.ts'
import { CREDITINFO, PORTFOLIO } from '../../domain/exports/formats/flat.ts'
import { KENYA } from '../../domain/exports/formats/kenya.ts'
import { UGANDA } from '../../domain/exports/formats/uganda.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core, Writing } from '../deps.ts'

/** The formats that come with the service. */
export const BUILT_IN: readonly ExportFormat[] = [KENYA, UGANDA, CREDITINFO, PORTFOLIO]

/** The names of the formats that come with the service: no lender's own format has one of them. */
const BUILT_IN_NAMES: readonly string[] = BUILT_IN.map(({ name }) => name)

/** A layout of files that a lender can ask for. */
export interface OfferedFormat {
  readonly format: ExportFormat
  /** When the lender stored it; null: it comes with the service. */
  readonly storedAt: Instant | null
}

/** The most versions of own formats of a lender. */
export const MOST_FORMATS = 200

const builtIn = (format: ExportFormat): OfferedFormat => ({ format, storedAt: null })

/** Lists the formats that come with the service, and the lender's own, the newest first. @throws LendingError `permission_denied` */
export async function listFormats({ db }: Pick<Core, 'db'>, caller: Caller): Promise<OfferedFormat[]> {
  requirePermission(caller, 'people.read')
  const own = await findFormats(db, caller.organizationId, MOST_FORMATS)
  return [
    ...BUILT_IN.map(builtIn),
    ...own.map(({ document, createdAt }) => ({ format: document as ExportFormat, storedAt: createdAt })),
  ]
}

/**
 * Returns a format by its name, `ug_cba`, or by name and version, `ug_cba@1`.
 * @throws LendingError `permission_denied`; `not_found` where there is none
 */
export async function getFormat(deps: Pick<Core, 'db'>, caller: Caller, named: string): Promise<OfferedFormat> {
  requirePermission(caller, 'people.read')
  const found = await offeredFormat(deps, caller.organizationId, named)
  if (!found) throw notFound('no export format has that name', 'export format')
  return found
}

/** Returns a format by its name, or by name and version; undefined where there is none. */
export async function offeredFormat(
  { db }: Pick<Core, 'db'>,
  organizationId: number,
  named: string,
): Promise<OfferedFormat | undefined> {
  const [name = '', version, ...more] = named.split('@')
  const offered = BUILT_IN.find((one) => one.name === name && (version === undefined || version === one.version))
  if (offered && more.length === 0) return builtIn(offered)
  const own = more.length === 0 ? await findFormat(db, organizationId, { name, version }) : undefined
  return own && { format: own.document as ExportFormat, storedAt: own.createdAt }
}

/**
 * Stores a version of a lender's own format. The same document again answers the version that is there.
 * @throws LendingError `permission_denied`; `invalid_argument` naming each fault; `already_exists` for another document under a
 *   version that is there; `failed_precondition` where the lender has too many
 */
export async function createFormat(
  deps: Pick<Core & Writing, 'db' | 'now' | 'idBlocks'>,
  caller: Caller,
  document: unknown,
): Promise<OfferedFormat> {
  requirePermission(caller, 'people.decide')
  const { organizationId } = caller
  const checked = checkFormat(document)
  if (isFaulty(checked)) {
    const faults = checked.map(({ field, rule }) => ({
      role: `document${field === '' ? '' : `.${field}`}` as const,
      wording: rule,
    }))
    throw new LendingError('invalid_argument', faults[0]!.wording, faults)
  }
  const { name, version } = checked
  if (BUILT_IN_NAMES.includes(name))
    throw invalidArgument('document.name', 'is the name of a format that comes with the service')
  const known = await findFormat(deps.db, organizationId, { name, version })
  if (known) return sameOr(known, checked)
  if ((await countFormats(deps.db, organizationId)) >= MOST_FORMATS)
    throw failedPrecondition(`there are ${MOST_FORMATS} versions of formats, and no more can be stored`)
  const id = (await reserveIds(deps, 'payment', 1))()
  const createdAt = deps.now(organizationId)
  const stored = { organizationId, id, name, version, document: checked, createdAt }
  try {
    await abortedWhereKeyTaken(insertFormat(deps.db, caller, stored))
  } catch (error) {
    const first = isUniqueViolation(error, 'export_format_version')
      ? await findFormat(deps.db, organizationId, { name, version })
      : undefined
    if (!first) throw error
    return sameOr(first, checked)
  }
  return { format: checked, storedAt: createdAt }
}

function sameOr(
  known: { readonly document: unknown; readonly createdAt: Instant },
  checked: ExportFormat,
): OfferedFormat {
  if (canonical(known.document) !== canonical(checked))
    throw alreadyExists('document.version', 'is stored already with another document: a version never changes')
  return { format: checked, storedAt: known.createdAt }
}

/** Returns a document as text, whatever the order of its members. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
