import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Done,
  expectedRows,
  type Played,
  play,
  type SeenLoan,
  type SeenTransaction,
} from '../../support/playWorked.ts'
import { type Answer, startService, type TestService } from '../../support/service.ts'
import { type Action, type Kind, type Step, type Worked, workedByFile } from '../../support/worked.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const ROUTES: Readonly<Record<Kind, readonly [path: string, type: string, recovery: true | undefined]>> = {
  repay: ['/repayments', 'Repayment', undefined],
  recover: ['/repayments/recover', 'Repayment', true],
  waive: ['/repayments/waive-interest', 'Waive Interest', undefined],
  refund: ['/repayments/refund', 'Refund', undefined],
  'pay-out': ['/repayments/credit-balance-refund', 'Credit Balance Refund', undefined],
  'charge-off': ['/repayments/charge-off', 'Charge-off', undefined],
  'write-off': ['/write-off', 'Write-off', undefined],
}

/** A worked loan played over HTTP, in both address forms by turns. */
class ServedLoan implements Played {
  private readonly addresses: readonly string[]
  private turn = 0
  private moment = ''

  private constructor(id: string, externalId: string) {
    this.addresses = [`/v1/loans/${id}`, `/v1/loans/external/${externalId}`]
  }

  static async lend({ product, principal, disbursedAt }: Worked, externalId: string): Promise<ServedLoan> {
    // A penalty is raised at the time of day of the disbursement: no look at the clock comes between the two.
    service.clock.stand(disbursedAt)
    const raw = `{"customerId":"asha","productId":${product},"principal":${principal},"externalId":"${externalId}"}`
    const { status, body } = await service.post('/v1/loans', { raw })
    expect(status).toBe(200)
    return new ServedLoan(body.id, externalId)
  }

  at(moment: string): void {
    // What happens at one moment happens one after the other: the clock goes on meanwhile.
    if (moment !== this.moment) service.clock.set(moment)
    this.moment = moment
  }

  private address(): string {
    this.turn += 1
    return this.addresses[this.turn % 2]!
  }

  async act({ action }: Step, ids: readonly string[]): Promise<Done> {
    const { status, body } = await this.send(action, ids)
    if (status !== 200) {
      expect(status).toBe(body.code === 'failed_precondition' ? 409 : 400)
      return { refused: body.code }
    }
    // What was answered is what a read answers.
    expect(await this.read(body.id)).toEqual(body)
    if (action.do === 'post') expect([body.type, body.recovery]).toEqual(ROUTES[action.kind].slice(1))
    return { answered: body.id }
  }

  private send(action: Action, ids: readonly string[]): Promise<Answer> {
    const path = (rest: string) => `${this.address()}${rest}`
    const token = service.tokens.operator
    switch (action.do) {
      case 'post': {
        const { kind, amount, dated } = action
        const fields = { transactionDate: dated, idempotencyKey: action.token }
        const call = { raw: bodyOf(amount, fields), ...(kind === 'write-off' ? { token } : {}) }
        return service.post(path(ROUTES[kind][0]), call)
      }
      case 'adjust': {
        const raw = bodyOf(action.amount, { transactionDate: action.dated })
        return service.post(path(`/repayments/${ids[action.target - 1]}/adjust`), { raw, token })
      }
      case 'reverse':
        return service.post(path(`/repayments/${ids[action.target - 1]}/reverse`), { body: {}, token })
      case 'look':
        throw new Error('nothing is sent by looking')
    }
  }

  private async read(id: string): Promise<Answer['body']> {
    return (await service.get(`${this.address()}/repayments/${id}`)).body
  }

  async loan(): Promise<SeenLoan> {
    const { body } = await service.get(this.address())
    return {
      principal: body.principalOutstanding,
      interest: body.interestOutstanding,
      penalty: body.penaltyOutstanding,
      outstanding: body.totalOutstanding,
      overpaid: body.totalOverpaid,
      status: body.status,
      paid: body.totalPaid,
      waived: body.interestWaived,
      writtenOff: body.totalWrittenOff,
      recovered: body.totalRecovered,
      closedOn: body.closedOn ?? null,
      chargedOffOn: body.chargedOffOn ?? null,
      nextDueOn: body.nextDueDate ?? null,
      nextDueAmount: body.nextDueAmount ?? null,
      overdueSince: body.overdueSince ?? null,
      daysOverdue: body.daysOverdue,
      overdue: body.totalOverdue,
      instalments: body.repaymentSchedule.map((period: { totalOutstanding: number }) => period.totalOutstanding),
    }
  }

  async transaction(id: string): Promise<SeenTransaction> {
    const { amount, status, penalty = 0, interest = 0, principal = 0, overpayment = 0 } = await this.read(id)
    return { amount, reversed: status === 'reversed', penalty, interest, principal, overpayment }
  }
}

/** The amount goes out digit by digit, as the table has it. */
function bodyOf(amount: string | null, fields: Record<string, string | undefined>): string {
  const rest = JSON.stringify(fields).slice(1, -1)
  return `{${[amount === null ? '' : `"transactionAmount":${amount}`, rest].filter((part) => part !== '').join(',')}}`
}

let loans = 0

describe.each(workedByFile())('worked loans over HTTP: %s', (_, all) => {
  it.each(all)('$title', async (worked) => {
    loans += 1
    expect(await play(worked, await ServedLoan.lend(worked, `worked-${loans}`))).toEqual(expectedRows(worked))
  })
})
