import { type Command, InvalidArgumentError, Option } from 'commander'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { COMPONENTS } from '../../../domain/loan/portions.ts'
import {
  type Currency,
  type Decimal,
  minorToText,
  parseDecimal,
  type Rate,
  rateToNumber,
} from '../../../domain/money.ts'
import type { NewFee, NewPenalty, NewTax } from '../../../domain/product/newCharges.ts'
import type { NewProduct } from '../../../domain/product/newProduct.ts'
import type { Product } from '../../../domain/product/product.ts'
import type { NewRestructureLimits } from '../../../domain/product/restructuring.ts'
import {
  EARLY_SETTLEMENTS,
  type Fee,
  type PenaltyTerms,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
  type Tax,
} from '../../../domain/product/terms.ts'
import { createProduct } from '../../../services/organizations/products.ts'
import {
  currencyOption,
  decimalNumber,
  membersOf,
  nameGiven,
  organizationOption,
  takeName,
  wholeNumber,
} from '../../options.ts'
import { performAdding, type Shell } from '../../perform.ts'

/** Adds `products create`. */
export function createCommand(products: Command, shell: Shell): void {
  const command = takeName(products.command('create'), 'what it is called')
    .description('make a loan product')
    .requiredOption('--min <amount>', 'the smallest principal', decimalNumber)
    .requiredOption('--max <amount>', 'the largest principal', decimalNumber)
    .requiredOption('--instalments <number>', 'how many', wholeNumber)
    .requiredOption('--rate <percent>', 'interest, per period unless --rate-per says otherwise', decimalNumber)
    .option('--every <number>', 'periods between instalments', wholeNumber, 1)
    .addOption(new Option('--unit <unit>', 'of the periods').choices(PERIOD_UNITS).default('months'))
    .addOption(currencyOption("the organization's when left out"))
    .option('--multiple-of <amount>', "round each instalment's total to a multiple of this", decimalNumber)
    .option('--enforce-limit', "keep its loans to the customer's credit limit")
    .option(
      '--restructuring <bounds>',
      'of restructures: [maxTimes=…][,minPaidPercent=…][,maxDaysAdded=…]; none when left out',
      restructuring,
    )
    .option(
      '--penalty <percent>',
      'of the principal, once, when anything is unpaid at the last due time',
      decimalNumber,
    )
    .option('--id <number>', 'its number; the next one when left out', wholeNumber)
  addTerms(command)
    .addOption(organizationOption())
    .action((argument: string | undefined, options: ProductOptions, command: Command) => {
      const name = nameGiven(command, argument)
      return performAdding(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const product = await createProduct(deps, by(id), asked(name, options))
        printer.done(viewOf(product), `Product ${product.id}, ${product.name}, of organization ${id}.`)
      })
    })
}

/** Adds the options of the terms beyond flat interest per period. */
const addTerms = (command: Command): Command =>
  command
    .addOption(new Option('--method <method>', 'of interest; flat when left out').choices(PRODUCT_METHODS))
    .addOption(new Option('--rate-per <time>', 'what the rate is per; period when left out').choices(RATE_PERIODS))
    .addOption(new Option('--day-count <rule>', 'how days become interest').choices(PRODUCT_DAY_COUNTS))
    .option('--grace-principal <number>', 'instalments at the beginning without principal', wholeNumber)
    .option('--grace-interest <number>', 'instalments at the beginning whose interest is due later', wholeNumber)
    .option('--first-due-after <time>', 'from disbursement to the first due date, as in 45days', distance)
    .option(
      '--fee <fee>',
      'name=…,base=fixed|principal|instalment,amount=…|rate=…,when=disbursement|each_instalment|due_date[,treatment=added|deducted][,taxName=…,taxPercent=…]; repeat for others',
      fee,
    )
    .option(
      '--penalty-terms <terms>',
      'in place of --penalty: base=principal|overdue_principal|overdue_total|fixed,amount=…|rate=…,every=once|day|week|period,per=loan|instalment[,graceDays=…][,maxTimes=…][,capPercentOfPrincipal=…]',
      penaltyTerms,
    )
    .addOption(
      new Option(
        '--early-settlement <rule>',
        'the interest of a loan that is paid off early; full_interest when left out',
      ).choices(EARLY_SETTLEMENTS),
    )
    .option('--days-after-due <number>', 'days on which interest runs on after the last due date', wholeNumber)
    .option('--interest-tax <tax>', 'added to all interest: name=…,percent=…', interestTax)
    .option('--total-charge-cap <percent>', 'of the principal: the most interest, fees and penalties', decimalNumber)
    .option(
      '--allocation <components>',
      `the order in which money pays an instalment; ${COMPONENTS.join(',')} when left out`,
      (text: string) => text.split(','),
    )
    .option('--max-rate-per-month <percent>', 'refuse a rate that comes to more', decimalNumber)

