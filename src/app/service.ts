import { createLoanBatches } from '../db/loans/loanBatches.ts'
import {
  CONNECT_PATIENTLY_MS,
  CONNECT_WITHIN_MS,
  type DatabaseOptions,
  type Db,
  openDatabase,
} from '../db/postgres/client.ts'
import { migrate, requireMigrated } from '../db/postgres/migrate.ts'
import { grantService, roleOf, roleWarning } from '../db/postgres/roles.ts'
import { examineServer, requireVersion } from '../db/postgres/server.ts'
import { createIdBlocks } from '../db/queries/idBlocks.ts'
import { createSettledPlaces } from '../db/queries/lists.ts'
import { invariant } from '../domain/errors.ts'
import { openKeyRing } from '../services/access/keyRing.ts'
import { openRootSecret } from '../services/access/rootSecret.ts'
import { createSignIn } from '../services/access/signIn.ts'
import { signerPlace } from '../services/access/tokens.ts'
import { JOURNAL_PATIENCE } from '../services/accounting/caughtUp.ts'
import { FILE_PLACES } from '../services/book/bookExport.ts'
import { openPeople } from '../services/customers/people.ts'
import type { Deps } from '../services/deps.ts'
import { ONE_BOOK, PLACES_LAST_MS } from '../services/directory/directory.ts'
import { documentKey } from '../services/documents/code.ts'
import { createPrinter, PDF_PLACES } from '../services/documents/pdf/printer.ts'
import { createEventHeads } from '../services/events/eventHeads.ts'
import { createKeptHeads } from '../services/events/keptHeads.ts'
import { createLongPolls } from '../services/events/longPolls.ts'
import { chainSecret } from '../services/events/seal.ts'
import { type Listener, noListener } from '../services/listener.ts'
import { createLoanQueues } from '../services/loans/changes/queue.ts'
import { createHeavyReads } from '../services/loans/heavyReads.ts'
import { cacheOrganizations } from '../services/organizations/organizations.ts'
import { seedDemo } from '../services/organizations/seedDemo.ts'
import { cacheChannelSecrets, cacheChannels } from '../services/payments/channelCache.ts'
import { openPaymentBox } from '../services/payments/payer.ts'
import { createPaymentBatches } from '../services/payments/paymentBatches.ts'
import { createPortfolioReads } from '../services/portfolio/portfolioReads.ts'
import { openTestClocks } from '../services/testClock/testClocks.ts'
import { STATEMENT_PLACES } from '../services/walletStatements/limits.ts'
import { openStatementReader } from '../services/walletStatements/reader.ts'
import { TEST_PLACES } from '../services/webhooks/endpoints.ts'
import { createPoster } from '../services/webhooks/poster.ts'
import { createGate } from '../toolbox/gate.ts'
import type { Config } from './config.ts'
import { withSetting } from './explain.ts'

/** Options of the service: its database and its clock. */
export interface ServiceOptions {
  readonly config: Config
  /** A `postgres://` URL: that of `DATABASE_URL`, or of the embedded server. */
  readonly databaseUrl: string
  /**
   * The URL of the same database for the role that owns the tables: that role migrates them, and grants the role of
   * `databaseUrl` the rights that it needs. When left out or empty, the role of `databaseUrl` does all, and the log
   * warns when it may change the audit trail.
   */
  readonly ownerUrl?: string
  /** True uses only `ownerUrl`, where there is one: for a command that migrates, or makes roles. */
  readonly asOwner?: boolean
  /** The clock of this machine. */
  readonly now: () => number
  /** The clock of the business of live organizations; that of this machine when left out. */
  readonly businessNow?: () => number
  readonly log?: { info(message: string): void; warn(message: string): void }
  /** The clock of this machine, to compare the server's with; without it only the server's version is checked. */
  readonly clock?: () => number
  /** Options of the database; those of production when left out. */
  readonly database?: Omit<DatabaseOptions, 'connectWithin'>
  /**
   * When the database has half a minute for a connection, and not the two seconds of a request: until the service is open
   * when left out; `always` for a command, `never` for a book beside others, which wait for no other.
   */
  readonly patience?: 'always' | 'never'
  /** True leaves the database unchanged: its schema has to be this program's, and no demonstration data is seeded. */
  readonly skipMigrations?: boolean
  /** Listens to what happens in the service; nothing does when left out. */
  readonly listener?: Listener
  /** What the books of a service share, where this is one of several; made for this book alone when left out. */
  readonly shared?: Shared
  /** False seeds no demonstration data here, whatever the settings say: another book has it. */
  readonly seeds?: boolean
}

/** What bounds the work of a process, or helps it, whatever the number of its books. */
type ProcessParts = Pick<
  Deps,
  'heavyReads' | 'portfolioReads' | 'gates' | 'statements' | 'webhookPoster' | 'keptHeads' | 'longPolls' | 'printer'
>

/** What the books of a service share: the parts of the process, and what is in the directory. */
export type Shared = ProcessParts & Pick<Deps, 'db' | 'config' | 'keys' | 'directory'>

/**
 * Builds the parts of the service, on a database that it migrates first.
 * @throws Error when the database cannot be reached or migrated, or its server is refused; WrongSecretError for its
 *   signing keys
 */
