import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderEvents } from '../../../src/app/app.ts'
import { dateIn } from '../../../src/domain/dates.ts'
import { LendingError } from '../../../src/domain/errors.ts'
import { listHeads } from '../../../src/services/events/chainHeads.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { startJobs } from '../../../src/services/jobs/runner.ts'
import { createServiceJobs } from '../../../src/services/jobs/serviceJobs.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR, DEMO_PARTNER, DEMO_SANDBOX } from '../../../src/services/organizations/seedDemo.ts'
import { anotherLender } from '../lenders.ts'
import { randomFrom } from '../random.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type RecordId, recordIdsFrom } from '../recordIds.ts'
import { SANDBOX } from '../sandbox.ts'
import { type Answer, type Call, startService, type TestService } from '../service.ts'
import { requireSoundBook } from '../soundBook.ts'
import { type Lender, lenderOf, PASSWORD, PEOPLE, type Person } from './lenders.ts'

/** A request of a command. */
export interface Asked {
  readonly method?: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
  readonly body?: unknown
  readonly by?: Person
  /** Whether it is asked in the record style. */
  readonly isRecord?: boolean
  readonly more?: Call
}

const DAY_MS = 86_400_000
/** The days after which all sign in again: tokens are valid for a year. */
const SIGNED_IN_DAYS = 300
/** What may be sent again under its key. */
const MOST_SENT = 50

/**
 * Lenders whose books live by random commands: a live lender with all that the demonstration has, another in a currency of its
 * own, and a test organization. Several instances serve them, and the jobs of the service run beside.
 */
export class Campaign {
  readonly instances: readonly TestService[]
  readonly lenders: readonly Lender[]
  readonly random: (below: number) => number
  readonly nextRecordId: () => RecordId
  /** Of files that are imported. */
  readonly folder: string
  readonly receiver: Receiver
  /** How often each command was accepted, and how often it was refused. */
  readonly done = new Map<string, number>()
  readonly refused = new Map<string, number>()
  accepted = 0
  /** The days that have passed. */
  days = 0
  /** When it was opened, by `performance.now`. */
  readonly begun = performance.now()
  /** Lines of `book seal` that were kept; a test organization that is emptied begins another chain. */
  readonly heads: string[] = []
  /** What a job of the service has logged. */
  readonly logged: string[] = []
  private readonly jobs: { stop(): unknown }[] = []
  private readonly sent: { lender: Lender; asked: Asked; key: string }[] = []
  private names = 0
  private signedIn = 0

  private constructor(
    seed: number,
    opened: Pick<Campaign, 'instances' | 'lenders' | 'folder' | 'receiver'>,
    begun: number,
  ) {
    this.instances = opened.instances
    this.lenders = opened.lenders
    this.folder = opened.folder
    this.receiver = opened.receiver
    this.random = randomFrom(seed)
    this.nextRecordId = recordIdsFrom(seed)
    this.signedIn = begun
  }

  static async open(seed: number): Promise<Campaign> {
    const settings = { RATE_LIMIT_ACCOUNT: '', RATE_LIMIT_ADDRESS: '', WEBHOOKS_TO_PRIVATE: 'true' }
    const service = await startService(settings)
    const instances = [service, await service.another(), await service.another()]
    await anotherLender(service, 7, 'UGX')
    const partnerOf7 = { email: 'partner@lender-7.example', password: PASSWORD }
    const lenders = [
      await lenderOf(service, 1, { user: DEMO_PARTNER, admin: DEMO_OPERATOR }),
      await lenderOf(service, 7, { user: partnerOf7 }),
      await lenderOf(service, SANDBOX, { admin: DEMO_SANDBOX }),
    ]
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-campaign-'))
    const receiver = await startReceiver()
    const campaign = new Campaign(seed, { instances, lenders, folder, receiver }, service.clock.now())
    await campaign.signIn()
    campaign.startJobs()
    return campaign
  }

  get service(): TestService {
    return this.instances[0]!
  }

  private startJobs(): void {
    const [, ...beside] = this.instances
    // A receiver that fails at times is no failure of the service.
    const heard = { info: () => undefined, warn: () => undefined, error: this.hear }
    const render = renderEvents(this.service.deps.config.zone)
    this.receiver.react = () => (this.random(4) === 0 ? 500 : 204)
    for (const { deps } of beside) {
      const { jobs } = createServiceJobs(deps, { render, log: heard })
      this.jobs.push(startJobs(jobs, { listener: deps.listener, log: heard }))
    }
  }

  private readonly hear = (context: object, message: string): void => {
    const { err } = context as { err?: Error }
    this.logged.push(`${message}: ${err?.stack ?? JSON.stringify(context)}`)
  }

