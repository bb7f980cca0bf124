import { buildApp } from '../../src/app/app.ts'
import { createAccount } from '../../src/services/access/accounts.ts'
import { operator } from '../../src/services/access/caller.ts'
import { checkBook } from '../../src/services/book/bookCheck.ts'
import { createCustomer } from '../../src/services/customers/customers.ts'
import type { Deps } from '../../src/services/deps.ts'
import { createLoan } from '../../src/services/loans/loans.ts'
import { createPageSessions } from '../../src/services/office/pageSessions.ts'
import { createOrganization } from '../../src/services/organizations/organizations.ts'
import { createProduct } from '../../src/services/organizations/products.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'

/** What an attack needs: an attacker with long loans, and honest callers of another organization. */
export interface Laid {
  readonly attacker: {
    readonly token: string
    readonly cookie: string
    readonly loan: string
    readonly longLoan: string
  }
  readonly honest: { readonly token: string; readonly loans: readonly string[]; readonly quiet: readonly string[] }
}

/** How large the attacker's book is. */
export interface LaySize {
  readonly longLoans: number
  readonly instalments: number
  readonly repayments: number
}

const CALLERS = 20
const HONEST = { email: 'partner@honest.example', password: 'a long enough secret' }
const whole = (units: number) => ({ units: BigInt(units), scale: 0 })

/** Lays it on a book with the demonstration's data. */
export async function layAttack(deps: Deps, { longLoans, instalments, repayments }: LaySize): Promise<Laid> {
  const attacker = operator(1, 'attack')
  const honest = operator(2, 'attack')
  const daily = {
    principalMin: whole(1),
    principalMax: whole(100_000_000),
    repayEvery: 1,
    repayUnit: 'days',
    interestRate: whole(0),
  } as const
  await createOrganization(deps, honest, { id: 2, name: 'Honest', currency: 'TZS', officeId: '1', officeName: 'Here' })
  await createProduct(deps, honest, { ...daily, id: 1, name: 'Short', numberOfRepayments: 12 })
  await createProduct(deps, attacker, { ...daily, id: 90, name: 'Short', numberOfRepayments: 12 })
  await createProduct(deps, attacker, { ...daily, id: 91, name: 'Long', numberOfRepayments: instalments })
  await createAccount(deps, honest, { ...HONEST, roles: ['USER'] })
  for (const who of [attacker, honest]) await createCustomer(deps, who, 'asha')
  const lend = async (who: typeof attacker, productId: number) =>
    (await createLoan(deps, who, { customerExternalId: 'asha', productId, principal: whole(10_000_000) })).loan.id
  for (let index = 0; index < longLoans; index++) await lend(attacker, 91)
  const loan = await lend(attacker, 90)
  const longLoan = await lend(attacker, 90)
  await deps.db.pool.query(
    `INSERT INTO loan_entry (organization_id, loan_id, ordinal, place, type, value_date, posted_at, amount)
     SELECT 1, $1, n, n, 'Repayment', current_date, now(), 1 FROM generate_series(1, $2::int) n`,
    [longLoan, repayments],
  )
  await deps.db.pool.query('UPDATE loan SET entry_count = $2, carried_forward = NULL WHERE id = $1', [
    longLoan,
    repayments,
  ])
  const lendMany = async () => {
    const loans: string[] = []
    while (loans.length < CALLERS) loans.push(String(await lend(honest, 1)))
    return loans
  }
  const [loans, quiet] = [await lendMany(), await lendMany()]
  const tokenOf = ({ email, password }: typeof HONEST) => deps.signIn.issueToken(email, password, '127.0.0.1')
  // Tokens are signed where the auth host is mounted.
  const app = await buildApp(deps)
  const laid = {
    attacker: {
      token: await tokenOf(DEMO_PARTNER),
      cookie: `mkopo_session=${await createPageSessions(deps).open({ ...DEMO_PARTNER, address: '127.0.0.1', requestId: 'attack' })}`,
      loan: String(loan),
      longLoan: String(longLoan),
    },
    honest: { token: await tokenOf(HONEST), loans, quiet },
  }
  await app.close()
  return laid
}

/**
 * Returns what `book check` finds after an attack: nothing, where the service kept its book. The attacker's long loan has
 * entries that `layAttack` inserted without a row of the trail, so it and the sums of its lender are left out.
 */
export async function differencesAfter(deps: Deps, { attacker }: Laid): Promise<string[]> {
  const { differences } = await checkBook(deps)
  const laid = [`loan ${attacker.longLoan}`, 'totals TZS']
  return differences
    .filter(({ organizationId, of }) => organizationId !== 1 || !laid.includes(of))
    .map(({ organizationId, of, message }) => `book check: ${of} (organization ${organizationId}): ${message}`)
}
