import type { Command } from 'commander'
import { isUsualOrder } from '../../../domain/product/terms.ts'
import { listProducts, retireProduct } from '../../../services/lenders/products.ts'
import { organizationOption, wholeNumber } from '../../options.ts'
import { perform, type Shell } from '../../perform.ts'
import { createCommand } from './create.ts'
import { quoteCommand } from './quote.ts'
import { feeInWords, penaltyInWords, viewOf } from './view.ts'

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
