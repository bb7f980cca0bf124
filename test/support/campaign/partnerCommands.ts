import { smallStatement } from '../statementPdf.ts'
import { showing } from '../upload.ts'
import type { Campaign, Command } from './campaign.ts'
import type { CampaignLoan, Lender } from './lenders.ts'

// Commands of the partner style: customers, loans, what is posted to them, credit, and documents.

/** Returns an amount that a loan of the lender can have, of up to one of so many hundredths. */
const amount = (campaign: Campaign, { hasCents }: Lender, ...most: number[]): number => {
  const hundredths = 1 + campaign.random(campaign.oneOf(most))
  return hasCents ? hundredths / 100 : Math.ceil(hundredths / 100)
}

/** One in three is dated back. */
const dateOf = (campaign: Campaign, lender: Lender): string =>
  campaign.dayOf(lender, campaign.random(3) === 0 ? campaign.random(40) : 0)

/** Remembers a loan that was made. */
export function remember({ things }: Lender, id: string): void {
  if (!things.loans.some((loan) => loan.id === id)) things.loans.push({ id, transactions: [], charges: [] })
}

async function customer(campaign: Campaign, lender: Lender): Promise<void> {
  const externalId = campaign.name('customer')
  const { status } = await campaign.send('customer', lender, { path: '/v1/customers', body: { externalId } })
  if (status === 200) lender.things.customers.push(externalId)
}

async function closeCustomer(campaign: Campaign, lender: Lender): Promise<void> {
  const name = campaign.recent(lender.things.customers)
  if (name === undefined) return
  await campaign.send('close customer', lender, { path: `/v1/customers/external/${name}/close`, body: {} })
}

async function nameCustomer(campaign: Campaign, lender: Lender): Promise<void> {
  const id = campaign.recent(lender.things.borrowers)
  if (id === undefined) return
  const externalId = campaign.name('named')
  const path = `/v1/customers/${id}/external-id`
  const { status } = await campaign.send('external id', lender, { path, body: { externalId }, by: 'admin' })
  if (status === 200) lender.things.customers.push(externalId)
}

async function lend(campaign: Campaign, lender: Lender): Promise<void> {
  const customerId = campaign.recent(lender.things.customers)
  if (customerId === undefined) return customer(campaign, lender)
  const named = campaign.random(2) === 0 ? { externalId: campaign.name('loan') } : {}
  const principal = 1_000 + campaign.random(90_000)
  const body = { customerId, productId: campaign.oneOf(lender.things.products), principal, ...named }
  const answer = await campaign.send('lend', lender, { path: '/v1/loans', body })
  if (answer.status === 200) remember(lender, answer.body.id)
}

const KINDS = [
  ...['', '', '', '', '', '', '/waive-interest', '/recover', '/refund', '/credit-balance-refund', '/charge-off'],
  'write-off',
]

async function post(campaign: Campaign, lender: Lender): Promise<void> {
  const loan = campaign.recent(lender.things.loans)
  if (!loan) return
  const kind = campaign.oneOf(KINDS)
  const isMark = kind === '/charge-off' || kind === 'write-off'
  const most = kind === '/waive-interest' || kind === '/refund' ? [5_000, 200_000] : [20_000, 4_000_000, 12_000_000]
  const token = campaign.random(4) === 0 && (kind === '' || kind === '/recover')
  const body = {
    ...(campaign.random(2) === 0 && { transactionDate: dateOf(campaign, lender) }),
    ...(!isMark && { transactionAmount: amount(campaign, lender, ...most) }),
    ...(token && { idempotencyKey: `token-${campaign.random(1_000)}` }),
    ...(campaign.random(8) === 0 && kind !== '' && { note: campaign.oneOf(['At the till', 'Ahsante 🙏', '“agreed”']) }),
  }
  const path = kind === 'write-off' ? `/v1/loans/${loan.id}/write-off` : `/v1/loans/${loan.id}/repayments${kind}`
  const by = kind === 'write-off' ? 'admin' : 'user'
  const answer = await campaign.send(kind.replace('/', '') || 'repay', lender, { path, body, by })
  take(lender, loan, answer)
}

/** Keeps the id of what a command made: a transaction, or an action that waits. */
function take(
  { things }: Lender,
  { transactions }: CampaignLoan,
  answer: { status: number; body: { id: string } },
): void {
  if (answer.status === 200) transactions.push(answer.body.id)
  if (answer.status === 202) things.pending.push(answer.body.id)
}

