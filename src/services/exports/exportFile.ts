import { createHash } from 'node:crypto'
import type { ExportContent, ExportFile } from '../../db/exports/files.ts'
import { readLinesOf } from '../../db/exports/lines.ts'
import type { Queries } from '../../db/queries/statement.ts'
import { failedPrecondition } from '../../domain/errors.ts'
import type { ExportFormat } from '../../domain/exports/format.ts'
import { ended, headerOf } from '../../domain/exports/line.ts'
import type { Caller } from '../access/caller.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { getExport } from './exports.ts'
import { openContent } from './sealedLines.ts'

/** Lines that are read at once. */
const AT_ONCE = 1_000

type PartsDeps = Pick<Writing, 'people'>
type MadeFile = Pick<ExportFile, 'organizationId' | 'id' | 'document' | 'settings' | 'asOf'>

/** Writes a file, some of its lines at a time, in the order of the loans; lines of erased customers are left out. */
export async function* partsOf(deps: PartsDeps, queries: Queries, file: MadeFile): AsyncGenerator<string> {
  const { organizationId, id, settings } = file
  const format = file.document as ExportFormat
  const header = headerOf(format, file, settings)
  if (header !== undefined) yield ended(format, header)
  let above = 0n
  for (;;) {
    const lines = await readLinesOf(queries, { organizationId, id, kind: 'accepted', above, most: AT_ONCE })
    if (lines.length === 0) return
    yield lines
      .map((line) => openContent(deps, organizationId, line))
      .map((text) => (text === undefined ? '' : ended(format, text)))
      .join('')
    above = lines.at(-1)!.loanId
  }
}

/** Returns the digest and the length of a file. @param signal ends the walk early: it then throws */
export async function digestOf(
  deps: PartsDeps,
  queries: Queries,
  file: MadeFile,
  signal: AbortSignal,
): Promise<ExportContent> {
  const hash = createHash('sha256')
  let bytes = 0n
  for await (const part of partsOf(deps, queries, file)) {
    signal.throwIfAborted()
    hash.update(part)
    bytes += BigInt(Buffer.byteLength(part))
  }
  return { sha256: hash.digest('hex'), bytes }
}

/** A file as it is sent. */
export interface SentFile {
  readonly name: string
  /** Hexadecimal: of the file as it was made. */
  readonly sha256: string
  readonly parts: AsyncIterable<string>
}

/**
 * Returns a file that is made.
 * @throws LendingError `permission_denied`, `not_found`; `failed_precondition` while it is made
 */
export async function readExportFile(
  deps: Pick<Core & Writing & Caches, 'db' | 'people' | 'organizations'>,
  caller: Caller,
  id: bigint,
): Promise<SentFile> {
  const file = await getExport(deps, caller, id)
  if (file.sha256 === null)
    throw failedPrecondition(`the file is being made: ${file.done} of ${file.total} loans are done`)
  const { mode: kind } = await getOrganization(deps, caller)
  const { format, formatVersion, asOf, mode } = file
  const name = [kind === 'test' ? 'test' : '', format, formatVersion, asOf, mode === 'full' ? '' : `corrections-${id}`]
  return {
    name: `${name.filter((part) => part !== '').join('-')}.csv`,
    sha256: Buffer.from(file.sha256).toString('hex'),
    parts: partsOf(deps, deps.db, file),
  }
}
