import type { Command } from 'commander'
import type { Shell } from '../../perform.ts'
import { arrearsCommand } from './arrears.ts'
import { portfolioAtRiskCommand } from './par.ts'
import { provisionsCommand } from './provisions.ts'
import { rollRatesCommand } from './rollRates.ts'

/** Adds the commands of the portfolio: what is at risk, how loans move between the buckets, and which are overdue. */
export function portfolioCommands(program: Command, shell: Shell): void {
  const portfolio = program.command('portfolio').description('all open loans together: what is overdue and at risk')
  portfolioAtRiskCommand(portfolio, shell)
  rollRatesCommand(portfolio, shell)
  provisionsCommand(portfolio, shell)
  arrearsCommand(portfolio, shell)
}
