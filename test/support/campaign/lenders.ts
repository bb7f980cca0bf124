import { createAccount } from '../../../src/services/access/accounts.ts'
import { operator } from '../../../src/services/access/caller.ts'
import type { RecordId } from '../recordIds.ts'
import type { TestService } from '../service.ts'

export const PASSWORD = 'a long enough secret'

/** The accounts of a lender: a USER, and two ADMINs, of whom one may approve what the other asks. */
export const PEOPLE = ['user', 'admin', 'checker'] as const

export type Person = (typeof PEOPLE)[number]

interface Account {
  readonly email: string
  readonly password: string
}

/** A loan that commands are given to. */
export interface CampaignLoan {
  readonly id: string
  readonly transactions: string[]
  readonly charges: string[]
}

/** What a lender has, as far as commands name it. */
export interface Things {
  readonly customers: string[]
  readonly borrowers: RecordId[]
  readonly loans: CampaignLoan[]
  /** The loans of a record system, which are in `loans`, too. */
  readonly recorded: RecordId[]
  readonly products: number[]
  readonly pending: string[]
  readonly endpoints: string[]
}

/** A lender of the campaign. */
export interface Lender {
  readonly organizationId: number
  /** Whether its currency has decimals. */
  readonly hasCents: boolean
  readonly accounts: Readonly<Record<Person, Account>>
  readonly tokens: Record<Person, string>
  readonly things: Things
}

/** Makes the accounts of a lender that it does not have. */
export async function lenderOf(
  { deps }: TestService,
  organizationId: number,
  known: Partial<Record<Person, Account>>,
): Promise<Lender> {
  const make = async (person: Person): Promise<Account> => {
    const account = { email: `${person}@campaign-${organizationId}.example`, password: PASSWORD }
    const roles = [person === 'user' ? ('USER' as const) : ('ADMIN' as const)]
    await createAccount(deps, operator(organizationId, 'campaign'), { ...account, roles })
    return account
  }
  const accounts = {
    user: known.user ?? (await make('user')),
    admin: known.admin ?? (await make('admin')),
    checker: await make('checker'),
  }
  const things = { customers: [], borrowers: [], loans: [], recorded: [], pending: [], endpoints: [] }
  const products = organizationId === 7 ? [1] : [1, 2, 3, 4]
  const tokens = { user: '', admin: '', checker: '' }
  return { organizationId, hasCents: organizationId !== 7, accounts, tokens, things: { ...things, products } }
}

/** Forgets what a lender had, after its organization was emptied; its products and endpoints stay. */
export function forget({ customers, borrowers, loans, recorded, pending }: Things): void {
  for (const list of [customers, borrowers, loans, recorded, pending]) list.length = 0
}
