import type { LoanBatches } from '../db/loans/loanBatches.ts'
import type { IdBlocks } from '../db/queries/idBlocks.ts'
import type { SettledPlaces } from '../db/queries/lists.ts'
import type { Gate } from '../toolbox/gate.ts'
import type { KeyRing } from './access/keyRing.ts'
import type { SignIn } from './access/signIn.ts'
import type { SignerPlace } from './access/tokens.ts'
import type { Base } from './base.ts'
import type { People } from './customers/people.ts'
import type { DocumentKey } from './documents/code.ts'
import type { Printer } from './documents/pdf/printer.ts'
import type { EventHeads } from './events/eventHeads.ts'
import type { KeptHeads } from './events/keptHeads.ts'
import type { LongPolls } from './events/longPolls.ts'
import type { ChainSecret } from './events/seal.ts'
import type { LoanQueues } from './loans/changes/queue.ts'
import type { HeavyReads } from './loans/heavyReads.ts'
import type { Organizations } from './organizations/organizations.ts'
import type { ChannelSecrets, Channels } from './payments/channelCache.ts'
import type { PaymentBatches } from './payments/paymentBatches.ts'
import type { PortfolioReads } from './portfolio/portfolioReads.ts'
import type { SecretBox } from './secretBox.ts'
import type { TestClocks } from './testClock/testClocks.ts'
import type { StatementReader } from './walletStatements/reader.ts'
import type { Poster } from './webhooks/poster.ts'

/** What every operation works with: the base, and the clocks of test organizations. */
export interface Core extends Base {
  readonly testClocks: TestClocks
}

/** What a change of the book needs, and what follows from it: ids, the statements that changes share, the chain, events. */
export interface Writing {
  /** Ids and account numbers that are reserved ahead. */
  readonly idBlocks: IdBlocks
  /** The statements of the money path, and the changes that wait for their loan. */
  readonly loanBatches: LoanBatches
  readonly loanQueues: LoanQueues
  /** The last events, for those that wait for the next. */
  readonly eventHeads: EventHeads
  /** The heads of the chains that are known outside of the database. */
  readonly keptHeads: KeptHeads
  /** The key of the chain of changes. */
  readonly chainSecret: ChainSecret
  /** The statements that payments share which arrive together. */
  readonly paymentBatches: PaymentBatches
  /** Encrypts payers, and the messages of providers. */
  readonly paymentBox: SecretBox
  /** Encrypts who customers are, and finds them. */
  readonly people: People
  /** Sends requests to the receivers of webhooks. */
  readonly webhookPoster: Poster
}

/** What a process keeps for its answers: what was read lately, keys, gates before heavy work, and its helpers for documents. */
export interface Caches {
  readonly organizations: Organizations
  readonly channels: Channels
  readonly channelSecrets: ChannelSecrets
  /** How far the lists are settled, for walks by cursor. */
  readonly settledPlaces: SettledPlaces
  readonly keys: KeyRing
  /** Has a signer once the auth host is mounted; before that, no client can sign in and no token is verified. */
  readonly tokenSigner: SignerPlace
  readonly signIn: SignIn
  /** The places of the requests that wait for an event. */
  readonly longPolls: LongPolls
  readonly heavyReads: HeavyReads
  /** The turns of questions about whole portfolios. */
  readonly portfolioReads: PortfolioReads
  /** The gates before PDFs, statements that are read, files and tests of webhooks, of which few are made at once. */
  readonly gates: { readonly pdfs: Gate; readonly statements: Gate; readonly files: Gate; readonly webhookTests: Gate }
  /** The key of the codes of documents. */
  readonly documentKey: DocumentKey
  /** Makes the PDFs of documents. */
  readonly printer: Printer
  readonly statements: StatementReader
}

/** The parts of the service, made once in `app/service.ts`. A function takes the groups of them, or the members, that it needs. */
export type Deps = Core & Writing & Caches
