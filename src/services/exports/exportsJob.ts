import { setImmediate as turn } from 'node:timers/promises'
import { consentStands } from '../../db/customers/consents.ts'
import {
  type ExportFile,
  type ExportSum,
  findExporting,
  finishFile,
  lockRunning,
  saveProgress,
} from '../../db/exports/files.ts'
import { type ExportLine, insertLines, readHashes } from '../../db/exports/lines.ts'
import { countLoansOfFile, type LoanOfFile, readLoansOfFile } from '../../db/exports/loans.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { knownThen, momentOf } from '../../domain/delinquency/position.ts'
import {
  type ExportDay,
  type ExportedLoan,
  exclusionOf,
  type Figures,
  figuresOf,
} from '../../domain/exports/figures.ts'
import type { ExportFormat } from '../../domain/exports/format.ts'
import { lineOf } from '../../domain/exports/line.ts'
import type { LineKind } from '../../domain/exports/vocabulary.ts'
import { findPolicy } from '../delinquency/policies.ts'
import type { Deps } from '../deps.ts'
import type { Job, Left } from '../jobs/job.ts'
import { withTermsThen } from '../portfolio/positions.ts'
import { digestOf } from './exportFile.ts'
import { hashOfLine, isHashOf, sealContent } from './sealedLines.ts'

/** The pause after a round that left nothing to do. */
const EVERY_MS = 1_000
/** Loans of one step: what a crash makes the job do again. */
const LOANS_A_STEP = 500
/** Milliseconds for which lines are written before requests get their turn. */
const SLICE_MS = 5

type JobDeps = Pick<Deps, 'db' | 'config' | 'now' | 'people'>

/**
 * Creates the job that makes files for bureaux: it walks through the loans of the day by their numbers, some in each step, and
 * keeps its place with what it has made of them in one transaction. A process that ends in the middle leaves the rest to the next.
 */
export function exportsJob(deps: JobDeps, { loansAStep = LOANS_A_STEP }: { readonly loansAStep?: number } = {}): Job {
  return {
    name: 'exports',
    failure: 'a file for a bureau could not be made',
    everyMs: EVERY_MS,
    organizations: () => findExporting(deps.db),
    work: async (organizationId, signal) =>
      (await inTransaction(deps.db, (transaction) =>
        step(deps, transaction, { organizationId, signal, loansAStep }),
      )) ?? 'waits',
  }
}

interface Step {
  readonly organizationId: number
  readonly signal: AbortSignal
  readonly loansAStep: number
}

/** Makes the next part of the file of an organization that was asked for first; undefined where others make it. */
async function step(
  deps: JobDeps,
  transaction: Transaction,
  { organizationId, signal, loansAStep }: Step,
): Promise<Left | undefined> {
  const file = await lockRunning(transaction, organizationId)
  if (!file) return undefined
  const { config } = deps
  const total = file.done === 0 ? await countLoansOfFile(transaction, file) : file.total
  const read = { above: file.position, most: loansAStep, zone: config.zone }
  const found = await readLoansOfFile(transaction, file, read)
  if (found.length === 0) {
    const content = await digestOf(deps, { pool: transaction }, file, signal)
    await finishFile(transaction, file, content, deps.now(organizationId))
    return 'more'
  }
  const loans = await withTermsThen(transaction, found, file.knownAt)
  const made = await linesOf(deps, transaction, file, loans)
  signal.throwIfAborted()
  const lines = made.map(({ line }) => line)
  await insertLines(transaction, file, lines)
  const sums = structuredClone(file.sums) as Sums
  for (const one of made) addTo(sums, one)
  const done = file.done + found.length
  await saveProgress(transaction, {
    organizationId,
    id: file.id,
    position: found.at(-1)!.id,
    done,
    total: Math.max(total, done),
    sums,
  })
  return 'more'
}

/** A line, and the loan that it is of. */
interface MadeLine {
  readonly line: ExportLine
  readonly figures: Figures
}

