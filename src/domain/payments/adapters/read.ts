import type { Instant } from '../../dates.ts'
import { type Decimal, parseDecimal } from '../../money.ts'
import { phoneDigits } from '../matching.ts'
import { LONGEST_TOLD, type ToldPayment, type ToldReversal } from '../told.ts'
import type { Adapter, Fields, Shape, Status, StatusTable } from './adapter.ts'
import { readTime } from './times.ts'
import { at, exactAt, type Path, type Tree, textAt } from './tree.ts'

/** What a message tells. */
export type Reading =
  | { readonly tells: 'payment'; readonly payment: ToldPayment }
  | { readonly tells: 'reversal'; readonly reversal: ToldReversal; readonly currencyCode: string | undefined }
  | { readonly tells: 'nothing' | 'unreadable'; readonly why: string }

/** What a message is read with. */
export interface ReadingContext {
  /** The zone of the channel, in which the provider's times are. */
  readonly zone: string
  /** The moment of receipt, which counts where the provider says no time. */
  readonly receivedAt: Instant
}

/** Thrown inside `readTold` for a message that lacks what it needs; it never leaves that function. */
class Unreadable extends Error {}

const LONGEST_SHOWN = 40

/** Shows a text of a message in words for people. */
const shown = (text: string): string => (text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text)

const has = (tree: Tree, path: Path): boolean => {
  const found = at(tree, path)
  return found !== undefined && found !== null
}

/** Returns the kind of a message; undefined for one that its provider does not send. */
const shapeOf = ({ shapes }: Adapter, tree: Tree): Shape | undefined =>
  shapes.find((shape) => shape.has.every((path) => has(tree, path)))

/** Reads what a message of a provider tells: a payment, a reversal, nothing of money that came in, or nothing that can be read. */
export function readTold(adapter: Adapter, tree: Tree, context: ReadingContext): Reading {
  const shape = shapeOf(adapter, tree)
  if (shape === undefined) return { tells: 'unreadable', why: 'it is no message of the provider of this channel' }
  if (shape.tells === 'nothing') return { tells: 'nothing', why: shape.why }
  const status = shape.status && statusOf(shape.status, tree)
  if (status && status.means !== 'done') return endedOtherwise(status)
  try {
    return shape.tells === 'payment'
      ? { tells: 'payment', payment: paymentOf(adapter, tree, shape.fields, context) }
      : reversalOf(adapter, tree, shape.fields, context)
  } catch (error) {
    if (error instanceof Unreadable) return { tells: 'unreadable', why: error.message }
    throw error
  }
}

interface Ended {
  readonly means: Status
  /** The provider's word; undefined where the message has none. */
  readonly word: string | undefined
}

/** Returns how a transaction ended: the first of the words that does not mean done, or else done. */
function statusOf({ at: paths, words, absent }: StatusTable, tree: Tree): Ended {
  const meanings = new Map(Object.entries(words).map(([word, means]) => [word.toLowerCase(), means]))
  const all = paths
    .filter((path) => has(tree, path))
    .map((path): Ended => {
      const word = textAt(tree, [path])
      return { means: (word !== undefined && meanings.get(word.toLowerCase())) || 'unknown', word }
    })
  return all.find(({ means }) => means !== 'done') ?? all[0] ?? { means: absent, word: undefined }
}

function endedOtherwise({ means, word }: Ended): Reading {
  const status = word === undefined ? 'no status' : `the status ${shown(word)}`
  switch (means) {
    case 'failed':
    case 'pending':
      return { tells: 'nothing', why: `${status} means ${means}: no money came in` }
    case 'reversed':
      return { tells: 'unreadable', why: `${status} means reversed, and nothing says which payment by which receipt` }
    default:
      return { tells: 'nothing', why: `${status} is unknown here: the money may have come in or not; ask the provider` }
  }
}

function required(tree: Tree, paths: readonly Path[]): string {
  const text = textAt(tree, paths)
  if (text === undefined) throw new Unreadable(`${paths[0]}: is missing`)
  return text
}