interface ProductOptions {
  readonly organization?: number
  readonly id?: number
  readonly currency?: string
  readonly min: Decimal
  readonly max: Decimal
  readonly instalments: number
  readonly every: number
  readonly unit: string
  readonly rate: Decimal
  readonly multipleOf?: Decimal
  readonly penalty?: Decimal
  readonly enforceLimit?: boolean
  readonly restructuring?: NewRestructureLimits
  readonly method?: string
  readonly ratePer?: string
  readonly dayCount?: string
  readonly gracePrincipal?: number
  readonly graceInterest?: number
  readonly firstDueAfter?: { readonly every: number; readonly unit: string }
  readonly fee?: readonly NewFee[]
  readonly penaltyTerms?: NewPenalty
  readonly earlySettlement?: string
  readonly daysAfterDue?: number
  readonly interestTax?: NewTax
  readonly totalChargeCap?: Decimal
  readonly allocation?: readonly string[]
  readonly maxRatePerMonth?: Decimal
}

const asked = (name: string, options: ProductOptions): NewProduct => ({
  id: options.id,
  name,
  currency: options.currency,
  principalMin: options.min,
  principalMax: options.max,
  numberOfRepayments: options.instalments,
  repayEvery: options.every,
  repayUnit: options.unit,
  interestRate: options.rate,
  totalMultipleOf: options.multipleOf,
  penaltyRate: options.penalty,
  enforceCreditLimit: options.enforceLimit,
  restructuring: options.restructuring,
  interestMethod: options.method,
  ratePer: options.ratePer,
  dayCount: options.dayCount,
  grace: {
    principalPeriods: options.gracePrincipal,
    interestPeriods: options.graceInterest,
    firstDueAfter: options.firstDueAfter,
  },
  fees: options.fee,
  penalty: options.penaltyTerms,
  earlySettlement: options.earlySettlement,
  ...(options.daysAfterDue !== undefined && { afterDue: { interest: 'runs_on', maxDays: options.daysAfterDue } }),
  interestTax: options.interestTax,
  totalChargeCap: options.totalChargeCap,
  allocation: options.allocation,
  maxRatePerMonth: options.maxRatePerMonth,
})

/** Reads bounds of restructures such as `maxTimes=2,maxDaysAdded=90`. */
function restructuring(text: string): NewRestructureLimits {
  const known = ['maxTimes', 'minPaidPercent', 'maxDaysAdded']
  const members = membersOf(text, known)
  const [maxTimes, minPaidPercent, maxDaysAdded] = known.map((name) => members.get(name))
  return {
    ...(maxTimes !== undefined && { maxTimes: wholeNumber(maxTimes) }),
    ...(minPaidPercent !== undefined && { minPaidPercent: decimalNumber(minPaidPercent) }),
    ...(maxDaysAdded !== undefined && { maxDaysAdded: wholeNumber(maxDaysAdded) }),
  }
}

/** Reads a distance such as `45days`. */
function distance(text: string): { every: number; unit: string } {
  const [, every, unit = ''] = /^(\d{1,4}) ?(days|weeks|months|years)$/.exec(text) ?? []
  if (every === undefined) throw new InvalidArgumentError('It must be a time such as 45days, 6weeks or 2months.')
  return { every: Number(every), unit }
}

/** Builds the view of a product; `terms` is there where it has any beyond flat interest per period. */
export const viewOf = (product: Product) => ({
  id: product.id,
  name: product.name,
  currency: product.currency.code,
  min: minorToText(product.principalMin, product.currency),
  max: minorToText(product.principalMax, product.currency),
  instalments: product.numberOfRepayments,
  every: product.repayEvery,
  unit: product.repayUnit,
  rate: rateToNumber(product.ratePerPeriod),
  multipleOf: product.totalMultipleOf === null ? null : minorToText(product.totalMultipleOf, product.currency),
  penalty: product.penaltyRate === null ? null : rateToNumber(product.penaltyRate),
  enforceCreditLimit: product.enforceCreditLimit,
  ...(product.restructuring && {
    restructuring: {
      ...product.restructuring,
      minPaidPercent:
        product.restructuring.minPaidPercent === null ? null : rateToNumber(product.restructuring.minPaidPercent),
    },
  }),
  retired: product.retired,
  ...(product.terms !== null && { terms: viewOfTerms(product.terms, product.currency) }),
})