export async function openService(options: ServiceOptions): Promise<Deps> {
  const { databaseUrl, now, log, clock, database, patience, listener = noListener, shared } = options
  const { ownerUrl = '', asOwner = false, skipMigrations = false, seeds = true } = options
  const byOwner = asOwner && ownerUrl !== ''
  const max = options.config.databaseConnections
  const connectWithin = openWithin(options)
  const db = openDatabase(byOwner ? ownerUrl : databaseUrl, { max, ...database, connectWithin })
  try {
    await reach(db, options.config, byOwner ? 'DATABASE_OWNER_URL' : 'DATABASE_URL')
    if (!skipMigrations) await (clock && log ? examineServer(db, { now: clock, log }) : requireVersion(db))
    if (skipMigrations) await requireMigrated(db.pool)
    else await bringUpToDate(db, options)
    const { config, secret } = shared ? ofShared(shared) : await withRootSecret(db, options.config)
    const chain = chainSecret(secret)
    const people = openPeople(secret)
    db.setKeys({ stampMac: chain.stampMac, people })
    const keys = shared?.keys ?? (await openKeyRing(db, secret, now, config.books.length > 0 ? PLACES_LAST_MS : 0))
    if (config.seedDemo && seeds && !skipMigrations) await seedDemo(db, now())
    const testClocks = await openTestClocks(db, options.businessNow ?? now)
    if (patience === undefined) db.setConnectWithin(CONNECT_WITHIN_MS)
    const tokenSigner = signerPlace()
    const issuer = config.authUrl
    const signIn = createSignIn({ db, limitsIn: shared?.db ?? db, config, keys, tokenSigner, now, issuer, listener })
    return {
      ...(shared ? processPartsOf(shared) : openProcessParts(config, now)),
      config,
      now: testClocks.now,
      machineNow: now,
      testClocks,
      db,
      directory: shared?.directory ?? ONE_BOOK,
      idBlocks: createIdBlocks(),
      loanBatches: createLoanBatches(db),
      loanQueues: createLoanQueues(),
      settledPlaces: createSettledPlaces(),
      eventHeads: createEventHeads(),
      chainSecret: chain,
      documentKey: documentKey(secret),
      keys,
      listener,
      tokenSigner,
      signIn,
      journalPatience: JOURNAL_PATIENCE,
      organizations: cacheOrganizations(db, now),
      channels: cacheChannels(db, now),
      channelSecrets: cacheChannelSecrets(db, now),
      paymentBatches: createPaymentBatches(db),
      paymentBox: openPaymentBox(secret),
      people,
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Returns the milliseconds that a connection may take while the service is opened. */
const openWithin = ({ patience }: ServiceOptions): number =>
  patience === 'never' ? CONNECT_WITHIN_MS : CONNECT_PATIENTLY_MS

/** Returns the settings with the secret from which all keys derive in place of the one that encrypts it. @throws WrongSecretError */
async function withRootSecret(db: Db, config: Config): Promise<{ readonly config: Config; readonly secret: string }> {
  const { keyEncryptionSecret } = config
  invariant(keyEncryptionSecret !== undefined, 'a secret to encrypt the signing keys with')
  const secret = await openRootSecret(db, keyEncryptionSecret)
  return { config: { ...config, keyEncryptionSecret: secret }, secret }
}

/** Returns the settings of the directory, whose secret is that of all books. */
function ofShared({ config }: Shared): { readonly config: Config; readonly secret: string } {
  invariant(config.keyEncryptionSecret !== undefined, 'a secret that the books share')
  return { config, secret: config.keyEncryptionSecret }
}

function openProcessParts(config: Config, now: () => number): ProcessParts {
  return {
    heavyReads: createHeavyReads(),
    portfolioReads: createPortfolioReads(),
    gates: openGates(),
    statements: openStatementReader(),
    webhookPoster: createPoster({ toPrivate: config.webhooksToPrivate }),
    keptHeads: createKeptHeads(config.headsFile, now),
    longPolls: createLongPolls(config),
    printer: createPrinter(),
  }
}

/** Returns the parts of the process that another book has, too. */
function processPartsOf(shared: Shared): ProcessParts {
  const { heavyReads, portfolioReads, gates, statements, webhookPoster, keptHeads, longPolls, printer } = shared
  return { heavyReads, portfolioReads, gates, statements, webhookPoster, keptHeads, longPolls, printer }
}

/** Opens the gates before heavy work. */
const openGates = () => ({
  pdfs: createGate(PDF_PLACES),
  statements: createGate(STATEMENT_PLACES),
  files: createGate(FILE_PLACES),
  webhookTests: createGate(TEST_PLACES),
})

async function bringUpToDate(db: Db, options: ServiceOptions): Promise<void> {
  const { config, databaseUrl, ownerUrl = '', asOwner = false, log } = options
  if (ownerUrl === '') await migrate(db.pool, log)
  else if (asOwner) await migrateAndGrant(db, databaseUrl, log)
  else {
    const owner = openDatabase(ownerUrl, { max: 2, connectWithin: openWithin(options) })
    try {
      await reach(owner, config, 'DATABASE_OWNER_URL')
      await migrateAndGrant(owner, databaseUrl, log)
    } finally {
      await owner.close()
    }
  }
  const warning = log && !asOwner ? await roleWarning(db) : undefined
  if (warning !== undefined) log?.warn(warning)
}

async function migrateAndGrant(owner: Db, databaseUrl: string, log: ServiceOptions['log']): Promise<void> {
  await migrate(owner.pool, log)
  await grantService(owner, roleOf(databaseUrl))
}

/**
 * Connects once. When that fails, for a certificate, a socket or a password, the error names the setting of the URL.
 */
async function reach(
  { pool }: Db,
  { databaseUrl }: Config,
  setting: 'DATABASE_URL' | 'DATABASE_OWNER_URL',
): Promise<void> {
  try {
    const client = await pool.connect()
    client.release()
  } catch (error) {
    if (databaseUrl === '') throw error
    withSetting(setting)(error)
  }
}
