import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'

// `npm run try`: the campaigns, which try more than the tests have time for. Without a name it prints the table; with one it
// runs that campaign, gives it the arguments that follow, and ends with its exit code.

interface Campaign {
  /** What it tries, on one line. */
  readonly tries: string
  /** The arguments of Node, from the root of the repository. */
  readonly command: readonly string[]
  /** Whole numbers that it reads from the environment, and what they are unless the environment says otherwise. */
  readonly settings?: Readonly<Record<string, number>>
}

const tests = (...files: readonly string[]) => ['node_modules/vitest/vitest.mjs', 'run', '--project', '!tidy', ...files]

export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  arrears: {
    tries: 'the arrears of random loans by random policies, against a model that goes day by day',
    command: ['test/domain/delinquency/tryArrears.ts'],
    settings: { MKOPO_LOANS: 100_000, MKOPO_SEED: 1 },
  },
  attack: {
    tries: 'what floods leave of the service for honest callers',
    command: ['bench/attack/main.ts'],
  },
  book: {
    tries: 'random commands in every mode, and the check of the book beside and after them',
    command: tests('test/services/book/manyCommands.test.ts'),
    settings: { MKOPO_COMMANDS: 100_000, MKOPO_SEED: 1, MKOPO_MINUTES: 600 },
  },
  books: {
    tries:
      'two books under load, one of them cut off, killed and switched to its standby; and no directory for a while',
    command: tests('test/programs/booksUnderLoad.test.ts'),
    settings: { MKOPO_OUTAGES: 30, MKOPO_GONE_SECONDS: 240, MKOPO_SEED: 1 },
  },
  client: {
    tries: 'the packed TypeScript client: compilers, versions of Node, 100,000 repayments through losses',
    command: ['clients/typescript/try/main.ts'],
  },
  clients: {
    tries: 'the OpenAPI documents: linters, generated clients in other languages, Schemathesis',
    command: ['clients/try/main.ts'],
  },
  clock: {
    tries: 'the tests of both styles on test organizations whose clock is years ahead',
    command: [...tests('test/api/partner', 'test/api/record'), '--exclude', 'test/api/partner/testClock/**'],
    settings: { MKOPO_YEARS_AHEAD: 3 },
  },
  closes: {
    tries: 'the close of twelve months while repayments arrive',
    command: tests('test/closeRace.test.ts'),
    settings: { MKOPO_REPAYMENTS: 10_000 },
  },
  contract: {
    tries: 'the tests of both styles, over plain HTTP and through the TypeScript client',
    command: ['clients/typescript/try/contract.ts'],
  },
  'document-times': {
    tries: 'how long statements take, alone and beside repayments',
    command: ['bench/documents/main.ts'],
  },
  docker: {
    tries: 'docker-compose.yml by a Docker of this machine: the guide, kills, a restore, a fail-over, an upgrade',
    command: ['deploy/try/main.ts'],
  },
  documents: {
    tries: 'the statements of random loans, read back from their PDFs',
    command: ['test/services/documents/tryDocuments.ts'],
    settings: { MKOPO_LOANS: 10_000, MKOPO_SEED: 1 },
  },
  erasures: {
    tries: 'people who are erased by instances that are killed, beside repayments: each whole, and no word is left',
    command: tests('test/api/partner/people/manyErasures.test.ts'),
    settings: { MKOPO_PEOPLE: 1_000, MKOPO_KILLS: 30, MKOPO_SEED: 1 },
  },
  events: {
    tries: 'events without a gap while sequencers are killed',
    command: tests('test/sequencer.test.ts'),
    settings: { MKOPO_CHANGES: 100_000, MKOPO_KILLS: 100 },
  },
  exports: {
    tries: 'a file for a bureau by processes that are killed: each loan once, what is missing, corrections, totals',
    command: tests('test/api/partner/exports/manyExports.test.ts'),
    settings: { MKOPO_LOANS: 100_000, MKOPO_MISSING: 200, MKOPO_KILLS: 20, MKOPO_SEED: 1 },
  },
  faults: {
    tries: 'each fault of a row alone, and each value in each column: book check finds it or its list names it',
    command: tests('test/ops/sealFaults.test.ts', 'test/ops/everyColumn.test.ts'),
    settings: { MKOPO_EACH_ALONE: 1 },
  },
  fuzz: {
    tries: 'mutated requests to both ports',
    command: tests('test/fuzz.test.ts'),
    settings: { MKOPO_REQUESTS: 200_000, MKOPO_SEED: 1 },
  },
  journal: {
    tries: 'the journal of random commands while months are closed',
    command: tests('test/domain/accounting/manyCommands.test.ts'),
    settings: { MKOPO_COMMANDS: 1_000_000, MKOPO_SEED: 1 },
  },
  laws: {
    tries: 'every property test with another seed than that of the suite: give one of your own',
    command: tests(
      'test/domain',
      'test/db',
      'test/model',
      'test/services/csv.test.ts',
      'test/api/wire.test.ts',
      'test/clients/typescript/json.test.ts',
      'test/services/loans',
      'test/services/events',
    ),
    settings: { MKOPO_SEED: 2, MKOPO_RUNS_PERCENT: 100, MODEL_RUNS: 200 },
  },
  messages: {
    tries: 'changed messages of each payment provider, read as their adapters read them',
    command: tests('test/domain/payments/readMessages.test.ts'),
    settings: { MKOPO_MESSAGES: 1_000_000, MKOPO_SEED: 1 },
  },
  mutants: {
    tries: 'whether the tests find faults that are planted in the source; --tree D in that of another checkout',
    command: ['bench/mutants/main.ts'],
    settings: { MKOPO_MUTANTS: 50, MKOPO_SEED: 1, MKOPO_FILES: 30 },
  },
  moves: {
    tries: 'a lender who is moved between two books while he works, by commands that are killed',
    command: tests('test/programs/moves.test.ts'),
    settings: { MKOPO_MOVES: 20, MKOPO_LOANS: 100_000, MKOPO_SEED: 1 },
  },
  office: {
    tries: 'how long every office page takes on a book of a million loans; --directory D keeps the book',
    command: ['bench/office/main.ts'],
  },
  outages: {
    tries: 'switches to a standby under load, full disks (as root) and silent connections',
    command: tests(
      'test/programs/standby.test.ts',
      'test/programs/fullDisk.test.ts',
      'test/programs/silentConnection.test.ts',
    ),
    settings: { MKOPO_SWITCHES: 30, MKOPO_FULL_DISKS: 10, MKOPO_SILENCES: 20 },
  },
  payments: {
    tries: 'loans that are paid through payments, against twins that are paid directly; and each cent of the channels',
    command: tests('test/api/partner/payments/manyPayments.test.ts'),
    settings: { MKOPO_PAYMENTS: 10_000, MKOPO_SEED: 1 },
  },
  portfolio: {
    tries: 'how long questions about the portfolio of a million loans take; --directory D keeps the book',
    command: ['bench/portfolio/main.ts'],
  },
  reporting: {
    tries: 'the Parquet files of a book, read by DuckDB, against the trial balance and the reporting views',
    command: ['bench/reporting/main.ts', 'test/ops/reportingFiles.test.ts'],
    settings: { MKOPO_LOANS: 2_000 },
  },
  restructures: {
    tries: 'random loans with restructures, against a model that goes day by day; and the trial balance after them',
    command: ['test/domain/restructure/tryRestructures.ts'],
    settings: { MKOPO_LOANS: 100_000, MKOPO_SEED: 1 },
  },
  terms: {
    tries: 'random loans by the terms of random products, against a model that goes day by day',
    command: ['test/domain/terms/tryTerms.ts'],
    settings: { MKOPO_LOANS: 200_000, MKOPO_SEED: 1 },
  },
  'top-ups': {
    tries: 'top-ups by processes that are killed: both loans or neither',
    command: tests('test/services/loans/killedTopUps.test.ts'),
    settings: { MKOPO_TOP_UPS: 1_000, MKOPO_KILLS: 20 },
  },
  wallets: {
    tries:
      'messages of nine payment providers to instances that are killed: from wallets to loans, positions and statements',
    command: tests('test/programs/wallets.test.ts'),
    settings: { MKOPO_PAYMENTS: 100_000, MKOPO_KILLS: 200, MKOPO_SEED: 1 },
  },
  webhooks: {
    tries: '100,000 events delivered to a receiver that fails',
    command: ['bench/webhooks/main.ts'],
  },
}

