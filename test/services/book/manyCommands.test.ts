import { afterAll, beforeAll, expect, it } from 'vitest'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { Campaign, type Command } from '../../support/campaign/campaign.ts'
import type { Lender } from '../../support/campaign/lenders.ts'
import { OFFICE_COMMANDS } from '../../support/campaign/officeCommands.ts'
import { OPERATOR_COMMANDS } from '../../support/campaign/operatorCommands.ts'
import { PARTNER_COMMANDS } from '../../support/campaign/partnerCommands.ts'
import { RECORD_COMMANDS } from '../../support/campaign/recordCommands.ts'
import { keepJournal } from '../../support/journal.ts'
import { opsOn } from '../../support/ops.ts'
import { within } from '../../support/patience.ts'

// `book check` finds nothing in books that only the service has touched, whatever it was asked to do: random commands over
// HTTP in both styles and at the command line, on three instances, while the jobs run beside. `npm run try -- book` has 100,000
// of them accepted; MKOPO_COMMANDS and MKOPO_SEED say otherwise.

const COMMANDS = Number(process.env.MKOPO_COMMANDS ?? 80)
const SEED = Number(process.env.MKOPO_SEED ?? 1)
/** The time after which a campaign ends with fewer. */
const MINUTES = Number(process.env.MKOPO_MINUTES ?? 600)
/** How many commands each lender has at once: one that waits, such as a close, keeps no other lender waiting. */
const AT_ONCE = [14, 6, 4]
/** How often the book is checked while commands arrive. */
const CHECKS = COMMANDS > 10_000 ? 10 : 2
/** Minutes pass after so many commands, and days after so many, so that a small campaign sees months, too. */
const COMMANDS_A_MOMENT = 10
const COMMANDS_A_JUMP = Math.max(COMMANDS_A_MOMENT, Math.round(COMMANDS / 500 / COMMANDS_A_MOMENT) * COMMANDS_A_MOMENT)
const MOST_DAYS = 9
const MS_A_COMMAND = 60

const ALL: readonly Command[] = [...PARTNER_COMMANDS, ...RECORD_COMMANDS, ...OFFICE_COMMANDS, ...OPERATOR_COMMANDS]
/** Each command as often as its weight says. */
const DRAWN = ALL.flatMap((command) => Array.from({ length: command.weight }, () => command))

let campaign: Campaign
beforeAll(async () => {
  campaign = await Campaign.open(SEED)
})
afterAll(() => campaign.close())

/** What goes on until there are enough commands: those of the lenders, the time that passes, and the checks beside. */
class Run {
  checks = 0
  private readonly until = performance.now() + MINUTES * 60_000
  private given = 0
  private hasFailed = false
  private checking = Promise.resolve()

  /** Gives commands to a lender, one after the other. */
  async work(lender: Lender): Promise<void> {
    try {
      while (campaign.accepted < COMMANDS && !this.hasFailed && performance.now() < this.until) {
        await campaign.oneOf(DRAWN).run(campaign, lender)
        this.given += 1
        if (this.given % COMMANDS_A_MOMENT > 0) continue
        await campaign.pass(this.given % COMMANDS_A_JUMP === 0 ? 1 + campaign.random(MOST_DAYS) : 0)
        await this.check()
      }
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  /** Starts a check where one is due; that before it has ended then. */
  private async check(): Promise<void> {
    if (this.checks === CHECKS || campaign.accepted < ((this.checks + 1) * COMMANDS) / (CHECKS + 1)) return
    this.checks += 1
    const before = this.checking
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.checking = promise
    // It is awaited by the next, and fails the test there.
    promise.catch(() => undefined)
    await before
    process.stdout.write(`${campaign.accepted} commands after ${minutesSince(campaign.begun)} minutes\n`)
    campaign.check().then(resolve, reject)
  }

  end(): Promise<void> {
    return this.checking
  }
}

const minutesSince = (moment: number): string => ((performance.now() - moment) / 60_000).toFixed(1)

async function requireNothing(options: readonly string[]): Promise<void> {
  const { code, json } = await opsOn(campaign.service)(['book', 'check', '--json', ...options])
  expect([code, json.differences]).toEqual([0, []])
}

const words = (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .toSorted()
    .map(([what, times]) => `${what} ${times}`)
    .join(', ')

it(`finds nothing in the books of ${COMMANDS} random commands, at any moment`, {
  timeout: within(60_000 + COMMANDS * MS_A_COMMAND),
}, async () => {
  const { begun, lenders } = campaign
  const run = new Run()
  const workers = lenders.flatMap((lender, index) => Array.from({ length: AT_ONCE[index]! }, () => run.work(lender)))
  await Promise.all(workers)
  await run.end()
  const worked = minutesSince(begun)
  await drain(sweepJob(campaign.service.deps))
  await keepJournal(campaign.service.deps)
  // Every head that was kept meanwhile still holds.
  await requireNothing(campaign.heads.flatMap((head) => ['--head', head]))
  for (const { organizationId } of campaign.lenders) await requireNothing(['-o', String(organizationId)])
  expect(campaign.logged).toEqual([])
  // A campaign of some length does everything.
  const never = [...campaign.refused.keys()].filter((name) => !campaign.done.has(name))
  if (campaign.accepted >= 5_000) expect(never).toEqual([])
  console.info(
    `${campaign.accepted} accepted commands of seed ${SEED} over ${campaign.days} days in ${worked} minutes, with ${run.checks} checks ` +
      `beside, and ${minutesSince(begun)} with the last checks. Accepted: ${words(campaign.done)}. Refused: ${words(campaign.refused)}`,
  )
})
