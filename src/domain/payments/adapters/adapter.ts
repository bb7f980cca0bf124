import type { Path } from './tree.ts'

/** How a provider writes a moment. All but RFC 3339 are in the zone of the channel. */
export type TimeFormat =
  | 'yyyyMMddHHmmss'
  | 'yyyy-MM-dd HH:mm:ss'
  | 'dd.MM.yyyy HH:mm:ss'
  | 'dd-MM-yyyy HH:mm:ss'
  | 'RFC 3339'

/** What a provider's word for a status means. A word that is in no table means `unknown`, and is never taken for paid. */
export type Status = 'done' | 'failed' | 'pending' | 'reversed' | 'unknown'

/** Where a message says how a transaction ended. */
export interface StatusTable {
  /** All of them that a message has must mean `done`. */
  readonly at: readonly Path[]
  /** The provider's words; capitals do not count. */
  readonly words: Readonly<Record<string, Status>>
  /** What a message means that has none of the paths. */
  readonly absent: 'done' | 'unknown'
}

/** The places of what a message tells: of each the paths, of which the first counts that has a text. */
export interface Fields {
  readonly receipt: readonly Path[]
  readonly amount: readonly Path[]
  readonly currency?: readonly Path[]
  /** Left out: the provider says no time, and the moment of receipt counts. */
  readonly paidAt?: readonly Path[]
  readonly reference?: readonly Path[]
  readonly phone?: readonly Path[]
  /** Parts of a name, which belong together. */
  readonly name?: readonly Path[]
}

/** A kind of message. One that tells of nothing is of no payment: it says why. */
export type Shape = {
  /** A message is of the first kind of whose paths it has all. */
  readonly has: readonly Path[]
} & (
  | { readonly tells: 'payment'; readonly fields: Fields; readonly status?: StatusTable }
  | {
      readonly tells: 'reversal'
      readonly fields: Fields & { readonly reverses: readonly Path[] }
      readonly status?: StatusTable
    }
  | { readonly tells: 'nothing'; readonly why: string }
)

/** An answer in the words of a provider. `{{path}}` is the text of the message at that path. */
export interface Template {
  readonly type: 'application/json' | 'application/xml'
  readonly body: string
}

/** Why a payment is refused before it is made: it fits no loan, its amount is none, or it cannot be read. */
export type Refusal = 'account' | 'amount' | 'other'

/** The answers to a provider that asks before it takes the money of a payer. */
export interface Validation {
  readonly accepted: Template
  readonly refused: Readonly<Record<Refusal, Template>>
}

/** How the messages of a provider are read and answered. */
export interface Adapter {
  readonly format: 'json' | 'xml'
  /** The headers that are kept with a message, in lower case. */
  readonly headers: readonly string[]
  /** How the provider signs its messages: fields that a header names (Selcom), or the request (RFC 9421). Undefined: it does not. */
  readonly signature?: 'fields' | 'request'
  readonly times: readonly TimeFormat[]
  readonly shapes: readonly Shape[]
  /** The answer to each message that is kept, whatever it says. */
  readonly received: Template
  /** Undefined: the provider does not ask. */
  readonly validation?: Validation
  /** What a message of the simulator has besides its fields. */
  readonly sample: Readonly<Record<Path, string>>
}

/** Returns an answer in JSON. */
export const json = (body: object): Template => ({ type: 'application/json', body: JSON.stringify(body) })

/** Returns an answer in XML. */
export const xml = (body: string): Template => ({
  type: 'application/xml',
  body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
})