/** The exit code of a call that was not understood. */
const MISUSED = 2
/** A program that a signal ended has the exit code of the signal and this, as in a shell. */
const BY_SIGNAL = 128

/** Returns the table: a line for each campaign, with the settings that can be given in the environment. */
function tableOfCampaigns(): string {
  const rows = Object.entries(CAMPAIGNS)
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(([name, { tries, settings = {} }]) => {
    const given = Object.entries(settings).map(([setting, value]) => `${setting}=${value}`)
    return `  ${name.padEnd(width)}  ${tries}${given.length > 0 ? ` (${given.join(' ')})` : ''}\n`
  })
  return `npm run try -- <campaign> [arguments of the campaign]\n\n${lines.join('')}`
}

/**
 * Returns the settings of a campaign, where the environment does not have them.
 * @throws Error for a setting of the environment that is not a whole number above 0: the campaign would try nothing
 */
function settingsOf({ settings = {} }: Campaign): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const given = process.env[name] ?? String(value)
      if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`${name}: must be a whole number above 0, not ${given}`)
      return [name, given]
    }),
  )
}

/** Runs a campaign with further arguments. @returns its exit code */
function run(campaign: Campaign, args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...campaign.command, ...args], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, ...settingsOf(campaign) },
    stdio: 'inherit',
  })
  // A terminal sends Ctrl-C to the campaign, too: it ends what it started, and then this program ends with its code.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? BY_SIGNAL + constants.signals[signal!]))
  })
}

if (import.meta.main) {
  const [name, ...args] = process.argv.slice(2)
  const campaign = Object.entries(CAMPAIGNS).find(([one]) => one === name)?.[1]
  if (campaign !== undefined) {
    try {
      process.exitCode = await run(campaign, args)
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`)
      process.exitCode = MISUSED
    }
  } else if (name === undefined || name === '--help') process.stdout.write(tableOfCampaigns())
  else {
    process.stderr.write(`there is no campaign ${name}\n\n${tableOfCampaigns()}`)
    process.exitCode = MISUSED
  }
}
