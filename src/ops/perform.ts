import type { Command } from 'commander'
import { type Caller, operator } from '../services/access/caller.ts'
import type { Deps } from '../services/deps.ts'
import { listOrganizations, type Organization } from '../services/organizations/organizations.ts'
import { type Printer, printerFor } from './terminal/format.ts'
import { Declined, type Io, type Opening, UsageError } from './terminal/terminalIo.ts'

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
 * Runs a command on the opened book, and closes the book whether the command succeeds or fails.
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
  const { deps, close } = await io.open(how)
  const by = (organizationId: number) => operator(organizationId, io.run)
  try {
    const code = await work({
      io,
      deps,
      printer: printerFor(io, json),
      by,
      organization: (given) => organizationNamed(deps, given),
      async confirm(question) {
        if (yes) return
        if (!io.interactive) throw new Declined(`${question} Say --yes, for there is no terminal to ask at.`)
        if (!(await io.confirm(question))) throw new Declined('nothing was done')
      },
    })
    shell.exitCode = typeof code === 'number' ? code : 0
  } finally {
    await close()
  }
}

/** Runs a command that adds to the book: in an empty `DATA_DIR` the command makes the database first. */
export const performAdding = (shell: Shell, command: Command, work: (task: Task) => Promise<unknown>): Promise<void> =>
  perform(shell, command, work, { newDatabase: true })

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
