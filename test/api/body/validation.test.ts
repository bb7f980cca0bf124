import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { InvalidRequest, JsonNumber } from '../../../src/api/body/json.ts'
import { clearable, eitherOf, validatorCompiler } from '../../../src/api/body/validation.ts'

/** Checks a part of a request. @returns the value that the handler gets, or the faults, each with its field */
function checked(schema: z.ZodType, data: unknown, { part = 'body', method = 'POST' } = {}): unknown {
  const validate = validatorCompiler({ schema, httpPart: part, method, url: '/v1/things' })
  const result = validate(data) as { value?: unknown; error?: unknown }
  if (!(result.error instanceof InvalidRequest)) return result.value
  const { message, details } = result.error
  return details.length === 0 ? message : details.map((one) => `${one.field}: ${one.message}`)
}

/** Returns the one fault of a field, without its name. */
function faultOf(field: z.ZodType, value: unknown): string {
  const faults = checked(z.strictObject({ a: field }), { a: value }) as string[]
  expect(faults).toHaveLength(1)
  return faults[0]!.replace('a: ', '')
}

describe('the fault of a field', () => {
  it.each([
    [z.string(), 5, 'must be a string'],
    [z.number(), 'x', 'must be a number'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 'true', 'must be true or false'],
    [z.array(z.string()), 'x', 'must be a list'],
    [z.object({}), 'x', 'must be an object'],
    [z.record(z.string(), z.string()), 'x', 'must be an object'],
    [z.date(), 'x', 'must be of type date'],
    [z.string(), undefined, 'is required'],
    [z.literal('a'), 'b', 'must be a'],
    [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().min(3), 'ab', 'must be at least 3 characters long'],
    [z.string().max(3), 'abcd', 'must be at most 3 characters long'],
    [z.array(z.string()).min(1), [], 'must have at least 1 item'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
    [z.number().gt(0), 0, 'must be greater than 0'],
    [z.number().lt(5), 5, 'must be less than 5'],
    [z.number().min(1), 0, 'must be at least 1'],
    [z.number().max(5), 6, 'must be at most 5'],
    [z.email(), 'x', 'must be a valid email'],
    [z.union([z.string(), z.boolean()]), 5, 'has none of the accepted forms'],
    [z.string().refine((text) => text === 'a'), 'b', 'is not valid'],
    [z.string().refine((text) => text === 'a', { error: 'must be a letter of ours' }), 'b', 'must be a letter of ours'],
  ])('%# says what would be right', (field, value, fault) => {
    expect(faultOf(field, value)).toBe(fault)
  })

  it('of a number where an object is expected is that of the number, once', () => {
    const schema = z.strictObject({ a: z.strictObject({ b: z.string(), c: z.string() }) })
    expect(checked(schema, { a: new JsonNumber('5') })).toEqual(['a: must be an object'])
  })
})

describe('a field that is not known', () => {
  const schema = z.strictObject({
    amount: z.number().optional(),
    currencyCode: z.string().optional(),
    id: z.string().optional(),
  })
  const withToken = z.strictObject({ amount: z.number().optional(), idempotencyKey: z.string().optional() })

  it.each([
    [schema, { currency_cod: 'KES' }, 'currency_cod: is not a known field; did you mean currencyCode?'],
    [schema, { colour: 1 }, 'colour: is not a known field'],
    [schema, { ix: 1 }, 'ix: is not a known field'],
    [schema, { amount: 1, amuont: 2 }, 'amuont: is not a known field'],
    [
      schema,
      { idempotencyKey: 'k' },
      'idempotencyKey: is not a known field here; to retry safely, send the header Idempotency-Key',
    ],
    [withToken, { receiptNo: 'R' }, 'receiptNo: is not a known field; the dedupe token is idempotencyKey'],
    [withToken, { idempotencyKey: 'k', receiptNo: 'R' }, 'receiptNo: is not a known field'],
  ])('%# names the field that is meant, where one resembles it', (of, body, fault) => {
    expect(checked(of, body)).toEqual([fault])
  })

  it('is told before the others, each by 100 characters of its name, and 20 at most', () => {
    const required = z.strictObject({ amount: z.number() })
    expect(checked(required, { amuont: 5 })).toEqual([
      'amuont: is not a known field; did you mean amount?',
      'amount: is required',
    ])
    const long = 'x'.repeat(150)
    expect(checked(schema, { [long]: 1 })).toEqual([`${'x'.repeat(100)}: is not a known field`])
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`wrong${index}`, index]))
    expect(checked(schema, many)).toHaveLength(20)
    expect(checked(z.array(schema), new Array(60).fill({ colour: 1 }))).toHaveLength(20)
  })

  it('of a query is told with the parameters that are left, and none may be given twice', () => {
    const part = 'querystring'
    expect(checked(schema, { amuont: '5' }, { part })).toEqual([
      'amuont: is not a known parameter; did you mean amount?',
    ])
    expect(checked(schema, { colour: '5', id: '1' }, { part })).toEqual([
      'colour: is not a known parameter; those left are amount, currencyCode',
    ])
    expect(checked(z.strictObject({}), { a: '1' }, { part })).toEqual([
      'a: is not a known parameter; none is taken here',
    ])
    expect(checked(schema, { id: ['1', '2'] }, { part })).toEqual(['id: must be given only once'])
  })
})

describe('a body', () => {
  const schema = z.strictObject({ name: z.string() })

  it('has to be an object, where it is not optional', () => {
    for (const body of [null, undefined, 'text', 5, [schema]])
      expect(checked(schema, body)).toBe('the body must be a JSON object')
    expect(checked(schema.optional(), null)).toBeUndefined()
    expect(checked(schema.optional(), { name: 'a' })).toEqual({ name: 'a' })
  })

  it('leaves out what is null, where it may; a PUT clears what it may clear, and refuses the rest', () => {
    const fields = z.strictObject({
      kept: z.string().optional(),
      nothing: z.string().nullable().optional(),
      emptied: clearable(z.string(), ''),
      left: clearable(z.string()),
    })
    const nulls = { kept: null, nothing: null, emptied: null, left: null }
    expect(checked(fields, nulls)).toEqual({ nothing: null })
    expect(checked(fields.optional(), nulls)).toEqual({ nothing: null })
    const { kept, ...rest } = nulls
    expect(checked(fields, rest, { method: 'PUT' })).toEqual({ nothing: null, emptied: '' })
    expect(checked(fields, { kept }, { method: 'PUT' })).toEqual(['kept: must be a string'])
    expect(checked(z.strictObject({ name: z.string() }), { name: null })).toEqual(['name: must be a string'])
    expect(checked(z.record(z.string(), z.null()), { name: null })).toEqual({ name: null })
  })

  it('of two shapes is checked by the one that is meant', () => {
    const [byId, byName] = [z.strictObject({ id: z.string() }), z.strictObject({ name: z.string() })]
    const either = eitherOf([byId, byName], (body) =>
      'id' in body && 'name' in body
        ? [{ field: 'id', message: 'cannot be given together with name' }]
        : 'id' in body
          ? byId
          : byName,
    )
    expect(checked(either, { id: '1' })).toEqual({ id: '1' })
    expect(checked(either, { name: 5 })).toEqual(['name: must be a string'])
    expect(checked(either, { id: '1', name: 'a' })).toEqual(['id: cannot be given together with name'])
    for (const body of [null, 'text', 5]) expect(checked(either, body)).toBe('the body must be a JSON object')
  })
})
