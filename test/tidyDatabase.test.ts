import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import biome from '../biome.json' with { type: 'json' }

// The rules of src/db, and the lists of exceptions that may only become shorter.

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const files = globSync('src/db/**/*.ts', { cwd: root }).filter((file) => !file.startsWith('src/db/generated/'))

/**
 * The files that send SQL, by the reason. Everything else goes through Prisma Client: a plain find, list, create or update
 * on a path that is neither hot nor batched.
 */
const SQL: Readonly<Record<string, readonly string[]>> = {
  'the toolbox: connections, roles, migrations, and the parts of statements': [
    ...['embedded/embedded', 'postgres/client', 'postgres/livenessProbe', 'postgres/migrate'],
    ...['postgres/readers', 'postgres/roles', 'postgres/server', 'postgres/transaction'],
    ...['queries/idBlocks', 'queries/lists', 'queries/ownedList'],
  ],
  'the money path, hot and batched': [
    ...['loans/applicants', 'loans/entryIds', 'loans/insertLoanLocked', 'loans/insertLoans'],
    ...['loans/loanBatches', 'loans/loans', 'loans/modifyTerms', 'loans/recordLoans', 'loans/recordRepayments'],
    ...['loans/saveLoans', 'organizations/accountNumbers', 'access/idempotency'],
  ],
  'a change, its row of the trail and its Idempotency-Key in one statement, or under a lock': [
    ...[
      'approvals/pendingActions',
      'collections/assignments',
      'collections/contacts',
      'collections/holds',
      'collections/promises',
      'collections/traced',
      'credit/credit',
      'credit/limitIncreases',
      'customers/borrowers',
      'customers/consents',
      'customers/customers',
      'customers/dataRequests',
      'customers/erasures',
      'customers/identities',
      'delinquency/policies',
      'documents/documents',
      'loans/security/collateral',
      'loans/security/guarantors',
      'loans/security/securedLoan',
    ],
  ],
  'a move between books, which Prisma Client has no words for, by the owner of the tables': ['directory/moving'],
  'batches, sweeps and counters': [
    ...['access/accessEntries', 'access/counters', 'book/bookImport', 'customers/insertCustomers', 'customers/words'],
    ...['loans/sweep', 'portfolio/toldBuckets', 'collections/collecting'],
    ...['payments/candidates', 'payments/inbox', 'payments/parts', 'payments/payerWords', 'payments/payments'],
    ...['payments/quietChannels'],
    ...['payments/reconciliations', 'payments/reversals'],
    ...['exports/files', 'exports/lines'],
  ],
  'sums, and reading through the whole book': [
    ...['office/payments', 'office/search', 'office/today'],
    ...[
      'audit/audit',
      'audit/auditTail',
      'book/bookCheck',
      'book/bookExport',
      'book/bookJournals',
      'book/faultFinders',
      'book/bookPostings',
      'book/reportingRows',
    ],
    ...['exports/loans'],
    ...[
      'portfolio/arrearsList',
      'portfolio/growth',
      'portfolio/keptDays',
      'portfolio/positions',
      'portfolio/stillLoans',
    ],
    'collections/worklist',
    ...['book/totals', 'loans/earlierTerms', 'events/sealedChain', 'events/sealedCredit', 'events/sealedRows'],
  ],
  'the endpoints of webhooks and what waits for them, under a lease': [
    ...['webhooks/attempts', 'webhooks/endpoints', 'webhooks/leases'],
  ],
  'the clocks of test organizations, each at most a row a request': ['testClock/testClocks'],
  'the journal, off the money path': [
    ...[
      'accounting/charts',
      'accounting/journalHead',
      'accounting/insertPostings',
      'accounting/keeping',
      'accounting/periods',
      'accounting/postings',
      'accounting/provisions',
      'accounting/setChart',
      'accounting/sums',
      'accounting/takenUp',
    ],
  ],
  'the chain of changes, off the money path': ['events/chain', 'events/eventFacts', 'events/eventList'],
  'lists with filters, in an order that an index gives': ['audit/changes', 'loans/lists/loanList'],
}

const isToolbox = (file: string) => /^src\/db\/(embedded|postgres|queries)\//.test(file)

describe('the database room', () => {
  it('sends SQL from the listed files alone; every other file uses Prisma Client', () => {
    const sending = files.filter((file) => /\.query[(<]/.test(read(file)))
    const listed = Object.values(SQL).flatMap((names) => names.map((name) => `src/db/${name}.ts`))
    const unlisted = sending.filter((file) => !listed.includes(file))
    const idle = listed.filter((file) => !sending.includes(file))
    expect([
      ...unlisted.map(
        (file) => `${file} sends SQL: use Prisma Client, or add it to SQL of this test, where its reason is`,
      ),
      ...idle.map((file) => `${file} sends no SQL: remove it from SQL of this test`),
    ]).toEqual([])
  })

  it('says what happened, and leaves it to services to refuse: of domain/errors.ts it imports invariant alone', () => {
    const refusing = files.filter((file) =>
      /import \{(?! invariant \})[^}]*\} from '[^']*domain\/errors\.ts'/.test(read(file)),
    )
    expect(refusing).toEqual([])
  })

  it('names the parameters of a statement that has more than two: use statement() of queries/statement.ts', () => {
    expect(files.filter((file) => !isToolbox(file) && /\$[3-9]/.test(read(file)))).toEqual([])
  })
})

/**
 * The inserts into walked tables whose transaction has a number before, by the reason: the file and the table of each. Any
 * other has the condition AFTER_TRANSACTION_ID of queries/lists.ts.
 */
const NUMBERED_BEFORE: Readonly<Record<string, readonly string[]>> = {
  'the row that the trail tells of was inserted or changed by a CTE that the insert reads': [
    ...['audit/trail audit_entry', 'audit/trail audit_entry', 'loans/sweep audit_entry'],
  ],
  'the rows of the loans are locked and changed by CTEs that the insert reads': ['loans/saveLoans loan_entry'],
  'the rows of the customers are locked by a CTE that the insert reads': ['loans/insertLoans loan'],
  'a role was made or changed before in the transaction': ['postgres/readers audit_entry'],
}

describe('an insert into a table that is walked', () => {
  const statements = files.flatMap((file) =>
    [...read(file).matchAll(/INSERT INTO (customer|loan|loan_entry|audit_entry)\b[^`]*/g)].map(([text, table]) => ({
      insert: `${file.slice('src/db/'.length, -'.ts'.length)} ${table}`,
      // To the end of its own CTE, or of its SELECT.
      text: text.split(/\n {2}\)|ON CONFLICT|RETURNING/)[0]!,
    })),
  )

  it('gets the number of its transaction before it draws its place', () => {
    const unconditional = statements.filter(({ text }) => !/\{AFTER_TRANSACTION_ID\}/.test(text))
    expect(unconditional.map(({ insert }) => insert).toSorted()).toEqual(
      Object.values(NUMBERED_BEFORE).flat().toSorted(),
    )
    expect(statements.length - unconditional.length).toBeGreaterThanOrEqual(3)
  })
})

describe('the exceptions from the bounds of functions (60 lines, 4 parameters)', () => {
  const exceptions = biome.overrides.slice(1).flatMap(({ includes }) => includes)

  it('name files that are there', () => {
    expect(exceptions.filter((file) => globSync(file, { cwd: root }).length === 0)).toEqual([])
  })

  // Lower the number together with the lists of biome.json.
  it('do not become more: give the function fewer parameters, or split it', () => {
    expect(exceptions.length).toBeLessThanOrEqual(15)
  })
})
