import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportsJob } from '../../../../src/services/exports/exportsJob.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { programOf } from '../../../support/children.ts'
import { cellsOf, KENYA_ROW, kenyanFaults } from '../../../support/exportRules.ts'
import { keepJournal } from '../../../support/journal.ts'
import { opsOn } from '../../../support/ops.ts'
import { within } from '../../../support/patience.ts'
import { randomFrom } from '../../../support/random.ts'
import { startService, type TestService } from '../../../support/service.ts'

// A file of many loans, some with a field that is missing, made by processes that are killed. `npm run try -- exports` makes
// one of 100,000 loans.

const LOANS = Number(process.env.MKOPO_LOANS ?? 150)
const MISSING = Number(process.env.MKOPO_MISSING ?? 12)
const KILLS = Number(process.env.MKOPO_KILLS ?? 1)
const SEED = Number(process.env.MKOPO_SEED ?? 5)
const BACK_DATED = Math.ceil(LOANS / 100)
const LOANS_A_STEP = LOANS > 1_000 ? 500 : 10
const AT_ONCE = 50
const LOANS_A_LOOK = 2_000

const AS_OF = '2026-03-15'

/** The members of an identity that the file has to have, and their fields. */
const REQUIRED = {
  ...{ lastName: 'Surname', firstName: 'Forename1', dateOfBirth: 'DateOfBirth', gender: 'Gender' },
  ...{ nationality: 'Nationality', idNumber: 'PrimaryIDocumentNumber', phone: 'MobilePhoneNumber' },
} as const
type Member = keyof typeof REQUIRED

const random = randomFrom(SEED)
let service: TestService
let operator: { token: string }
let productId: number
/** What is missing of whom, by the number of the loan. */
const missing = new Map<string, string>()
const loans: string[] = []
const paidBefore = new Set<string>()

const say = (text: string) => LOANS > 1_000 && console.log(new Date().toISOString().slice(11, 19), text)

async function ok<Body>(answer: Promise<{ status: number; text: string; body: unknown }>): Promise<Body> {
  const { status, text, body } = await answer
  if (status !== 200) throw new Error(text)
  return body as Body
}

async function inBatches<Item>(items: readonly Item[], run: (item: Item, index: number) => Promise<unknown>) {
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(items.slice(from, from + AT_ONCE).map((item, index) => run(item, from + index)))
}

async function lend(gone: Member | undefined, index: number): Promise<void> {
  const identity: Record<string, string> = {
    ...{
      firstName: `Asha${index}`,
      lastName: 'Otieno',
      dateOfBirth: '1990-04-12',
      gender: 'female',
      nationality: 'KE',
    },
    ...{ idType: 'national_id', idNumber: String(20_000_000 + index), phone: `+2547${10_000_000 + index}` },
  }
  if (gone) delete identity[gone]
  const customerId = `person-${index}`
  await ok(service.post('/v1/customers', { body: { externalId: customerId, identity } }))
  const body = { customerId, productId, principal: 5_000 + (index % 100) * 100 }
  const { id } = await ok<{ id: string }>(service.post('/v1/loans', { body }))
  loans.push(id)
  if (gone) missing.set(id, REQUIRED[gone])
}

beforeAll(
  async () => {
    service = await startService()
    operator = { token: service.tokens.operator }
    const made = await opsOn(service)<{ id: number }>(
      'products create -o 1 --name Simu --currency KES --min 100 --max 200000 --instalments 3 --unit months --rate 5 --json',
    )
    productId = made.json.id
    service.clock.set('2026-01-05')
    const gone: (Member | undefined)[] = Array.from({ length: LOANS }, () => undefined)
    const members = Object.keys(REQUIRED) as Member[]
    for (let left = MISSING; left > 0; ) {
      const place = random(LOANS)
      if (gone[place] !== undefined) continue
      gone[place] = members[random(members.length)]!
      left--
    }
    for (let from = 0; from < LOANS; from += LOANS_A_LOOK) {
      await inBatches(gone.slice(from, from + LOANS_A_LOOK), (one, index) => lend(one, from + index))
      // As autovacuum does in the background of a server that is used: the plans of an empty book read all of it for each loan.
      await service.owner.pool.query('ANALYZE customer, loan, loan_period, audit_entry')
    }
    say(`${LOANS} loans are lent`)
    service.clock.set('2026-02-10')
    await inBatches(loans, async (id, index) => {
      if (index % 3 > 0) return
      const transactionAmount = index % 30 === 0 ? 1_000_000 : 2_000
      if (index % 30 === 0) paidBefore.add(id)
      await ok(service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount } }))
    })
    service.clock.set('2026-03-20')
    // As autovacuum does in the background of a server that is used.
    await service.owner.pool.query('ANALYZE')
    say('a third of them has paid')
  },
  within((60 + LOANS / 50) * 1_000),
)
afterAll(
  async () => {
    await drain(sweepJob(service.deps))
    await keepJournal(service.deps)
    await service.close()
  },
  within((60 + LOANS / 50) * 1_000),
)

interface File {
  readonly id: string
  readonly state: string
  readonly sha256: string
  readonly accepted: number
  readonly excluded: number
  readonly exceptions: number
  readonly totals: readonly { readonly loans: number; readonly principalOutstanding: number }[]
  readonly reasons: readonly { readonly reason: string; readonly loans: number }[]
}

const ask = (body: object) =>
  ok<File>(service.post('/v1/exports', { body: { format: 'ke_dst_4_1_mobile', ...body }, ...operator }))
const read = (id: string) => ok<File>(service.get(`/v1/exports/${id}`, operator))
const rowsOf = async (id: string) =>
  (await service.get(`/v1/exports/${id}/file`, operator)).text.split('\r\n').slice(1, -1)

