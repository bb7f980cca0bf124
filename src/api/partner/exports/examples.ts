import { newLoan } from '../openapi/examples.ts'

// The return of the portfolio on the day of the loan of the story, and what its borrower is told and says.

export const newExport = { format: 'portfolio_return', asOf: '2026-01-30', mode: 'full' as const }

const loan = { id: '4000000000000001' }

const none = { loans: 0, principal: 0, principalOutstanding: 0, outstanding: 0, overdue: 0 }

const ready = {
  id: '4000000000000008',
  format: newExport.format,
  formatVersion: '1',
  asOf: newExport.asOf,
  mode: newExport.mode,
  corrects: null,
  settings: {},
  knownAt: '2026-02-20T09:30:00.000+03:00',
  state: 'ready' as const,
  progress: { done: 3, total: 3 },
  accepted: 1,
  excluded: 1,
  exceptions: 1,
  reasons: [{ reason: 'ended_before', loans: 1 }],
  totals: [
    {
      kind: 'accepted' as const,
      currencyCode: 'TZS',
      ...none,
      loans: 1,
      principal: newLoan.principal,
      principalOutstanding: newLoan.principal,
      outstanding: newLoan.totalOutstanding,
    },
  ],
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' as string | null,
  bytes: 512 as number | null,
  createdAt: '2026-02-20T09:30:00.000+03:00',
  finishedAt: '2026-02-20T09:30:02.000+03:00' as string | null,
  acceptedAt: null as string | null,
}

export const exportFile = ready

export const exception = { loanId: loan.id, field: 'Surname', rule: 'required', value: null }

export const excluded = { loanId: loan.id, reason: 'notice_missing' }

export const FILE = 'reportingDate,loanId,customerId,…\n2026-01-31,4000000000000001,4000000000000001,…\n'

/** A lender's own format: the smallest that is right. */
export const document = {
  name: 'own_list',
  version: '1',
  title: 'What is owed, by loan',
  source: 'Ours',
  separator: ';',
  quotes: 'needed',
  lineEnd: 'lf',
  dates: 'YYYY-MM-DD',
  amounts: 'decimal',
  header: { kind: 'names' },
  mark: null,
  settings: [],
  maps: {},
  classes: [],
  statuses: [],
  exclude: { endedBefore: 'month', consent: false, disputed: false, notice: null },
  fields: [
    { name: 'loan', type: 'text', need: 'mandatory', from: { source: 'loan.id' } },
    { name: 'owed', type: 'amount', need: 'mandatory', from: { source: 'loan.outstanding' } },
  ],
}

export const format = {
  name: document.name,
  version: document.version,
  title: document.title,
  source: document.source,
  storedAt: '2026-02-20T09:30:00.000+03:00' as string | null,
}

export const notice = {
  id: '4000000000000006',
  loanId: loan.id,
  sentOn: '2026-02-20',
  channel: 'sms' as const,
  reference: 'SMS-4711' as string | null,
  createdAt: '2026-02-20T09:30:00.000+03:00',
}

export const newNotice = { sentOn: notice.sentOn, channel: notice.channel, reference: 'SMS-4711' }

export const newDispute = { openedOn: '2026-02-20', reason: 'I paid at the shop on Tuesday.' }

export const dispute = {
  id: '4000000000000007',
  loanId: loan.id,
  openedOn: newDispute.openedOn,
  reason: newDispute.reason as string | null,
  outcome: null as 'upheld' | null,
  resolution: null as string | null,
  resolvedOn: null as string | null,
  createdAt: '2026-02-20T09:30:00.000+03:00',
}

export const resolution = { resolvedOn: '2026-02-20', outcome: 'upheld' as const, note: 'The shop has confirmed it.' }
