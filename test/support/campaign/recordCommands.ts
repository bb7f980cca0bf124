import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../recordBodies.ts'
import type { Campaign, Command } from './campaign.ts'
import type { Lender } from './lenders.ts'
import { remember } from './partnerCommands.ts'

// Commands of the record style, under ids from the whole of int64.

async function borrower(campaign: Campaign, lender: Lender): Promise<void> {
  const id = campaign.nextRecordId()
  const body = { ...aBorrower, id, business_name: campaign.name('Duka') }
  const { status } = await campaign.send('borrower', lender, { path: '/v1/borrowers', body, isRecord: true })
  if (status === 200) lender.things.borrowers.push(id)
}

async function changeBorrower(campaign: Campaign, lender: Lender): Promise<void> {
  const id = campaign.recent(lender.things.borrowers)
  if (id === undefined) return
  const body = campaign.oneOf<object>([{ region: 'Mwanza' }, { email: null }, { phone: campaign.name('2557') }])
  const path = `/v1/borrowers/${id}`
  await campaign.send('change borrower', lender, { method: 'put', path, body, isRecord: true })
}

async function lend(campaign: Campaign, lender: Lender): Promise<void> {
  const borrower_id = campaign.recent(lender.things.borrowers)
  if (borrower_id === undefined) return borrower(campaign, lender)
  const loan_id = campaign.nextRecordId()
  const amount = 500 + campaign.random(50_000) / (lender.hasCents ? 4 : 1)
  const ago = campaign.random(3) === 0 ? campaign.random(60) : 0
  const [released, due] = [campaign.dayOf(lender, ago), campaign.dayOf(lender, ago - 20 - campaign.random(120))]
  const body = campaign.oneOf<object>([
    { ...aBasicLoan, loan_id, borrower_id, principal_amount: amount, released_date: released, due_date: due },
    { ...anExtendedLoan, loan_id, borrower_id, loan_principal_amount: amount, loan_released_date: released },
  ])
  const { status } = await campaign.send('record loan', lender, { path: '/v1/loans', body, isRecord: true })
  if (status !== 200) return
  remember(lender, String(loan_id))
  lender.things.recorded.push(loan_id)
}

async function restate(campaign: Campaign, lender: Lender): Promise<void> {
  const id = campaign.recent(lender.things.recorded)
  if (id === undefined) return
  const principal = 500 + campaign.random(9_000)
  const due_date = campaign.dayOf(lender, -campaign.random(120))
  const body = campaign.oneOf<object>([
    { principal_amount: principal },
    { due_date },
    { borrower_id: campaign.recent(lender.things.borrowers) },
  ])
  await campaign.send('restate', lender, { method: 'put', path: `/v1/loans/${id}`, body, isRecord: true })
}

async function repay(campaign: Campaign, lender: Lender): Promise<void> {
  const loan = campaign.recent(lender.things.recorded)
  if (loan === undefined) return
  const body = {
    ...aRepayment,
    repayment_id: campaign.nextRecordId(),
    loan_id: loan,
    amount: (1 + campaign.random(3_000)) / (lender.hasCents ? 4 : 1),
    collection_date: campaign.dayOf(lender, campaign.random(3) === 0 ? campaign.random(30) : 0),
  }
  const asked = { path: '/v1/repayments', body, isRecord: true }
  await campaign.send('record repayment', lender, asked)
  if (campaign.random(10) === 0) await campaign.send('the same record again', lender, asked)
}

export const RECORD_COMMANDS: readonly Command[] = [
  { weight: 20, run: borrower },
  { weight: 8, run: changeBorrower },
  { weight: 60, run: lend },
  { weight: 25, run: restate },
  { weight: 130, run: repay },
]
