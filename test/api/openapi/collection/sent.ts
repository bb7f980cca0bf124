import type { Part } from '../../../support/upload.ts'

/** A request as a client sends it; of a form, the fields. */
export interface Sent {
  readonly name: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly raw?: string
  readonly parts?: readonly Part[]
}

/** An answer as a client gets it. */
export interface Answered {
  readonly status: number
  readonly text: string
}