const viewOfTerms = (terms: ProductTerms, currency: Currency) => ({
  ...terms,
  interestRate: rateToNumber(terms.interestRate),
  maxRatePerMonth: percentOrNull(terms.maxRatePerMonth),
  interestTax: terms.interestTax && viewOfTax(terms.interestTax),
  fees: terms.fees.map(({ name, when, treatment, tax, ...size }) => ({
    name,
    base: size.base,
    when,
    treatment,
    ...viewOfSize(size, currency),
    ...(tax && { tax: viewOfTax(tax) }),
  })),
  penalty: terms.penalty && viewOfPenalty(terms.penalty, currency),
  totalChargeCap: percentOrNull(terms.totalChargeCap),
})

const viewOfTax = ({ name, rate }: Tax) => ({ name, percent: rateToNumber(rate) })

const viewOfPenalty = ({ value, capOfPrincipal, ...rest }: PenaltyTerms, currency: Currency) => ({
  ...rest,
  ...viewOfSize({ base: rest.base, value }, currency),
  capPercentOfPrincipal: percentOrNull(capOfPrincipal),
})

const percentOrNull = (rate: Rate | null): number | null => (rate === null ? null : rateToNumber(rate))

const viewOfSize = (
  { base, value }: Pick<Fee | PenaltyTerms, 'base' | 'value'>,
  currency: Currency,
): { readonly amount?: string; readonly rate?: number } =>
  base === 'fixed' ? { amount: minorToText(value, currency) } : { rate: rateToNumber(value) }

/** Returns the name of a fee for people, with a mark where the fee is deducted. */
export const feeInWords = ({ name, treatment }: Pick<Fee, 'name' | 'treatment'>): string =>
  treatment === 'deducted' ? `${name} (deducted)` : name

/** Returns the penalties of a product for people: `1 % of overdue_total, every week, per loan, after 3 days`. */
export function penaltyInWords({ penalty: single, terms }: ReturnType<typeof viewOf>): string {
  if (single !== null) return `${single} %`
  const penalty = terms?.penalty
  if (!penalty) return ''
  const { base, amount, rate, every, per, graceDays, maxTimes, capPercentOfPrincipal: cap } = penalty
  const parts = [
    amount ?? `${rate} % of ${base}`,
    every === 'once' ? every : `every ${every}`,
    `per ${per}`,
    graceDays === 0 ? '' : `after ${graceDays} days`,
    maxTimes === null ? '' : `at most ${maxTimes} times`,
    cap === null ? '' : `at most ${cap} % of principal`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

// Options whose value is fields: name=Processing,base=principal,rate=1.5,when=disbursement.

export const FEE_FIELDS = ['name', 'base', 'rate', 'amount', 'when', 'treatment', 'taxName', 'taxPercent'] as const
export const TAX_FIELDS = ['name', 'percent'] as const
export const PENALTY_FIELDS = [
  ...(['base', 'rate', 'amount', 'every', 'graceDays', 'maxTimes'] as const),
  ...(['capPercentOfPrincipal', 'per'] as const),
] as const

/** The values of fields, by name. */
type Fields<Name extends string> = ReadonlyMap<Name, string>

/** Reads a fee, and adds it to those before. */
function fee(text: string, before: readonly NewFee[] = []): NewFee[] {
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
      tax: taxOf(fields.get('taxName'), decimalOf(fields, 'taxPercent')),
    },
  ]
}

/** Reads a tax of its name and its percent; undefined without both. */
function taxOf(name: string | undefined, percent: Decimal | undefined): NewTax | undefined {
  if (name === undefined && percent === undefined) return undefined
  if (name === undefined || percent === undefined)
    throw new InvalidArgumentError('A tax must have a name and a percentage.')
  return { name, percent }
}

/** Reads the tax on interest, such as `name=Excise duty,percent=20`. */
function interestTax(text: string): NewTax | undefined {
  const fields = fieldsOf(text, TAX_FIELDS, 'name=Excise duty')
  return taxOf(fields.get('name'), decimalOf(fields, 'percent'))
}

/** Reads the terms of penalties, which can be given once. */
function penaltyTerms(text: string, before?: NewPenalty): NewPenalty {
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
