import type { RestructurePlan } from '../../../../src/domain/loan/restructure/plan.ts'
import type { Product } from '../../../../src/domain/product/product.ts'
import type { Distance } from '../../../../src/domain/product/terms.ts'
import { type Day, dateOf, dayOf } from './calendar.ts'
import { type Debt, divided, lesser, owedIn, owedOf, PARTS, type Part, type Row, rowOf } from './debt.ts'
import { type NaiveLoan, roomForCharges } from './loan.ts'

// Restructures (contract 16), written from the contract: a list of instalments is changed on a day.

/** Returns the day a number of distances after another; months and years end on the last day of a shorter month. */
function later(from: Day, times: number, { every, unit }: Distance): Day {
  const count = times * every
  if (unit === 'days') return from + count
  if (unit === 'weeks') return from + 7 * count
  const [year, month, ofMonth] = dateOf(from).split('-').map(Number) as [number, number, number]
  const months = year * 12 + (month - 1) + count * (unit === 'years' ? 12 : 1)
  const [toYear, toMonth] = [Math.floor(months / 12), months % 12]
  const lastOfMonth = new Date(Date.UTC(toYear, toMonth + 1, 0)).getUTCDate()
  const text = `${String(toYear).padStart(4, '0')}-${String(toMonth + 1).padStart(2, '0')}-${String(Math.min(ofMonth, lastOfMonth)).padStart(2, '0')}`
  return dayOf(text)
}

const DAYS_IN = { days: 1, weeks: 7, months: 30, years: 360 } as const

/** Returns the interest on so many unit-days of principal, with its tax. */
function interestOn(unitDays: bigint, plan: RestructurePlan, { ratePerPeriod, terms }: Product): bigint {
  const { interest, every } = plan
  if (interest === 'none') return 0n
  const ofLoan = every.every * DAYS_IN[every.unit]
  const taxed = 100_000_000n + (terms?.interestTax?.rate ?? 0n)
  const WHOLE = 10n ** 16n
  if (interest === 'keep') return divided(unitDays * ratePerPeriod * taxed, WHOLE * BigInt(ofLoan))
  const per = { period: ofLoan, day: 1, month: 30, year: 360 }[interest.ratePer]
  return divided(unitDays * interest.rate * taxed, WHOLE * BigInt(per))
}

const daysFrom = (from: Day, to: Day): bigint => BigInt(Math.max(0, to - from))

/** Restructures what is owed on a day. @returns the interest that was added */
export function restructure(loan: NaiveLoan, debt: Debt, plan: RestructurePlan, day: Day): bigint {
  const open = debt.rows.filter((row) => owedOf(row) > 0n)
  if (open.length === 0) return 0n
  const kept = debt.rows.filter((row) => owedOf(row) === 0n)
  const rest = roomForCharges(loan, debt)
  const { change } = plan
  const { rows, added } =
    change.kind === 'numberOfRepayments' || change.kind === 'instalmentAmount'
      ? divide(loan, open, plan, { day, rest })
      : move(loan, open, plan, { day, rest })
  debt.rows.splice(0, debt.rows.length, ...[...kept, ...rows].toSorted((a, b) => a.dueDay - b.dueDay))
  debt.lastDue = rows.at(-1)!.dueDay
  return added
}

interface Doing {
  readonly day: Day
  readonly rest: bigint | undefined
}

interface Made {
  readonly rows: readonly Row[]
  readonly added: bigint
}

function move({ product }: NaiveLoan, open: readonly Row[], plan: RestructurePlan, { day, rest }: Doing): Made {
  const { change, every } = plan
  const last = open.at(-1)!.dueDay
  /** The due dates that come, one after the other, without end. */
  const coming = open.map(({ dueDay }) => dueDay).filter((due) => due >= day)
  for (let times = 1; coming.length < open.length + 200; times++) {
    const next = later(last, times, every)
    if (next >= day) coming.push(next)
  }
  let [added, left] = [0n, rest]
  const rows = open.map((row, index): Row => {
    const dueDay =
      change.kind === 'postponeBy'
        ? coming[change.periods + index]!
        : change.kind === 'newFirstDueDate'
          ? later(dayOf(change.on), index, every)
          : dayOf((change as { readonly on: string }).on)
    const days = daysFrom(Math.max(row.dueDay, day), dueDay)
    const asked = interestOn(owedIn(row.cells.principal) * days, plan, product)
    const granted = left === undefined ? asked : lesser(asked, left)
    if (left !== undefined) left -= granted
    added += granted
    row.cells.interest.due += granted
    return { ...row, dueDay }
  })
  return { rows, added }
}

