import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { readDocuments, type StyleName } from '../../../clients/typescript/generate/documents.ts'
import { generateClient } from '../../../clients/typescript/generate/generate.ts'
import { shapesOf } from '../../../clients/typescript/generate/shapes.ts'
import { createMkopo } from '../../../clients/typescript/src/index.ts'
import { operationsOf } from '../../support/document.ts'
import type { Document } from '../../support/wire.ts'
import { allOf, answer, fakeService } from './fake.ts'

const FOLDER = join(import.meta.dirname, '../../../clients/typescript/src/generated')

let documents: Awaited<ReturnType<typeof readDocuments>>
beforeAll(async () => {
  documents = await readDocuments()
})

describe('the generated files', () => {
  it('are what `npm run client` makes of the documents', async () => {
    for (const [name, source] of await generateClient(documents)) {
      const committed = readFileSync(join(FOLDER, name), 'utf8')
      expect([name, firstDifference(source, committed)]).toEqual([name, undefined])
    }
  })

  it('have a function for each operation, and no other', () => {
    const { records, auth, events, ...partner } = createMkopo({})
    const { events: ofRecords, ...record } = records
    expect([typeof events.follow, typeof ofRecords.follow]).toEqual(['function', 'function'])
    for (const [style, operations] of Object.entries({ partner, record, auth })) {
      const document = documents[style as StyleName] as unknown as Document
      const names = operationsOf(document).map(([, { operationId }]) => operationId)
      expect([style, Object.keys(operations).toSorted()]).toEqual([style, names.toSorted()])
    }
  })

  it('give all items of each list of the documents', async () => {
    let lists = 0
    for (const [style, document] of Object.entries(documents))
      for (const [, { operationId, parameters = [] }] of operationsOf(document as unknown as Document)) {
        if (!parameters.some(({ name }) => name === 'after')) continue
        lists++
        const parts = [
          answer({ items: [{ id: '1' }], next: 'a' }),
          answer({ items: [{ id: '2' }], next: 'b' }),
          answer({ items: [] }),
        ]
        const { mkopo, sent } = fakeService(parts)
        const owner = (style === 'record' ? mkopo.records : mkopo) as unknown as Record<string, Listing>
        const path = parameters.filter((one) => one.in === 'path').map(() => '7')
        const items = await allOf(owner[operationId]!(...path))
        expect([operationId, items]).toEqual([operationId, [{ id: '1' }, { id: '2' }]])
        expect(sent.map((one) => one.path.split('?')[1])).toEqual([undefined, 'after=a', 'after=b'])
      }
    expect(lists).toBeGreaterThan(18)
  })
})

/** Returns the first line that two texts do not have alike, as each has it, or undefined. */
function firstDifference(made: string, committed: string): object | undefined {
  if (made === committed) return undefined
  const [ours, theirs] = [made.split('\n'), committed.split('\n')]
  const line = ours.findIndex((text, index) => text !== theirs[index])
  return line < 0 ? { lines: [ours.length, theirs.length] } : { line, made: ours[line], committed: theirs[line] }
}

type Listing = (...path: string[]) => AsyncIterable<unknown>

describe('the shape of an answer', () => {
  const document = (schemas: object) => ({ components: { schemas }, paths: {} }) as never
  const answer = (name: string) =>
    ({ responses: { 200: { content: { 'application/json': { schema: { $ref: `#/x/${name}` } } } } } }) as never
  const int64 = { type: 'integer', format: 'int64' }

  it('has the members that have an int64 below them, and no others', () => {
    const list = { properties: { items: { items: { $ref: '#/x/Item' } }, total: int64, page: { format: 'int32' } } }
    const item = {
      properties: { id: int64, note: { type: 'string' }, plain: { $ref: '#/x/Plain' }, ids: { items: int64 } },
    }
    const shapes = shapesOf(document({ List: list, Item: item, Plain: { properties: { amount: {} } } }), [
      'List',
      'Plain',
    ])
    expect(shapes.source.split('\n')).toEqual([
      'const itemShape: Shape = { id: 1, ids: 1 }',
      'const listShape: Shape = { items: itemShape, total: 1 }',
      'export { listShape }',
      'export const plainShape = undefined',
      '',
    ])
    expect([shapes.constantOf(answer('List')), shapes.constantOf(answer('Plain'))]).toEqual(['listShape', undefined])
  })

  it('is not made of what it cannot say', () => {
    const either = document({ Either: { oneOf: [{ $ref: '#/x/One' }] } })
    expect(() => shapesOf(either, ['Either'])).toThrow('Either: an answer of several shapes')
    const loop = document({ Tree: { properties: { id: int64, leaves: { items: { $ref: '#/x/Tree' } } } } })
    expect(() => shapesOf(loop, ['Tree'])).toThrow('Tree: refers to itself')
  })
})
