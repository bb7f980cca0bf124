import { Option } from 'commander'
import type { LoanRef } from '../services/loans/loans.ts'
import { numberIn } from './options.ts'
import { UsageError } from './terminal/terminalIo.ts'

/** The options by which a command names a loan. */
export interface LoanOptions {
  readonly organization?: number
  readonly external?: boolean
}

/** The argument that names a loan. */
export const LOAN = ['<loan>', 'its number; with --external, your own id of it'] as const

/** Returns the option that says which id of a loan is given. */
export const external = () => new Option('--external', 'the loan is named by its externalId')

/** Returns the name of a loan. @throws UsageError for a text that is no number */
export function refOf(named: string, { external: isOwn = false }: LoanOptions): LoanRef {
  if (isOwn) return { externalId: named }
  const id = numberIn(named)
  if (id === undefined) throw new UsageError(`${named} is no loan's number; say --external for your own id`)
  return { id }
}
