import type { Instant } from '../../dates.ts'
import type { Adapter, Fields, Shape, Template } from './adapter.ts'
import { writeTime } from './times.ts'
import { type Path, put, type Tree, textAt, type Written } from './tree.ts'

const PLACE = /\{\{([^}]+)\}\}/g

const IN_XML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Returns a text with what has a meaning in XML escaped. */
const xmlText = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => IN_XML[found]!)

const jsonText = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The most characters of a text of a message that an answer repeats. */
const LONGEST_REPEATED = 200

/** Returns the body of an answer, with the texts of the message that it repeats. @param tree undefined: nothing could be read of it */
export function filled({ type, body }: Template, tree: Tree | undefined): string {
  const toText = type === 'application/xml' ? xmlText : jsonText
  return body.replaceAll(PLACE, (_, paths: string) => {
    const text = tree === undefined ? undefined : textAt(tree, paths.split('|'))
    return toText((text ?? '').slice(0, LONGEST_REPEATED))
  })
}

/** Returns whether an answer repeats something of its message. */
export const repeats = ({ body }: Template): boolean => body.includes('{{')

/** A payment or a reversal, as the simulator of a provider writes it. */
export interface Simulated {
  readonly receipt: string
  /** The receipt that a reversal takes back; undefined: it is a payment. */
  readonly reverses?: string | undefined
  /** A decimal. */
  readonly amount: string
  readonly currency: string
  readonly paidAt: Instant
  readonly reference?: string | undefined
  readonly phone?: string | undefined
}

type Told = Exclude<Shape, { readonly tells: 'nothing' }>

/** Returns the kind of message of a provider that tells of a payment or of a reversal; undefined where it sends none. */
const shapeThat = ({ shapes }: Adapter, tells: Told['tells']): Told | undefined =>
  shapes.find((shape): shape is Told => shape.tells === tells)

/** Returns whether a provider sends messages that take payments back. */
export const tellsReversals = (adapter: Adapter): boolean => shapeThat(adapter, 'reversal') !== undefined

/** Writes a message as a provider sends it; undefined for a reversal of a provider that sends none. */
export function writeMessage(adapter: Adapter, told: Simulated, zone: string): string | undefined {
  const shape = shapeThat(adapter, told.reverses === undefined ? 'payment' : 'reversal')
  if (shape === undefined) return undefined
  const tree: Written = {}
  const write = (paths: readonly Path[] | undefined, text: string | undefined) => {
    if (paths !== undefined && text !== undefined) put(tree, paths[0]!, text)
  }
  if (shape.tells === 'payment') for (const [path, text] of Object.entries(adapter.sample)) put(tree, path, text)
  const { status } = shape
  const done = status && Object.entries(status.words).find(([, means]) => means === 'done')?.[0]
  if (shape.tells === 'reversal') write(status?.at, done)
  const fields: Fields = shape.fields
  write(fields.receipt, told.receipt)
  if (shape.tells === 'reversal') write(shape.fields.reverses, told.reverses)
  write(fields.amount, told.amount)
  write(fields.currency, told.currency)
  write(fields.paidAt, adapter.times[0] && writeTime(told.paidAt, adapter.times[0], zone))
  if (shape.tells === 'payment') {
    write(fields.reference, told.reference ?? '')
    write(fields.phone, told.phone)
  }
  return adapter.format === 'json' ? JSON.stringify(tree) : xmlOf(tree)
}

const xmlOf = (tree: Written): string =>
  Object.entries(tree)
    .flatMap(([name, inside]) => (Array.isArray(inside) ? inside : [inside]).map((one) => [name, one] as const))
    .map(([name, one]) => `<${name}>${typeof one === 'string' ? xmlText(one) : xmlOf(one)}</${name}>`)
    .join('')
