import type { Command } from 'commander'
import { type Caller, operator } from '../services/access/caller.ts'
import type { Deps } from '../services/deps.ts'
import { listOrganizations, type Organization } from '../services/organizations/organizations.ts'
import { booksOfCommand } from './books.ts'
import { gatheringPrinter, type Printer, printerFor } from './terminal/format.ts'
import { Declined, type Io, type OpenedBooks, type Opening, UsageError } from './terminal/terminalIo.ts'

/** Registered with every command. */
export interface Shell {
  readonly io: Io
  /** The exit code of the run, unless it fails. */
  exitCode: number
}

/** The tools of a running command. */
export interface Task {
  readonly io: Io
  readonly deps: Deps
  readonly printer: Printer
  /** Returns the operator as a caller of an organization. */
  by(organizationId: number): Caller
  /** The books of the service, where there are several. */
  readonly books?: OpenedBooks
  /** Returns the organization that was named or, where there is only one, that one. */
  organization(given: number | undefined): Promise<Organization>
  /** Asks before an act that cannot be undone. Without a terminal the act is declined, unless `--yes` was given. */
  confirm(question: string): Promise<void>
}

/** The options that every command takes. */
interface GlobalOptions {
  readonly json?: boolean
  readonly yes?: boolean
}

/**
 * Runs a command on the opened book, and closes the book whether the command succeeds or fails. Of several books it runs on that of
 * the organization, or on one after the other.
 * @param work may return the exit code, a number
 */
export async function perform(
  shell: Shell,
  command: Command,
  work: (task: Task) => Promise<unknown>,
  how?: Opening,
): Promise<void> {
  const { io } = shell
  const { json = false, yes = false } = command.optsWithGlobals<GlobalOptions>()
  const { deps: opened, books, close } = await io.open(how)
  const by = (organizationId: number) => operator(organizationId, io.run)
  let isConfirmed = yes
  try {
    const each = books ? await booksOfCommand(command, books) : [opened]
    const printer = printerFor(io, json)
    const gathering = each.length > 1 ? gatheringPrinter(printer) : undefined
    const codes: number[] = []
    let skipped = 0
    for (const deps of each) {
      const task: Task = {
        io,
        deps,
        ...(books && { books }),
        printer: gathering ?? printer,
        by,
        organization: (given) => (each.length > 1 ? onlyOrganization(each, deps) : organizationNamed(deps, given)),
        async confirm(question) {
          if (isConfirmed) return
          if (!io.interactive) throw new Declined(`${question} Say --yes, for there is no terminal to ask at.`)
          if (!(await io.confirm(question))) throw new Declined('nothing was done')
          isConfirmed = true
        },
      }
      try {
        const code = await work(task)
        codes.push(typeof code === 'number' ? code : 0)
      } catch (error) {
        if (!(error instanceof ElsewhereError)) throw error
        skipped++
      }
    }
    gathering?.flush()
    if (skipped === each.length) throw new Declined('there is no organization yet; make one with organizations create')
    shell.exitCode = Math.max(0, ...codes)
  } finally {
    await close()
  }
}

/** Runs a command that adds to the book: in an empty `DATA_DIR` the command makes the database first. */
export const performAdding = (shell: Shell, command: Command, work: (task: Task) => Promise<unknown>): Promise<void> =>
  perform(shell, command, work, { newDatabase: true })

/** The only organization of the service is in another book than the one at which a command works. */
class ElsewhereError extends Error {
  override readonly name = 'ElsewhereError'
}

/** Returns the only organization of several books, where it is in the book of these parts. @throws UsageError, ElsewhereError */
async function onlyOrganization(each: readonly Deps[], deps: Deps): Promise<Organization> {
  const all = await Promise.all(each.map(listOrganizations))
  const found = all.flat()
  const live = found.filter(({ mode }) => mode === 'live')
  const [only, ...others] = live.length > 0 ? live : found
  if (others.length > 0) throw new UsageError('there are several organizations: say which, with --organization <id>')
  if (!only || !all[each.indexOf(deps)]!.includes(only)) throw new ElsewhereError()
  return only
}

async function organizationNamed(deps: Deps, given: number | undefined): Promise<Organization> {
  const all = await listOrganizations(deps)
  if (given !== undefined) {
    const named = all.find(({ id }) => id === given)
    if (!named) throw new Declined(`there is no organization ${given}`)
    return named
  }
  const live = all.filter(({ mode }) => mode === 'live')
  const [only, ...others] = live.length > 0 ? live : all
  if (!only) throw new Declined('there is no organization yet; make one with organizations create')
  if (others.length > 0) throw new UsageError('there are several organizations: say which, with --organization <id>')
  return only
}
