import pg from 'pg'
import { createMkopo, type Mkopo } from '../src/index.ts'
import { startLossyProxy } from './lossyProxy.ts'

/** The shares that the proxy loses: of the requests before the service has them, and of the answers after the commit. */
const SHARES = { requests: 0.1, answers: 0.2 }
const PER_LOAN = 100
const AT_ONCE = 64
const RETRIES = 30

/** What a trial of losses needs. */
export interface Losing {
  readonly baseUrl: string
  /** Of the database, to count what was posted. */
  readonly databaseUrl: string
  readonly credentials: { readonly email: string; readonly password: string }
  readonly repayments: number
  readonly say: (line: string) => void
}

/**
 * Posts repayments by a proxy that loses requests and answers, and counts in the book what was posted.
 * @throws Error unless each was posted once
 */
export async function postThroughLosses({ baseUrl, databaseUrl, credentials, repayments, say }: Losing): Promise<void> {
  const proxy = await startLossyProxy(Number(new URL(baseUrl).port), Math.random)
  const mkopo = createMkopo({ baseUrl: `http://127.0.0.1:${proxy.port}`, ...credentials, retries: RETRIES })
  proxy.lose(SHARES)
  const began = performance.now()
  try {
    const loans = await lend(mkopo, Math.ceil(repayments / PER_LOAN))
    let next = 0
    const post = async () => {
      for (let index = next++; index < repayments; index = next++) {
        const transactionAmount = (index % PER_LOAN) + 1
        await mkopo.postRepayment(loans[Math.floor(index / PER_LOAN)]!, { transactionAmount })
        if ((index + 1) % 10_000 === 0) say(`${index + 1} repayments`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, post))
    const seconds = Math.round((performance.now() - began) / 1_000)
    const { came, lostRequests, lostAnswers } = proxy.counts
    say(
      `${repayments} repayments in ${seconds} s: ${came} requests, ${lostRequests} of them and ${lostAnswers} answers lost`,
    )
  } finally {
    await proxy.close()
  }
  await compareBook(databaseUrl, repayments)
  say(`each of ${repayments} repayments is in the book once`)
}

async function lend(mkopo: Mkopo, count: number): Promise<string[]> {
  await mkopo.createCustomer({ externalId: 'LOSSES' })
  const loans: string[] = []
  for (let number = 0; number < count; number++) {
    const { id } = await mkopo.createLoan({ customerId: 'LOSSES', productId: 1, principal: 1_000_000 })
    loans.push(id)
  }
  return loans
}

/** Compares the amounts of the repayments of each loan: 1, 2, 3 …, each once. */
async function compareBook(databaseUrl: string, repayments: number): Promise<void> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    const { rows } = await client.query<{ loans: number; posted: number; amounts: number }>(
      `SELECT count(DISTINCT e.loan_id)::int AS loans, count(*)::int AS posted,
              count(DISTINCT (e.loan_id, e.amount))::int AS amounts
       FROM loan_entry e JOIN loan l USING (organization_id) JOIN customer c USING (organization_id)
       WHERE l.id = e.loan_id AND c.id = l.customer_id AND c.external_id = 'LOSSES' AND e.type = 'Repayment'
         AND e.amount BETWEEN 100 AND $1`,
      [PER_LOAN * 100],
    )
    const { loans, posted, amounts } = rows[0]!
    if (posted !== repayments || amounts !== repayments || loans !== Math.ceil(repayments / PER_LOAN))
      throw new Error(
        `of ${repayments} repayments ${posted} were posted, ${amounts} of them different, on ${loans} loans`,
      )
  } finally {
    await client.end()
  }
}
