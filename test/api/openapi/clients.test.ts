import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authStyle } from '../../../src/api/auth/index.ts'
import { partnerStyle } from '../../../src/api/partner/index.ts'
import { recordStyle } from '../../../src/api/record/index.ts'
import { operationsOf } from '../../support/document.ts'
import type { Document } from '../../support/wire.ts'
import { toyApp } from '../toy.ts'

// What generators of clients need of a document, by what they make of the lack of it.

let app: FastifyInstance
beforeAll(async () => {
  app = await toyApp({}, { styles: [authStyle, partnerStyle, recordStyle] })
})
afterAll(() => app.close())

type Node = Readonly<Record<string, unknown>>

/** Members whose values are data, and no part of a schema. */
const DATA = new Set(['example', 'examples', 'value', 'default', 'enum', 'x-extensible-enum'])

/** Every object of a document with its place, but for examples. */
function nodesOf(document: Document): [place: string, node: Node][] {
  const found: [string, Node][] = []
  const visit = (place: string, node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (!Array.isArray(node)) found.push([place, node as Node])
    for (const [name, below] of Object.entries(node)) if (!DATA.has(name)) visit(`${place}/${name}`, below)
  }
  visit('', document)
  return found
}

/** Schemas, which stand below a `schema`, `properties`, `items` or the components. */
const isProperties = (place: string) => place.endsWith('/properties')

describe.each(['auth.localhost', 'api.localhost', 'records.localhost'])('the document of %s', (host) => {
  let document: Document
  let nodes: [place: string, node: Node][]
  beforeAll(async () => {
    document = (await app.inject({ url: '/openapi.json', headers: { host } })).json()
    nodes = nodesOf(document).filter(([place]) => !isProperties(place))
  })

  /** The places of the objects that a rule is broken by. */
  const broken = (breaks: (node: Node, place: string) => boolean) =>
    nodes.filter(([place, node]) => breaks(node, place)).map(([place]) => place)

  it('gives every number its width: without one, an amount becomes a float32', () => {
    expect(broken(({ type, format }) => type === 'number' && format !== 'double')).toEqual([])
    const isInteger = (type: unknown) => [type].flat().includes('integer')
    expect(broken(({ type, format }) => isInteger(type) && format !== 'int32' && format !== 'int64')).toEqual([])
  })

  it('has no bounds that only JavaScript has', () => {
    const unsafe = (bound: unknown) => typeof bound === 'number' && !(Math.abs(bound) < Number.MAX_SAFE_INTEGER)
    expect(broken(({ minimum, maximum }) => unsafe(minimum) || unsafe(maximum))).toEqual([])
  })

  it('has no constants, and no pattern beside a format or of a number', () => {
    expect(broken((node) => 'const' in node)).toEqual([])
    expect(
      broken(({ pattern, format, type }) => pattern !== undefined && (!!format || ![type].flat().includes('string'))),
    ).toEqual([])
  })

  it('says of every text in a body which characters it may have: control characters are refused', () => {
    const inRequest = /^\/components\/schemas\/\w+Request\/properties\/\w+$/
    const isBound = ({ format, pattern, enum: values, readOnly }: Node) => format ?? pattern ?? values ?? readOnly
    expect(broken((node, place) => inRequest.test(place) && node.type === 'string' && !isBound(node))).toEqual([])
  })

  it('names every object, and unites only what has a name', () => {
    const isNamed = (place: string) => /^\/components\/schemas\/\w+$/.test(place)
    // What the audit trail keeps of a thing depends on its kind.
    const isFree = (node: Node) => node.additionalProperties === true && !('properties' in node)
    expect(broken((node, place) => [node.type].flat().includes('object') && !isNamed(place) && !isFree(node))).toEqual(
      [],
    )
    const united = nodes.flatMap(([place, { anyOf, oneOf, allOf }]) =>
      [anyOf, oneOf, allOf].flat().map((member) => [place, member] as const),
    )
    for (const [place, member] of united)
      if (member !== undefined) expect([isNamed(place), Object.keys(member as Node)]).toEqual([true, ['$ref']])
  })

  it('sorts its schemas by name, in whatever order their modules were loaded', () => {
    const names = Object.keys(document.components.schemas)
    expect(names).toEqual(names.toSorted())
  })

  it('closes the objects of requests, and leaves those of answers open', () => {
    // A map is of all names, each with a value of one kind.
    for (const [name, { type, additionalProperties }] of Object.entries(document.components.schemas))
      if (type === 'object' && typeof additionalProperties !== 'object')
        expect([name, additionalProperties]).toEqual([name, !name.endsWith('Request')])
    expect(Object.keys(document.components.schemas).filter((name) => /^New|Input$/.test(name))).toEqual([])
  })

  it('names every operation by a verb, once, and says what it does', () => {
    const operations = operationsOf(document).map(([, operation]) => operation)
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const verbs =
      /^(get|list|create|update|post|adjust|reverse|advance|reset|refund|waive|activate|close|boost|authenticate|authorize|assign|retire|delete|test|recover|rotate|approve|reject|withdraw|book|charge|restructure|chargeOff|writeOff|verify|allocate|return|apply|confirm|complete|refuse|release|accept|resolve|cancel)([A-Z]\w*)?$/
    expect(ids.filter((id) => !verbs.test(id ?? ''))).toEqual([])
    for (const { operationId, summary, description } of operations)
      expect([operationId, summary?.length > 5, description?.length > 5]).toEqual([operationId, true, true])
  })

  it('groups the operations by tags that it describes, in their order', () => {
    const known = document.tags.map(({ name }) => name)
    const used = operationsOf(document).map(([, { tags }]) => tags[0]!)
    expect([...new Set(used)]).toEqual(known)
    for (const { description } of document.tags) expect(description.length).toBeGreaterThan(10)
  })

  it('describes the headers of every answer', () => {
    for (const [name, { responses }] of operationsOf(document))
      for (const [status, { headers }] of Object.entries(responses)) {
        const names = Object.keys(headers)
        expect([name, status, names]).toEqual([name, status, expect.arrayContaining(['X-Request-Id'])])
        for (const header of names) expect(document.components.headers).toHaveProperty(header)
        expect(names.includes('Retry-After')).toBe(/^(429|503)$/.test(status) || isRace(document, name, status))
        expect(names.includes('WWW-Authenticate')).toBe(status === '401')
        expect(names.includes('X-Api-Version')).toBe(host.startsWith('records'))
      }
  })
})

/** Whether a status is that of a lost race, too. */
const isRace = (document: Document, name: string, status: string) =>
  status === '409' &&
  'aborted' in
    (operationsOf(document).find(([one]) => one === name)![1].responses[status]!.content!['application/json']!
      .examples ?? {})
