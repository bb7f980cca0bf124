import { InvalidArgumentError } from 'commander'
import { type Decimal, parseDecimal } from '../../../domain/money.ts'
import type { NewFee } from '../../../domain/product/newFees.ts'
import type { NewPenalty } from '../../../domain/product/newPenalty.ts'

// Options whose value is fields: name=Processing,base=principal,rate=1.5,when=disbursement.

export const FEE_FIELDS = ['name', 'base', 'rate', 'amount', 'when', 'treatment'] as const
export const PENALTY_FIELDS = [
  ...(['base', 'rate', 'amount', 'every', 'graceDays', 'maxTimes'] as const),
  ...(['capPercentOfPrincipal', 'per'] as const),
] as const

/** Reads a fee, and adds it to those before. */
export function fee(text: string, before: readonly NewFee[] = []): NewFee[] {
  const fields = fieldsOf(text, FEE_FIELDS, 'name=Processing')
  return [
    ...before,
    {
      name: fields.get('name') ?? '',
      base: fields.get('base') ?? '',
      when: fields.get('when') ?? '',
      treatment: fields.get('treatment'),
      rate: decimalOf(fields, 'rate'),
      amount: decimalOf(fields, 'amount'),
    },
  ]
}

/** Reads the terms of penalties, which can be given once. */
export function penaltyTerms(text: string, before?: NewPenalty): NewPenalty {
  if (before) throw new InvalidArgumentError('It can be given only once: a product has one kind of penalty.')
  const fields = fieldsOf(text, PENALTY_FIELDS, 'base=overdue_total')
  return {
    base: fields.get('base') ?? '',
    every: fields.get('every') ?? '',
    per: fields.get('per') ?? '',
    rate: decimalOf(fields, 'rate'),
    amount: decimalOf(fields, 'amount'),
    graceDays: wholeOf(fields, 'graceDays'),
    maxTimes: wholeOf(fields, 'maxTimes'),
    capPercentOfPrincipal: decimalOf(fields, 'capPercentOfPrincipal'),
  }
}

/** The values of fields, by name. */
type Fields<Name extends string> = ReadonlyMap<Name, string>

function fieldsOf<Name extends string>(text: string, names: readonly Name[], example: string): Fields<Name> {
  const fields = new Map<Name, string>()
  for (const part of text.split(',')) {
    const [given, ...value] = part.split('=')
    const name = names.find((one) => one === given)
    if (name === undefined || value.length === 0)
      throw new InvalidArgumentError(`It must be fields such as ${example}, of ${names.join(', ')}.`)
    if (fields.has(name)) throw new InvalidArgumentError(`Its ${name} can be given only once.`)
    fields.set(name, value.join('='))
  }
  return fields
}

function decimalOf<Name extends string>(fields: Fields<Name>, name: Name): Decimal | undefined {
  const given = fields.get(name)
  if (given === undefined) return undefined
  const decimal = parseDecimal(given)
  if (!decimal) throw new InvalidArgumentError(`Its ${name} must be a number such as 1500 or 2.5.`)
  return decimal
}

function wholeOf<Name extends string>(fields: Fields<Name>, name: Name): number | undefined {
  const given = fields.get(name)
  if (given === undefined) return undefined
  if (!/^\d{1,9}$/.test(given)) throw new InvalidArgumentError(`Its ${name} must be a whole number such as 3.`)
  return Number(given)
}
