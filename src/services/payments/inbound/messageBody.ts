import { isUtf8 } from 'node:buffer'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import type { Adapter } from '../../../domain/payments/adapters/adapter.ts'
import type { Tree } from '../../../domain/payments/adapters/tree.ts'
import { JsonFault, JsonNumber, readJson } from '../../../toolbox/json.ts'

/** The most bytes of a message. */
export const LONGEST_MESSAGE = 64 * 1024

/** How deep the elements of a message may be in each other: no provider goes beyond six. */
const MOST_NESTED = 32

/** What the body of a message is, or why it cannot be read. */
export type Body = { readonly tree: Tree } | { readonly why: string }

/** Reads the body of a message. It never throws: what cannot be read is kept, and says why. */
export function readBody({ format }: Pick<Adapter, 'format'>, body: Buffer): Body {
  if (!isUtf8(body)) return { why: 'the body is not valid UTF-8' }
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  return format === 'json' ? fromJson(text) : readXml(text)
}

function fromJson(text: string): Body {
  try {
    return { tree: treeOf(readJson(text, 'the body')) }
  } catch (error) {
    if (error instanceof JsonFault)
      return { why: error.twice === undefined ? error.message : 'a member is given twice' }
    throw error
  }
}

/** Returns JSON as a tree of texts. */
function treeOf(value: unknown): Tree {
  if (value === null || typeof value === 'string') return value
  if (value instanceof JsonNumber) return value.source
  if (Array.isArray(value)) return value.map(treeOf)
  if (typeof value !== 'object') return String(value)
  // A member named `__proto__` stays a plain member.
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, treeOf(inside)]))
}

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  // No entity is ever expanded: the five of XML itself are read below, and a document type is refused.
  processEntities: false,
  removeNSPrefix: true,
  maxNestedTags: MOST_NESTED,
})

const NOT_XML = 'the body is not well-formed XML'

/** Reads XML as a tree; no entity of its own is ever expanded. */
export function readXml(text: string): Body {
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) return { why: 'the body has a document type, which is never read' }
  // A text in which one stands would be read as if it were not there: no provider sends any.
  if (/<!--|.<\?/s.test(text)) return { why: 'the body has a comment or an instruction, which is never read' }
  try {
    if (XMLValidator.validate(text) !== true) return { why: NOT_XML }
    return { tree: plainOf(parser.parse(text)) }
  } catch {
    // The parser throws errors of its own for names that could harm it, and for what is nested too deep.
    return { why: NOT_XML }
  }
}

function plainOf(value: unknown): Tree {
  if (typeof value === 'string') return value.replaceAll(ENTITY, entityOf)
  if (Array.isArray(value)) return value.map(plainOf)
  if (typeof value !== 'object' || value === null) return null
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, plainOf(inside)]))
}

const ENTITY = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-f]{1,6}));/gi
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const LAST_CODE_POINT = 0x10ffff

function entityOf(whole: string, name?: string, decimal?: string, hexadecimal?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : whole
}