function divide({ product }: NaiveLoan, open: readonly Row[], plan: RestructurePlan, { day, rest }: Doing): Made {
  const owes = (part: Part) => open.reduce((sum, { cells }) => sum + owedIn(cells[part]), 0n)
  const { change } = plan
  const other = change.kind === 'numberOfRepayments' ? change.every : null
  const every = other ?? plan.every
  let first = other ? later(day, 1, other) : open.find(({ dueDay }) => dueDay > day)?.dueDay
  for (let times = 1; first === undefined; times++) {
    const next = later(open.at(-1)!.dueDay, times, every)
    if (next > day) first = next
  }
  const begin = first
  /** The due days of the instalments, as far as they were asked for. */
  const dueDays: Day[] = []
  const dueDayOf = (index: number): Day => {
    while (dueDays.length <= index) dueDays.push(later(begin, dueDays.length, every))
    return dueDays[index]!
  }
  const before = open.reduce((sum, { cells, dueDay }) => sum + owedIn(cells.principal) * daysFrom(day, dueDay), 0n)
  const addedBy = (count: number): bigint => {
    const parts = equally(owes('principal'), count)
    const after = parts.reduce((sum, part, index) => sum + part * daysFrom(day, dueDayOf(index)), 0n)
    const asked = after > before ? interestOn(after - before, plan, product) : 0n
    return rest === undefined ? asked : lesser(asked, rest)
  }
  const base = owes('principal') + owes('interest') + owes('fees')
  let count = change.kind === 'numberOfRepayments' ? change.count : 1
  if (change.kind === 'instalmentAmount') {
    // Fewer cannot bear what is owed without any interest.
    count = Math.max(1, Math.min(2_000, Number(base / change.amount)))
    while (count < 2_000 && BigInt(count) * change.amount < base + addedBy(count)) count++
  }
  const added = addedBy(count)
  const [interests, fees] = [equally(owes('interest') + added, count), equally(owes('fees'), count)]
  const principals = equally(owes('principal'), count)
  const penalty = owes('penalty')
  let principal = owes('principal')
  const rows = Array.from({ length: count }, (_, index): Row => {
    const [interest, fee] = [interests[index]!, fees[index]!]
    const asked = change.kind === 'instalmentAmount' ? change.amount - interest - fee : principals[index]!
    const part = index === count - 1 ? principal : lesser(asked > 0n ? asked : 0n, principal)
    principal -= part
    const row = rowOf(dueDayOf(index), {
      penalty: index === 0 ? penalty : 0n,
      fees: fee,
      interest,
      principal: part,
    })
    const own = index === count - 1 ? open.slice(index) : open.slice(index, index + 1)
    for (const old of own) {
      row.raised += old.raised
      for (const one of PARTS) keepSettled(row, old, one)
    }
    return row
  })
  return { rows, added }
}

/** Gives an instalment what was settled of another one. */
function keepSettled(row: Row, old: Row, part: Part): void {
  const [to, from] = [row.cells[part], old.cells[part]]
  to.due += from.paid + from.waived + from.writtenOff
  to.paid += from.paid
  to.waived += from.waived
  to.writtenOff += from.writtenOff
  to.recovered += from.recovered
}

/** Divides an amount into parts that are alike, the last with what is left. */
function equally(total: bigint, count: number): bigint[] {
  const each = divided(total, BigInt(count))
  let left = total
  return Array.from({ length: count }, (_, index) => {
    const part = index === count - 1 ? left : lesser(each, left)
    left -= part
    return part
  })
}

/** Returns the instalment that is due exactly on a day; one more where there is none. */
export function rowDueOn({ rows }: Debt, day: Day): Row {
  const place = rows.findIndex(({ dueDay }) => dueDay >= day)
  if (place !== -1 && rows[place]!.dueDay === day) return rows[place]!
  const row = rowOf(day, {})
  rows.splice(place === -1 ? rows.length : place, 0, row)
  return row
}