function receiptAt(tree: Tree, paths: readonly Path[]): string {
  const receipt = required(tree, paths)
  // Another character in its place would be another receipt.
  if (receipt !== exactAt(tree, paths)) throw new Unreadable(`${paths[0]}: has a character that no receipt has`)
  if (receipt.length > LONGEST_TOLD.receipt)
    throw new Unreadable(`${paths[0]}: must have at most ${LONGEST_TOLD.receipt} characters`)
  return receipt
}

function amountAt(tree: Tree, paths: readonly Path[]): Decimal {
  const text = required(tree, paths)
  const amount = parseDecimal(text)
  if (amount === undefined) throw new Unreadable(`${paths[0]}: ${shown(text)} is no amount`)
  return amount
}

function timeAt(
  { times }: Adapter,
  tree: Tree,
  { paidAt }: Pick<Fields, 'paidAt'>,
  { zone, receivedAt }: ReadingContext,
): Instant {
  if (paidAt === undefined) return receivedAt
  const text = required(tree, paidAt)
  const instant = readTime(text, times, zone)
  if (instant === undefined) throw new Unreadable(`${paidAt[0]}: ${shown(text)} is no time such as ${times[0]}`)
  return instant
}

/** Returns the text at one of some paths, cut where it is too long to be kept. */
const optional = (tree: Tree, paths: readonly Path[] | undefined, longest: number): string | undefined =>
  paths && textAt(tree, paths)?.slice(0, longest)

function paymentOf(adapter: Adapter, tree: Tree, fields: Fields, context: ReadingContext): ToldPayment {
  return {
    receipt: receiptAt(tree, fields.receipt),
    amount: amountAt(tree, fields.amount),
    currencyCode: fields.currency && textAt(tree, fields.currency),
    paidAt: timeAt(adapter, tree, fields, context),
    ...payerOf(tree, fields),
  }
}

/** Reads the reference and the payer. A number of which the provider shows a part only is none. */
function payerOf(tree: Tree, fields: Fields): Pick<ToldPayment, 'reference' | 'payerPhone' | 'payerName'> {
  const phone = optional(tree, fields.phone, LONGEST_TOLD.payerPhone)
  const name = (fields.name ?? []).flatMap((path) => textAt(tree, [path]) ?? []).join(' ')
  return {
    reference: optional(tree, fields.reference, LONGEST_TOLD.reference),
    payerPhone: phone !== undefined && phoneDigits(phone) !== null ? phone : undefined,
    payerName: name === '' ? undefined : name.slice(0, LONGEST_TOLD.payerName),
  }
}

function reversalOf(
  adapter: Adapter,
  tree: Tree,
  fields: Fields & { readonly reverses: readonly Path[] },
  context: ReadingContext,
): Reading {
  const receipt = receiptAt(tree, fields.receipt)
  const reverses = receiptAt(tree, fields.reverses)
  if (receipt === reverses) throw new Unreadable(`${fields.reverses[0]}: names the reversal itself`)
  return {
    tells: 'reversal',
    reversal: {
      receipt,
      reverses,
      amount: amountAt(tree, fields.amount),
      reversedAt: timeAt(adapter, tree, fields, context),
    },
    currencyCode: fields.currency && textAt(tree, fields.currency),
  }
}

/** What a provider asks about before it takes the money: of each undefined where the message does not say it. */
export interface Asked {
  readonly reference: string | undefined
  readonly phone: string | undefined
  /** Undefined also where what the message says is no amount. */
  readonly amount: Decimal | undefined
  readonly saysAmount: boolean
}

/** Reads what a provider asks about; undefined for what is no message of a payment. */
export function readAsked(adapter: Adapter, tree: Tree): Asked | undefined {
  for (const shape of adapter.shapes) {
    if (shape.tells !== 'payment' || !shape.has.every((path) => has(tree, path))) continue
    const { reference, payerPhone } = payerOf(tree, shape.fields)
    const text = textAt(tree, shape.fields.amount)
    const amount = text === undefined ? undefined : parseDecimal(text)
    return { reference, phone: payerPhone, amount, saysAmount: text !== undefined }
  }
  return undefined
}
