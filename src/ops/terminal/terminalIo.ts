import type { Deps } from '../../app/deps.ts'

/** The book, opened for one command. */
export interface Opened {
  readonly deps: Deps
  close(): Promise<void>
}

/** What a command needs of the book that it opens. */
export interface Opening {
  /** Whatever its schema is, and brings it up to date. */
  readonly migrate?: boolean
  /** Makes an empty database where `DATA_DIR` has none; refused when left out, since `DATA_DIR` may be mistyped. */
  readonly newDatabase?: boolean
}

/** What a command has of the io around it; a test hands in its own. */
export interface Io {
  /** Opens the book. */
  open(how?: Opening): Promise<Opened>
  /** Who runs this, and which run it is: what the audit trail has in place of a request's id. */
  readonly run: string
  out(text: string): void
  err(text: string): void
  /** There is somebody to ask. */
  readonly interactive: boolean
  confirm(question: string): Promise<boolean>
  askPassword(question: string): Promise<string>
  readStdin(): Promise<string>
  /** Shows how far a long run has come, where somebody looks at it. */
  startProgress(what: string, total: number): Progress
  /** Fires when the run is asked to stop: finish what is under way, and leave. */
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

/** The command was refused, by its operator or for want of one: exit code 1. */
export class Declined extends Error {
  override readonly name = 'Declined'
}