  private async signIn(): Promise<void> {
    for (const { accounts, tokens } of this.lenders)
      for (const person of PEOPLE) tokens[person] = await this.tokenOf(accounts[person])
  }

  /** Returns a token; a sign-in that is refused because passwords had to wait for too long, on a machine at load, is sent again. */
  private async tokenOf({ email, password }: { readonly email: string; readonly password: string }): Promise<string> {
    const { signIn } = this.service.deps
    for (;;)
      try {
        return await signIn.issueToken(email, password, '127.0.0.1')
      } catch (error) {
        if (!(error instanceof LendingError && error.code === 'unavailable')) throw error
      }
  }

  /** Returns a name that was not given before. */
  name(of: string): string {
    this.names += 1
    return `${of}-${this.names}`
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.random(list.length)]!
  }

  /** Returns one of what a lender has, mostly of the latest; undefined where there is none. */
  recent<T>(list: readonly T[]): T | undefined {
    const among = this.random(5) > 0 ? list.slice(-40) : list
    return among[this.random(among.length)]
  }

  instance(): TestService {
    return this.oneOf(this.instances)
  }

  /** Returns the day of a lender's business, so many days ago; below 0, so many days from now. */
  dayOf({ organizationId }: Lender, ago = 0): string {
    const { config, now } = this.service.deps
    return dateIn(config.zone, now(organizationId) - ago * DAY_MS)
  }

  /** Counts a command. */
  count(name: string, isAccepted: boolean): void {
    const counts = isAccepted ? this.done : this.refused
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (isAccepted) this.accepted += 1
  }

  /**
   * Sends a request to one of the instances; a part of the changes has an `Idempotency-Key`, and a part of these is sent twice.
   * @throws Error where the answer is a fault of the service
   */
  async send(name: string, lender: Lender, asked: Asked): Promise<Answer> {
    const { method = 'post' } = asked
    const key = method !== 'get' && this.random(5) < 2 ? this.name('key') : undefined
    const answer = await this.call(name, lender, asked, key)
    if (key === undefined) return answer
    this.sent.push({ lender, asked, key })
    if (this.sent.length > MOST_SENT) this.sent.shift()
    return answer
  }

  /** Sends again what was sent under a key. */
  async again(): Promise<void> {
    if (this.sent.length === 0) return
    const { lender, asked, key } = this.oneOf(this.sent)
    await this.call('the same request again', lender, asked, key)
  }

  private async call(name: string, lender: Lender, asked: Asked, key: string | undefined): Promise<Answer> {
    const { method = 'post', path, body, by = 'user', isRecord = false, more = {} } = asked
    const instance = this.instance()
    const headers = { ...more.headers, ...(key !== undefined && { 'idempotency-key': key }) }
    const host = isRecord ? { host: new URL(instance.deps.config.recordsUrl).host } : {}
    const call = { ...more, ...host, headers, token: lender.tokens[by], ...(body !== undefined && { body }) }
    const answer = await instance[method](path, call)
    if (answer.status >= 500 && answer.status !== 503)
      throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`)
    if (method !== 'get') this.count(name, answer.status < 300)
    return answer
  }

  /** Lets time pass: minutes, or days. At times the clock of the machine is put back by some milliseconds instead. */
  async pass(days: number): Promise<void> {
    const { clock } = this.service
    const isPutBack = days === 0 && this.random(4) === 0
    const by = isPutBack ? -this.random(20) : days * DAY_MS + this.random(60 * 60_000)
    clock.set(new Date(clock.now() + by).toISOString())
    this.days += days
    if (clock.now() - this.signedIn > SIGNED_IN_DAYS * DAY_MS) {
      // First the moment: others let time pass as well.
      this.signedIn = clock.now()
      await this.signIn()
    }
    if (days > 0 && this.random(2) === 0) await drain(sweepJob(this.instance().deps))
  }

  /**
   * Runs `book check` as it stands, while the service is at work, and keeps the heads of the live lenders, as an operator does.
   * @throws Error with what differs
   */
  async check(): Promise<void> {
    for (const { organizationId, text } of await listHeads(this.service.deps))
      if (organizationId !== SANDBOX && text !== null) this.heads.push(text)
    this.receiver.received.length = 0
    this.receiver.taken.length = 0
    await requireSoundBook(this.service.deps)
  }

  async close(): Promise<void> {
    for (const job of this.jobs) await job.stop()
    await this.receiver.close()
    await rm(this.folder, { recursive: true, force: true })
    await this.service.close()
  }
}

/** A command, and how often it comes among the others. */
export interface Command {
  readonly weight: number
  run(campaign: Campaign, lender: Lender): Promise<void>
}