async function makeHere(body: object): Promise<File> {
  const { id } = await ask(body)
  await drain(exportsJob(service.deps))
  return read(id)
}

/** Makes a file by processes of which some are killed. @returns how many were */
async function makeAndKill(): Promise<number> {
  const script = programOf('test/support/exportsProcess.ts')
  for (let killed = 0; ; killed++) {
    const child = spawn(process.execPath, [script, service.url, String(LOANS_A_STEP)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    const exit = once(child, 'exit')
    if (killed === KILLS) {
      expect((await exit)[0]).toBe(0)
      return killed
    }
    await pause(random(LOANS > 1_000 ? 2_000 : 60))
    child.kill('SIGKILL')
    await exit
  }
}

describe(`a file of ${LOANS} loans, ${MISSING} of them with a field that is missing`, () => {
  let file: File
  it(
    `is made by processes of which ${KILLS} are killed, and has each loan once`,
    async () => {
      const { id } = await ask({ asOf: AS_OF })
      const began = performance.now()
      const killed = await makeAndKill()
      file = await read(id)
      say(
        `made in ${((performance.now() - began) / 1_000).toFixed(1)} s with ${killed} kills: ${JSON.stringify(file.reasons)}`,
      )
      expect(file.state).toBe('ready')
      expect(file.accepted + file.excluded + file.exceptions).toBe(LOANS)
      expect(file.reasons).toEqual([{ reason: 'ended_before', loans: file.excluded }])
      expect(file.excluded).toBe(paidBefore.size)
    },
    within((120 + KILLS * 5 + LOANS / 100) * 1_000),
  )

  it(
    'names exactly what is missing, and has rows that a validator takes',
    async () => {
      const faults = new Map<string, string>()
      let after = ''
      for (;;) {
        const { items, next } = await ok<{ items: { loanId: string; field: string; rule: string }[]; next?: string }>(
          service.get(`/v1/exports/${file.id}/exceptions?rows=100${after}`, operator),
        )
        for (const { loanId, field, rule } of items) faults.set(loanId, `${field} ${rule}`)
        if (next === undefined) break
        after = `&after=${next}`
      }
      const told = [...missing].filter(([id]) => !paidBefore.has(id)).map(([id, field]) => [id, `${field} required`])
      expect([...faults].toSorted()).toEqual(told.toSorted())
      const rows = await rowsOf(file.id)
      expect(rows.flatMap(kenyanFaults)).toEqual([])
      const account = KENYA_ROW.findIndex(([name]) => name === 'AccountNumber')
      const numbers = rows.map((row) => cellsOf(row)[account]!)
      expect(new Set(numbers).size).toBe(file.accepted)
      const others = new Set([...faults.keys(), ...paidBefore])
      expect(numbers.toSorted()).toEqual(loans.filter((id) => !others.has(id)).toSorted())
      const { text } = await service.get(`/v1/exports/${file.id}/file`, operator)
      expect(createHash('sha256').update(text).digest('hex')).toBe(file.sha256)
    },
    within((60 + LOANS / 100) * 1_000),
  )

  it(
    'sums to the portfolio and the trial balance of the day',
    async () => {
      const sum = file.totals.reduce((all, one) => all + one.principalOutstanding, 0)
      const par = await ok<{ groups: { currencyCode: string; loans: number; principalOutstanding: number }[] }>(
        service.get(`/v1/portfolio/par?asOf=${AS_OF}`, operator),
      )
      say('the portfolio at risk is read')
      const kes = par.groups.filter(({ currencyCode }) => currencyCode === 'KES')
      expect(kes.reduce((all, one) => all + one.principalOutstanding, 0)).toBeCloseTo(sum, 2)
      expect(kes.reduce((all, one) => all + one.loans, 0)).toBe(LOANS - paidBefore.size)
      await drain(sweepJob(service.deps))
      say('the sweep is done')
      await keepJournal(service.deps)
      say('the journal is kept')
      const { accounts } = await ok<{ accounts: { code: string; balance: number }[] }>(
        service.get(`/v1/accounting/trial-balance?asOf=${AS_OF}&basis=economic&currency=KES`, operator),
      )
      expect(accounts.find(({ code }) => code === '1100')!.balance).toBeCloseTo(sum, 2)
    },
    within((60 + LOANS / 50) * 1_000),
  )

  it(
    'is the same to the byte again; back-dated payments put exactly their loans into the corrections',
    async () => {
      const began = performance.now()
      expect((await makeHere({ asOf: AS_OF })).sha256).toBe(file.sha256)
      say(`made again in ${((performance.now() - began) / 1_000).toFixed(1)} s`)
      await ok(service.post(`/v1/exports/${file.id}/accept`, { body: {}, ...operator }))
      const open = loans.filter((id) => !missing.has(id) && !paidBefore.has(id))
      const paid = new Set(Array.from({ length: BACK_DATED }, () => open[random(open.length)]!))
      await inBatches([...paid], (id) => {
        const body = { transactionAmount: 10, transactionDate: '2026-03-12' }
        return ok(service.post(`/v1/loans/${id}/repayments`, { body }))
      })
      const then = performance.now()
      const corrected = await makeHere({ mode: 'corrections' })
      say(`${corrected.accepted} corrections in ${((performance.now() - then) / 1_000).toFixed(1)} s`)
      const account = KENYA_ROW.findIndex(([name]) => name === 'AccountNumber')
      const rows = await rowsOf(corrected.id)
      expect(rows.map((row) => cellsOf(row)[account]!).toSorted()).toEqual([...paid].toSorted())
    },
    within((120 + LOANS / 50) * 1_000),
  )
})
