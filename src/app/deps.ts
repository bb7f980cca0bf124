import type { LoanBatches } from '../db/loans/loanBatches.ts'
import type { Db } from '../db/postgres/client.ts'
import type { IdBlocks } from '../db/queries/idBlocks.ts'
import type { SettledPlaces } from '../db/queries/lists.ts'
import type { KeyRing } from '../services/access/keyRing.ts'
import type { SignIn } from '../services/access/signIn.ts'
import type { SignerPlace } from '../services/access/tokens.ts'
import type { DocumentKey } from '../services/documents/code.ts'
import type { Printer } from '../services/documents/pdf/printer.ts'
import type { EventHeads } from '../services/events/eventHeads.ts'
import type { KeptHeads } from '../services/events/keptHeads.ts'
import type { LongPolls } from '../services/events/longPolls.ts'
import type { ChainSecret } from '../services/events/seal.ts'
import type { Organizations } from '../services/lenders/organizations.ts'
import type { Listener } from '../services/listener.ts'
import type { LoanQueues } from '../services/loans/changes/queue.ts'
import type { HeavyReads } from '../services/loans/heavyReads.ts'
import type { PortfolioReads } from '../services/portfolio/portfolioReads.ts'
import type { StatementReader } from '../services/statements/reader.ts'
import type { TestClocks } from '../services/testClock/testClocks.ts'
import type { Poster } from '../services/webhooks/poster.ts'
import type { Gate } from '../toolbox/gate.ts'
import type { Config } from './config.ts'

/** The parts of the service, made once in `app/service.ts` and passed to all rooms. */
export interface Deps {
  readonly config: Config
  /**
   * The moment of the business of an organization, in milliseconds since 1970: that of its test clock, or of this machine.
   * Every loan, customer and decision is of such a moment.
   */
  readonly now: (organizationId: number) => number
  /** The clock of this machine, in milliseconds since 1970: of tokens, keys, limits, leases and signatures. */
  readonly machineNow: () => number
  readonly testClocks: TestClocks
  readonly db: Db
  /** Ids and account numbers that are reserved ahead. */
  readonly idBlocks: IdBlocks
  /** How far the lists are settled, for walks by cursor. */
  readonly settledPlaces: SettledPlaces
  /** The statements of the money path, and the changes that wait for their loan. */
  readonly loanBatches: LoanBatches
  readonly loanQueues: LoanQueues
  readonly keys: KeyRing
  /** Has a signer once the auth host is mounted; before that, no client can sign in and no token is verified. */
  readonly tokenSigner: SignerPlace
  readonly signIn: SignIn
  /** The last events, for those that wait for the next. */
  readonly eventHeads: EventHeads
  /** The heads of the chains that are known outside of the database. */
  readonly keptHeads: KeptHeads
  /** The places of the requests that wait for an event. */
  readonly longPolls: LongPolls
  /** The key of the chain of changes. */
  readonly chainSecret: ChainSecret
  /** The key of the codes of documents. */
  readonly documentKey: DocumentKey
  /** Makes the PDFs of documents. */
  readonly printer: Printer
  /** Sends requests to the receivers of webhooks. */
  readonly webhookPoster: Poster
  /** Listens to what happens in the service, such as its metrics do. */
  readonly listener: Listener
  readonly statements: StatementReader
  readonly organizations: Organizations
  readonly heavyReads: HeavyReads
  /** The gates before PDFs, files and tests of webhooks, of which few are made at once. */
  readonly gates: { readonly pdfs: Gate; readonly files: Gate; readonly webhookTests: Gate }
  /** The turns of questions about whole portfolios. */
  readonly portfolioReads: PortfolioReads
}
