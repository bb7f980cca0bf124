import { type Command, Option } from 'commander'
import { PERIOD_UNITS } from '../../domain/dates.ts'
import { type Decimal, minorToText, rateToNumber } from '../../domain/money.ts'
import type { NewProduct } from '../../domain/product/newProduct.ts'
import type { Product } from '../../domain/product/product.ts'
import { createProduct, listProducts, retireProduct } from '../../services/lenders/products.ts'
import { currencyOption, decimalNumber, organizationOption, wholeNumber } from '../options.ts'
import { perform, performAdding, type Shell } from '../perform.ts'

export function productCommands(program: Command, shell: Shell): void {
  const products = program.command('products').description('what can be lent; terms of existing loans never change')

  products
    .command('create')
    .description('make a loan product')
    .requiredOption('--name <name>', 'what it is called')
    .requiredOption('--min <amount>', 'the smallest principal', decimalNumber)
    .requiredOption('--max <amount>', 'the largest principal', decimalNumber)
    .requiredOption('--instalments <number>', 'how many', wholeNumber)
    .requiredOption('--rate <percent>', 'flat interest a period', decimalNumber)
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
    .addOption(organizationOption())
    .action((options: ProductOptions, command: Command) =>
      performAdding(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const product = await createProduct(deps, by(id), asked(options))
        printer.done(view(product), `Product ${product.id}, ${product.name}, of organization ${id}.`)
      }),
    )

  products
    .command('list')
    .description('list the loan products of an organization')
    .addOption(organizationOption())
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { items } = await listProducts(deps, by(id), { rows: 10_000 })
        printer.list(items.map(view), [
          ['id', (one) => one.id, 'right'],
          ['name', (one) => one.name],
          ['principal', (one) => `${one.min} to ${one.max} ${one.currency}`],
          ['instalments', (one) => `${one.instalments}, every ${one.every} ${one.unit}`],
          ['rate', (one) => `${one.rate} %`, 'right'],
          ['multiple of', (one) => one.multipleOf],
          ['penalty', (one) => (one.penalty === null ? '' : `${one.penalty} %`), 'right'],
          ['credit limit', (one) => (one.enforceCreditLimit ? 'enforced' : '')],
          ['retired', (one) => (one.retired ? 'yes' : '')],
        ])
      }),
    )

  products
    .command('retire')
    .description('let a product take no new loans; those there are keep their terms')
    .argument('<id>', 'its number', wholeNumber)
    .addOption(organizationOption())
    .action((id: number, options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization, confirm }) => {
        const { id: organizationId } = await organization(options.organization)
        await confirm(`Let product ${id} of organization ${organizationId} take no new loans, for good?`)
        const { name } = await retireProduct(deps, by(organizationId), id)
        printer.done({ id, organizationId, name, retired: true }, `Product ${id}, ${name}, is retired.`)
      }),
    )
}

interface ProductOptions {
  readonly organization?: number
  readonly id?: number
  readonly name: string
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
}

const asked = (options: ProductOptions): NewProduct => ({
  id: options.id,
  name: options.name,
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
})

const view = (product: Product) => ({
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
  retired: product.retired,
})