/** Returns the lines of loans; a loan that was not lent by the day has none. */
async function linesOf(
  deps: JobDeps,
  transaction: Transaction,
  file: ExportFile,
  loans: readonly LoanOfFile[],
): Promise<MadeLine[]> {
  const { organizationId, asOf, knownAt, corrects } = file
  const queries = { pool: transaction }
  const moment = momentOf(asOf, knownAt, deps.config.zone)
  const { policy } = await findPolicy(deps, organizationId, { knownAt })
  const customers = [...new Set(loans.map(({ customerId }) => customerId))]
  const consenting = await consentStands(queries, organizationId, customers, { purpose: 'bureau', asOf: moment })
  const ids = loans.map(({ id }) => id)
  const before = corrects === null ? undefined : await readHashes(queries, { organizationId, id: corrects }, ids)
  const day: ExportDay = { asOf, moment, policy }
  const made: MadeLine[] = []
  let began = performance.now()
  for (const loan of loans) {
    if (performance.now() - began > SLICE_MS) {
      await turn()
      began = performance.now()
    }
    const figures = figuresIn(deps, file, day, { loan, hasConsent: consenting.has(loan.customerId) })
    if (figures) made.push({ figures, line: lineIn(deps, file, { loan, figures, before }) })
  }
  return made
}

/** Returns a loan as it was on the day, with what was known. @throws Error that names the loan, where its rows are damaged */
function figuresIn(
  { people }: JobDeps,
  { organizationId, knownAt }: ExportFile,
  day: ExportDay,
  { loan, hasConsent }: { readonly loan: LoanOfFile; readonly hasConsent: boolean },
): Figures | undefined {
  const identity = people.open({ organizationId, id: loan.customerId }, loan) ?? null
  const known = knownThen(loan.entries, knownAt)
  const exported: ExportedLoan = { ...loan, entries: known, identity, hasConsent, isErased: loan.personKey === null }
  try {
    return figuresOf(exported, day)
  } catch (error) {
    throw new Error(`loan ${loan.id} cannot be replayed; run \`book check\``, { cause: error })
  }
}

interface LineOf {
  readonly loan: LoanOfFile
  readonly figures: Figures
  /** The hashes of the lines that the receiver has; undefined for a full file. */
  readonly before: ReadonlyMap<bigint, Uint8Array> | undefined
}

/** Returns what a file has of a loan: its line, why it is left out, or what is wrong with it. */
function lineIn(deps: JobDeps, file: ExportFile, { loan, figures, before }: LineOf): ExportLine {
  const format = file.document as ExportFormat
  const { id: loanId, customerId } = loan
  const keyed = { organizationId: file.organizationId, customerId, personKey: loan.personKey }
  const known = before?.get(loanId) ?? null
  const plain = { content: null, isSealed: false, hash: known }
  const leftOut = (reason: string): ExportLine => ({ loanId, customerId, kind: 'excluded', reason, ...plain })
  const reason = exclusionOf(format, figures)
  if (reason !== null) return leftOut(reason)
  const line = lineOf(format, figures, file.settings)
  if ('faults' in line) {
    const sealed = sealContent(deps, keyed, JSON.stringify(line.faults))
    return { loanId, customerId, kind: 'exception', reason: null, hash: known, ...sealed }
  }
  const hash = hashOfLine(deps, keyed, line.text)
  if (known !== null && isHashOf(known, hash, line.text)) return leftOut('unchanged')
  return { loanId, customerId, kind: 'accepted', reason: null, hash, ...sealContent(deps, keyed, line.text) }
}

type Sums = Partial<Record<LineKind, Record<string, ExportSum>>> & { reasons?: Record<string, number> }

/** Adds a loan to the sums of what became of it. */
function addTo(sums: Sums, { line: { kind, reason }, figures: { loan, state } }: MadeLine): void {
  const { currency, principal } = loan.terms
  const ofKind = sums[kind] ?? {}
  const sum = ofKind[currency.code] ?? NOTHING
  const plus = (text: string, amount: bigint) => String(BigInt(text) + amount)
  ofKind[currency.code] = {
    loans: sum.loans + 1,
    principal: plus(sum.principal, principal),
    principalOutstanding: plus(sum.principalOutstanding, state.outstanding.principal),
    outstanding: plus(sum.outstanding, state.totalOutstanding),
    overdue: plus(sum.overdue, state.totalOverdue),
  }
  sums[kind] = ofKind
  if (reason !== null) sums.reasons = { ...sums.reasons, [reason]: (sums.reasons?.[reason] ?? 0) + 1 }
}

const NOTHING: ExportSum = { loans: 0, principal: '0', principalOutstanding: '0', outstanding: '0', overdue: '0' }
