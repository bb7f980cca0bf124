import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { opsOn } from '../ops.ts'
import type { Campaign, Command } from './campaign.ts'
import { type Lender, PASSWORD } from './lenders.ts'
import { remember } from './partnerCommands.ts'

// Commands of operators at the command line: imports, accounts, keys, policies of credit.

/**
 * Runs a command, and counts it.
 * @throws Error for a command that was given wrongly, and for a fault of the service
 */
async function run(campaign: Campaign, name: string, args: readonly string[], stopping?: AbortSignal) {
  const answers = { says: true, passwords: [PASSWORD, PASSWORD], ...(stopping && { stopping }) }
  const { code, err, json } = await opsOn(campaign.instance())([...args, '--json'], answers)
  // Two empty files at once are the same file.
  const isBusy = /another run imports the same file/.test(err)
  if (!isBusy && (code === 2 || /"code":"failed"/.test(err))) throw new Error(`mkopo ${args.join(' ')} failed: ${err}`)
  campaign.count(name, code === 0 || hasImported(json))
  return json as unknown
}

/** Returns whether an import has changed the book: where lines are refused besides, its exit code is 1. */
const hasImported = (json: unknown): boolean =>
  Array.isArray(json) && json.some(({ imported }: { imported?: number }) => imported !== undefined && imported > 0)

type Line = Readonly<Record<string, string | number>>

/** Writes a file that can be imported: CSV or NDJSON. */
async function fileOf(campaign: Campaign, of: string, lines: readonly Line[]): Promise<string> {
  const names = [...new Set(lines.flatMap((line) => Object.keys(line)))]
  const isCsv = campaign.random(2) === 0
  const text = isCsv
    ? [names.join(','), ...lines.map((line) => names.map((name) => line[name] ?? '').join(','))]
    : lines.map((line) => JSON.stringify(line))
  const path = join(campaign.folder, `${campaign.name(of)}.${isCsv ? 'csv' : 'ndjson'}`)
  await writeFile(path, `${text.join('\n')}\n`)
  return path
}

const TYPES = ['Repayment', 'Repayment', 'Repayment', 'Waive Interest', 'Charge-off', 'Write-off', 'Recovery Repayment']

/** Imports customers, loans of the past, and what happened to them; a part of it is cut short and given again. */
async function importFiles(campaign: Campaign, lender: Lender): Promise<void> {
  const day = (ago: number) => campaign.dayOf(lender, ago)
  const named = Array.from({ length: 2 + campaign.random(6) }, () => campaign.name('imported'))
  const lent = named.map((customerId) => ({
    customerId,
    externalId: `of-${customerId}`,
    ago: 20 + campaign.random(200),
  }))
  const customers = named.map((externalId) => ({ externalId, activationDate: day(300), phone: '+255 700 000 001' }))
  const loans = lent.map(({ customerId, externalId, ago }) => ({
    customerId,
    externalId,
    productId: campaign.oneOf(lender.things.products),
    principal: 1_000 + campaign.random(50_000),
    disbursedAt: `${day(ago)}T09:30:00+03:00`,
  }))
  const transactions = lent.flatMap(({ externalId, ago }) =>
    Array.from({ length: campaign.random(5) }, () => {
      const type = campaign.oneOf(TYPES)
      const paid = { transactionAmount: (1 + campaign.random(80_000)) / (lender.hasCents ? 4 : 1) }
      return {
        loanExternalId: externalId,
        type,
        ...(type !== 'Charge-off' && type !== 'Write-off' && paid),
        transactionDate: day(campaign.random(ago)),
        idempotencyKey: campaign.name('import'),
      }
    }),
  )
  const files = [
    ...[
      '--customers',
      await fileOf(campaign, 'customers', customers),
      '--loans',
      await fileOf(campaign, 'loans', loans),
    ],
    ...(transactions.length > 0 ? ['--transactions', await fileOf(campaign, 'transactions', transactions)] : []),
  ]
  const silent = campaign.random(3) === 0 ? ['--no-events'] : []
  const args = ['book', 'import', '-o', String(lender.organizationId), ...files, ...silent]
  if (campaign.random(4) === 0) await run(campaign, 'import', args, AbortSignal.timeout(campaign.random(60)))
  await run(campaign, 'import', args)
  const { status, body } = await campaign.send('read imported', lender, {
    method: 'get',
    path: `/v1/loans/external/${campaign.oneOf(lent).externalId}`,
  })
  if (status === 200) remember(lender, body.id)
  lender.things.customers.push(...named)
}

async function account(campaign: Campaign, { organizationId }: Lender): Promise<void> {
  const email = `${campaign.name('person')}@campaign.example`
  await run(campaign, 'account', ['accounts', 'create', email, '-o', String(organizationId), '--role', 'USER'])
  const act = campaign.oneOf([
    ['roles', email, 'USER', 'ADMIN'],
    ['disable', email],
    ['revoke-tokens', email, '--yes'],
  ])
  await run(campaign, `accounts ${act[0]}`, ['accounts', ...act])
}

async function apiKey(campaign: Campaign, { organizationId }: Lender): Promise<void> {
  const of = ['-o', String(organizationId)]
  const json = await run(campaign, 'api key', ['api-keys', 'create', campaign.name('ledger'), ...of, '--role', 'USER'])
  const { id } = (json ?? {}) as { id?: number | string }
  if (id !== undefined && campaign.random(2) === 0)
    await run(campaign, 'revoke api key', ['api-keys', 'revoke', String(id), ...of, '--yes'])
}

async function creditPolicy(campaign: Campaign, { organizationId }: Lender): Promise<void> {
  const of = ['-o', String(organizationId)]
  const { json } = await opsOn(campaign.instance())(['credit-policy', 'show', ...of, '--json'])
  const path = join(campaign.folder, `${campaign.name('policy')}.json`)
  await writeFile(path, JSON.stringify({ ...json, version: campaign.name('v') }))
  await run(campaign, 'credit policy', ['credit-policy', 'set', path, ...of, '--yes'])
}

async function organization(campaign: Campaign, { organizationId }: Lender): Promise<void> {
  const update = ['organizations', 'update', '-o', String(organizationId)]
  if (campaign.random(2) === 0) await run(campaign, 'nothing waits', [...update, '--no-approval-above'])
  else
    await run(campaign, 'payment method', [
      ...update,
      '--payment-method',
      campaign.oneOf(['Cash', 'Mobile Money', 'Bank']),
    ])
}

async function signingKey(campaign: Campaign): Promise<void> {
  await run(campaign, 'signing key', ['keys', 'rotate', '--yes'])
}

export const OPERATOR_COMMANDS: readonly Command[] = [
  { weight: 10, run: importFiles },
  { weight: 1, run: account },
  { weight: 2, run: apiKey },
  { weight: 2, run: creditPolicy },
  { weight: 6, run: organization },
  { weight: 1, run: signingKey },
]
