import { planOf } from '../../../../src/domain/loan/restructure/plan.ts'
import { type Day, dayOf } from './calendar.ts'
import {
  type Cell,
  type Debt,
  type Effect,
  lesser,
  noteWhatIsClear,
  owed,
  owedIn,
  PARTS,
  type Part,
  rowDueFrom,
} from './debt.ts'
import { cutPenalty, type NaiveLoan, roomForCharges, type Transaction } from './loan.ts'
import { restructure, rowDueOn } from './restructure.ts'
import { settle } from './settlement.ts'

/** Applies a transaction on its day. */
export function happen(loan: NaiveLoan, debt: Debt, one: Transaction, day: Day): Effect {
  const effect: Effect = { parts: { penalty: 0n, fees: 0n, interest: 0n, principal: 0n }, overpayment: 0n }
  apply(loan, debt, one, { day, effect })
  noteWhatIsClear(debt, day)
  return effect
}

/** Where the effect of a transaction goes, and its day. */
interface Doing {
  readonly day: Day
  readonly effect: Effect
}

function apply(loan: NaiveLoan, debt: Debt, one: Transaction, doing: Doing): void {
  switch (one.type) {
    case 'Repayment':
    case 'Recovery Repayment':
      receive(loan, debt, one.amount, doing)
      break
    case 'Waive Interest':
      waive(debt, 'interest', one.amount, doing)
      break
    case 'Waive Fees':
      waive(debt, 'fees', one.amount, doing)
      break
    case 'Waive Penalty':
      waive(debt, 'penalty', one.amount, doing)
      break
    case 'Restructure':
      doing.effect.parts.interest += restructure(loan, debt, planOf(one.restructure)!, doing.day)
      break
    case 'Refund':
    case 'Credit Balance Refund':
      giveBack(loan, debt, one, doing)
      break
    case 'Charge-off':
      chargeOff(debt, doing)
      break
    case 'Write-off':
      writeOff(debt, doing)
      break
    case 'Fee':
    case 'Penalty':
      charge(loan, debt, one, doing)
      break
    case 'Settlement Waiver':
      payAgain(loan, debt, settle(loan, debt, doing))
  }
}

type Row = Debt['rows'][number]

/** Moves up to `rest` of `room` into a column of a part. @returns what is left of `rest` */
function move(
  { cells }: Row,
  [part, column]: readonly [Part, keyof Cell],
  rest: bigint,
  room: bigint,
  effect?: Effect,
) {
  const moved = lesser(rest, room)
  cells[part][column] += moved
  if (effect) effect.parts[part] += moved
  return rest - moved
}

/** Pays what is owed, oldest instalment first. @returns what is left of the amount */
function pay({ order }: NaiveLoan, { rows }: Debt, amount: bigint, effect?: Effect): bigint {
  let rest = amount
  for (const row of rows)
    for (const part of order) rest = move(row, [part, 'paid'], rest, owedIn(row.cells[part]), effect)
  return rest
}

/** Pays what is owed, then what was written off; the rest is overpayment. */
function receive(loan: NaiveLoan, debt: Debt, amount: bigint, { effect }: Doing): void {
  let rest = pay(loan, debt, amount, effect)
  for (const row of debt.rows)
    for (const part of loan.order) {
      const { writtenOff, recovered } = row.cells[part]
      rest = move(row, [part, 'recovered'], rest, writtenOff - recovered, effect)
    }
  debt.overpaid += rest
  effect.overpayment = rest
  debt.received.push(effect)
}

/** Pays what is owed out of the overpayment: both are never there at once (contract 4.3.7). */
function payFromOverpaid(loan: NaiveLoan, debt: Debt): void {
  debt.overpaid = pay(loan, debt, debt.overpaid)
}

/**
 * Takes what had paid forgiven interest out of the payments, the latest first, and lets each pay what else is owed with it,
 * the oldest first.
 */
function payAgain(loan: NaiveLoan, debt: Debt, freed: bigint): void {
  let rest = freed
  const moved = debt.received.toReversed().map((effect) => {
    const amount = lesser(rest, effect.parts.interest)
    effect.parts.interest -= amount
    rest -= amount
    return { effect, amount }
  })
  if (rest > 0n) throw new Error(`nothing paid ${rest} of the interest that was paid`)
  for (const { effect, amount } of moved.toReversed()) {
    const over = pay(loan, debt, amount, effect)
    effect.overpayment += over
    debt.overpaid += over
  }
}

function waive({ rows }: Debt, part: Part, amount: bigint, { effect }: Doing): void {
  let rest = amount
  for (const row of rows) rest = move(row, [part, 'waived'], rest, owedIn(row.cells[part]), effect)
}

/**
 * Pays back from the overpayment; a refund then from what was paid, the latest instalment first and its parts in the
 * opposite order (contract 10.10); the rest is principal owed again.
 */
function giveBack({ order }: NaiveLoan, debt: Debt, { type, amount }: Transaction, { day, effect }: Doing): void {
  effect.overpayment = lesser(amount, debt.overpaid)
  debt.overpaid -= effect.overpayment
  let rest = amount - effect.overpayment
  if (type === 'Refund')
    for (const { cells } of debt.rows.toReversed())
      for (const part of order.toReversed()) {
        const taken = lesser(rest, cells[part].paid)
        cells[part].paid -= taken
        effect.parts[part] += taken
        rest -= taken
      }
  if (rest === 0n) return
  rowDueFrom(debt, day).cells.principal.due += rest
  effect.parts.principal += rest
}

/** Marks what is owed: charged off it is still owed. */
function chargeOff(debt: Debt, { day, effect }: Doing): void {
  if (owed(debt) === 0n || debt.chargedOffOn !== null) return
  for (const { cells } of debt.rows) for (const part of PARTS) effect.parts[part] += owedIn(cells[part])
  debt.chargedOffOn = day
}

function writeOff(debt: Debt, { day, effect }: Doing): void {
  if (owed(debt) === 0n) return
  for (const row of debt.rows)
    for (const part of PARTS) {
      const rest = owedIn(row.cells[part])
      move(row, [part, 'writtenOff'], rest, rest, effect)
    }
  debt.writtenOffOn = day
}

/** Adds a single charge, cut to the room that is left; overpayment pays it (contract 10.9, 10.12). */
function charge(loan: NaiveLoan, debt: Debt, one: Transaction, { effect }: Doing): void {
  const { type, amount, dueOn, valueDate, restructure: role } = one
  const part: Part = type === 'Fee' ? 'fees' : 'penalty'
  const room = roomForCharges(loan, debt) ?? amount
  const cut = part === 'fees' ? lesser(amount, room) : cutPenalty(loan, debt, amount)
  if (cut === 0n) return
  const due = dayOf(dueOn ?? valueDate)
  const row = role && 'of' in role && role.isDueNow ? rowDueOn(debt, due) : rowDueFrom(debt, due)
  move(row, [part, 'due'], cut, cut, effect)
  row.clearSince = null
  payFromOverpaid(loan, debt)
}
