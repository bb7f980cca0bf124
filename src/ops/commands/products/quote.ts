import type { Command } from 'commander'
import { type Decimal, minorToText } from '../../../domain/money.ts'
import type { Quote } from '../../../domain/product/quote.ts'
import { quoteProduct } from '../../../services/lenders/quote.ts'
import { calendarDate, decimalNumber, organizationOption, wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'

/** Adds `products quote`. */
export function quoteCommand(products: Command, shell: Shell): void {
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
        const view = viewOf(quote)
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

function viewOf({ product, schedule, disbursedOn, totalInterest, totalFees, apr, ...quote }: Quote) {
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
