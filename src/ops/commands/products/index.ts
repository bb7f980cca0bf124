import type { Command } from 'commander'
import { type Decimal, minorToText } from '../../../domain/money.ts'
import type { Quote } from '../../../domain/product/quote.ts'
import { isUsualOrder } from '../../../domain/product/terms.ts'
import { listProducts, quoteProduct, retireProduct } from '../../../services/organizations/products.ts'
import { calendarDate, decimalNumber, organizationOption, wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { createCommand, feeInWords, penaltyInWords, viewOf } from './create.ts'

export function productCommands(program: Command, shell: Shell): void {
  const products = program.command('products').description('what can be lent; terms of existing loans never change')

  createCommand(products, shell)
  quoteCommand(products, shell)

  products
    .command('list')
    .description('list the loan products of an organization')
    .addOption(organizationOption())
    .action((options: { organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const { id } = await organization(options.organization)
        const { items } = await listProducts(deps, by(id), { rows: 10_000 })
        printer.list(items.map(viewOf), [
          ['id', (one) => one.id, 'right'],
          ['name', (one) => one.name],
          ['principal', (one) => `${one.min} to ${one.max} ${one.currency}`],
          ['instalments', (one) => `${one.instalments}, every ${one.every} ${one.unit}`],
          ['rate', (one) => `${one.rate} %`, 'right'],
          ['method', (one) => one.terms?.interestMethod ?? 'flat'],
          ['fees', (one) => one.terms?.fees.map(feeInWords).join(', ') ?? ''],
          ['multiple of', (one) => one.multipleOf],
          ['penalty', penaltyInWords],
          [
            'early settlement',
            ({ terms }) => (terms && terms.earlySettlement !== 'full_interest' ? terms.earlySettlement : ''),
          ],
          ['charge cap', ({ terms }) => (terms?.totalChargeCap ? `${terms.totalChargeCap} %` : ''), 'right'],
          ['allocation', ({ terms }) => (terms && !isUsualOrder(terms.allocation) ? terms.allocation.join(', ') : '')],
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

/** Adds `products quote`. */
function quoteCommand(products: Command, shell: Shell): void {
  products
    .command('quote')
    .description('show the schedule that a loan would have, and what it would cost; keeps nothing')
    .argument('<id>', 'the number of the product', wholeNumber)
    .argument('<principal>', 'the amount that would be lent', decimalNumber)
    .option('--date <date>', 'the day of disbursement; today when left out', calendarDate)
    .addOption(organizationOption())
    .action((id: number, principal: Decimal, options: { date?: string; organization?: number }, command: Command) =>
      perform(shell, command, async ({ deps, printer, by, organization }) => {
        const caller = by((await organization(options.organization)).id)
        const quote = await quoteProduct(deps, caller, BigInt(id), { principal, disbursedOn: options.date })
        const view = quoteView(quote)
        if (printer.json) return printer.done(view, '')
        printer.list(view.schedule, [
          ['#', (line) => line.period, 'right'],
          ['due date', (line) => line.dueDate],
          ['principal', (line) => line.principal, 'right'],
          ['interest', (line) => line.interest, 'right'],
          ['fees', (line) => line.fees, 'right'],
          ['total', (line) => line.total, 'right'],
        ])
        const { currency, totalCostOfCredit, netDisbursed, feesDeducted, apr } = view
        const paidOut =
          quote.feesDeducted > 0n
            ? `Pays out ${netDisbursed} ${currency}, after ${feesDeducted} ${currency} of fees. `
            : ''
        printer.done(view, `${paidOut}Costs ${totalCostOfCredit} ${currency}; APR ${apr ?? 'above 1000000'} %.`)
      }),
    )
}

function quoteView({ product, schedule, disbursedOn, totalInterest, totalFees, apr, ...quote }: Quote) {
  const text = (minor: bigint) => minorToText(minor, product.currency)
  return {
    productId: product.id,
    currency: product.currency.code,
    principal: text(quote.principal),
    netDisbursed: text(quote.netDisbursed),
    disbursedOn,
    totalInterest: text(totalInterest),
    totalFees: text(totalFees),
    feesDeducted: text(quote.feesDeducted),
    totalCostOfCredit: text(totalInterest + totalFees),
    totalDue: text(quote.totalDue),
    apr,
    schedule: schedule.map((line) => ({
      period: line.period,
      fromDate: line.fromDate,
      dueDate: line.dueDate,
      principal: text(line.principal),
      interest: text(line.interest),
      fees: text(line.fees),
      total: text(line.principal + line.interest + line.fees),
    })),
  }
}
