import { type Command, InvalidArgumentError, Option } from 'commander'
import { PERIOD_UNITS } from '../../../domain/dates.ts'
import { COMPONENTS } from '../../../domain/loan/portions.ts'
import type { Decimal } from '../../../domain/money.ts'
import type { NewFee } from '../../../domain/product/newFees.ts'
import type { NewPenalty } from '../../../domain/product/newPenalty.ts'
import type { NewProduct } from '../../../domain/product/newProduct.ts'
import { EARLY_SETTLEMENTS, PRODUCT_DAY_COUNTS, PRODUCT_METHODS, RATE_PERIODS } from '../../../domain/product/terms.ts'
import { createProduct } from '../../../services/lenders/products.ts'
import { currencyOption, decimalNumber, nameGiven, organizationOption, takeName, wholeNumber } from '../../options.ts'
import { performAdding, type Shell } from '../../perform.ts'
import { fee, penaltyTerms } from './fields.ts'
import { viewOf } from './view.ts'

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
      'name=…,base=fixed|principal|instalment,amount=…|rate=…,when=disbursement|each_instalment|due_date[,treatment=added|deducted]; repeat for others',
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
  readonly method?: string
  readonly ratePer?: string
  readonly dayCount?: string
  readonly gracePrincipal?: number
  readonly graceInterest?: number
  readonly firstDueAfter?: { readonly every: number; readonly unit: string }
  readonly fee?: readonly NewFee[]
  readonly penaltyTerms?: NewPenalty
  readonly earlySettlement?: string
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
  totalChargeCap: options.totalChargeCap,
  allocation: options.allocation,
  maxRatePerMonth: options.maxRatePerMonth,
})

/** Reads a distance such as `45days`. */
function distance(text: string): { every: number; unit: string } {
  const [, every, unit = ''] = /^(\d{1,4}) ?(days|weeks|months|years)$/.exec(text) ?? []
  if (every === undefined) throw new InvalidArgumentError('It must be a time such as 45days, 6weeks or 2months.')
  return { every: Number(every), unit }
}