async function undo(campaign: Campaign, lender: Lender): Promise<void> {
  const loan = campaign.recent(lender.things.loans.filter(({ transactions }) => transactions.length > 0))
  if (!loan) return
  const path = `/v1/loans/${loan.id}/repayments/${campaign.recent(loan.transactions)}`
  const isReversal = campaign.random(2) === 0
  const dated = campaign.random(3) === 0 ? { transactionDate: dateOf(campaign, lender) } : {}
  const asked = isReversal
    ? { path: `${path}/reverse`, body: {} }
    : { path: `${path}/adjust`, body: { transactionAmount: amount(campaign, lender, 900_000), ...dated } }
  const name = isReversal ? 'reverse' : 'adjust'
  const answer = await campaign.send(name, lender, { ...asked, by: campaign.oneOf(['admin', 'admin', 'user']) })
  take(lender, loan, answer)
}

async function charge(campaign: Campaign, lender: Lender): Promise<void> {
  const loan = campaign.recent(lender.things.loans)
  if (!loan) return
  const path = `/v1/loans/${loan.id}/charges`
  const charged = campaign.random(3) === 0 ? campaign.recent(loan.charges) : undefined
  if (charged !== undefined) {
    const answer = await campaign.send('reverse charge', lender, {
      path: `${path}/${charged}/reverse`,
      body: {},
      by: 'admin',
    })
    if (answer.status === 202) lender.things.pending.push(answer.body.id)
    return
  }
  const due = campaign.random(2) === 0 ? { dueDate: campaign.dayOf(lender, -campaign.random(90)) } : {}
  const body = {
    name: 'Letter',
    amount: amount(campaign, lender, 300_000),
    kind: campaign.oneOf(['fee', 'penalty']),
    ...due,
  }
  const answer = await campaign.send('charge', lender, { path, body, by: 'admin' })
  if (answer.status === 200) loan.charges.push(answer.body.id)
}

/** Pays what settles a loan today. */
async function settle(campaign: Campaign, lender: Lender): Promise<void> {
  const loan = campaign.recent(lender.things.loans)
  if (!loan) return
  const quote = await campaign.send('quote', lender, { method: 'get', path: `/v1/loans/${loan.id}/settlement-quote` })
  const transactionAmount = quote.body.settlementAmount
  if (quote.status !== 200 || !transactionAmount) return
  const path = `/v1/loans/${loan.id}/repayments`
  take(lender, loan, await campaign.send('settle', lender, { path, body: { transactionAmount } }))
}

async function score(campaign: Campaign, lender: Lender): Promise<void> {
  const name = campaign.recent(lender.things.customers)
  if (name === undefined) return
  await campaign.send('scorecard', lender, { method: 'get', path: `/v1/credit-scorecard/${name}` })
}

async function boost(campaign: Campaign, lender: Lender): Promise<void> {
  const name = campaign.recent(lender.things.customers)
  if (name === undefined) return
  const to = campaign.dayOf(lender, 1 + campaign.random(3))
  const form = showing(await smallStatement(campaign.dayOf(lender, 92), to))
  await campaign.send('boost', lender, { path: `/v1/credit-scorecard/${name}/boost`, more: form })
}

async function read(campaign: Campaign, lender: Lender): Promise<void> {
  const loan = campaign.recent(lender.things.loans)
  if (!loan) return
  const day = campaign.dayOf(lender, campaign.random(60))
  const transaction = campaign.recent(loan.transactions) ?? '1'
  const path = campaign.oneOf([
    `/v1/loans/${loan.id}`,
    `/v1/loans/${loan.id}/statement`,
    `/v1/loans/${loan.id}/repayments/${transaction}/receipt`,
    `/v1/loans/${loan.id}/delinquency?asOf=${day}`,
    `/v1/portfolio/par?asOf=${day}&by=month`,
    `/v1/portfolio/roll-rates?from=${campaign.dayOf(lender, 90)}`,
    `/v1/accounting/trial-balance?asOf=${day}`,
  ])
  await campaign.send('read', lender, { method: 'get', path, by: 'admin' })
}

export const PARTNER_COMMANDS: readonly Command[] = [
  { weight: 60, run: customer },
  { weight: 8, run: closeCustomer },
  { weight: 4, run: nameCustomer },
  { weight: 90, run: lend },
  { weight: 420, run: post },
  { weight: 90, run: undo },
  { weight: 40, run: charge },
  { weight: 20, run: settle },
  { weight: 20, run: score },
  { weight: 2, run: boost },
  { weight: 16, run: read },
  { weight: 30, run: (campaign) => campaign.again() },
]
