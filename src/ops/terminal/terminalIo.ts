import type { Readable, Writable } from 'node:stream'
import type { Deps } from '../../services/deps.ts'
import type { Place } from '../../services/directory/directory.ts'
import type { NewPlace } from '../../services/directory/slots.ts'

/** The book, opened for one command. */
export interface Opened {
  readonly deps: Deps
  /** The books of the service, where there are several: `deps` are the parts on the directory then. */
  readonly books?: OpenedBooks
  close(): Promise<void>
}

/** The books of a service, for one command. Each is opened when it is first asked for. */
export interface OpenedBooks {
  readonly directory: Deps
  readonly names: readonly string[]
  /** Opens a book. @throws the error of a book that cannot be reached or used */
  open(name: string): Promise<Deps>
  /** Returns the URL of the role that owns the tables of a book. */
  ownerUrlOf(name: string): string
  /** Returns the places of all organizations. */
  places(): readonly Place[]
  /** Returns the parts of the book of an organization. @throws Declined where there is none, or it is being moved */
  of(organizationId: number): Promise<Deps>
  /** Returns the organization of the account with an e-mail; undefined where there is none. */
  ownerOf(email: string): Promise<number | undefined>
  /**
   * Places a new organization.
   * @param id its number; the next one when left out
   * @returns its place, with the parts of the book in which it is to be made
   */
  place(id: number | undefined): Promise<NewPlace & { readonly deps: Deps }>
  close(): Promise<void>
}

/** Options for opening the book. */
export interface Opening {
  /** Opens a book of any schema, and migrates it. */
  readonly migrate?: boolean
  /**
   * Makes an empty database where `DATA_DIR` has none. Without it that is an error, since `DATA_DIR` may be mistyped.
   */
  readonly newDatabase?: boolean
  /** Works as the role that owns the tables, where the settings name it. */
  readonly asOwner?: boolean
}

/** The input and output of a command; a test gives its own. */
export interface Io {
  /** Opens the book. */
  open(how?: Opening): Promise<Opened>
  /** The user and the run of the command: the audit trail holds it in place of a request's id. */
  readonly run: string
  out(text: string): void
  err(text: string): void
  /** Whether somebody can answer questions. */
  readonly interactive: boolean
  confirm(question: string): Promise<boolean>
  askPassword(question: string): Promise<string>
  readStdin(): Promise<string>
  /** The streams of a command that speaks with another program. */
  readonly streams: { readonly input: Readable; readonly output: Writable }
  /** Shows the progress of a long run, on a terminal. */
  startProgress(what: string, total: number): Progress
  /** Aborts when the run is asked to stop: it finishes the step that it has begun, and ends. */
  readonly stopping: AbortSignal
}

export interface Progress {
  update(done: number): void
  stop(): void
}

/** The command was given wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command was declined, by its operator or because nobody could confirm it: exit code 1. */
export class Declined extends Error {
  override readonly name = 'Declined'
}

/** Shows a progress bar as soon as the total is known. */
export async function withProgress<T>(
  io: Pick<Io, 'startProgress'>,
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
