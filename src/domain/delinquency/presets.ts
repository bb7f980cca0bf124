import type { Bucket, DelinquencyPolicy, Stage } from './policy.ts'

/** A policy by name, and where its figures are from. */
export interface Preset {
  readonly name: string
  readonly source: string
  readonly policy: DelinquencyPolicy
}

type Row = readonly [
  name: string,
  toDays: number | null,
  more?: Partial<Pick<Bucket, 'class' | 'stage' | 'provisionRate'>>,
]

const PERCENT = 1_000_000n
const ofClass = (name: string, percent: bigint) => ({ class: name, provisionRate: percent * PERCENT })
const ofStage = (stage: Stage) => ({ stage })

/** Returns buckets from their names and last days, each from the day after the one before. */
function bucketsOf(rows: readonly Row[]): Bucket[] {
  let fromDays = 0
  return rows.map(([name, toDays, more]) => {
    const bucket = { name, fromDays, toDays, class: null, stage: null, provisionRate: null, ...more }
    fromDays = (toDays ?? 0) + 1
    return bucket
  })
}

const policyOf = (rows: readonly Row[]): DelinquencyPolicy => ({
  buckets: bucketsOf(rows),
  countFrom: 'oldest_unpaid',
  materiality: null,
  cureDays: 0,
})

/**
 * The policies that a lender can name. The first is in force until the lender sets one: it is version 0 of every lender, and
 * must never change.
 */
export const PRESETS: readonly [Preset, ...Preset[]] = [
  {
    name: 'par',
    source: 'CGAP, Measuring Microcredit Delinquency, Occasional Paper 3 (1999): portfolio at risk by age',
    policy: policyOf([
      ['current', 0],
      ['1-30', 30],
      ['31-60', 60],
      ['61-90', 90],
      ['over 90', null],
    ]),
  },
  {
    name: 'cbk',
    source:
      'Central Bank of Kenya, Prudential Guideline CBK/PG/04 (2013), Risk Classification of Assets and Provisioning: minimum provisions',
    policy: policyOf([
      ['normal', 30, ofClass('Normal', 1n)],
      ['watch', 90, ofClass('Watch', 3n)],
      ['substandard', 180, ofClass('Substandard', 20n)],
      ['doubtful', 360, ofClass('Doubtful', 100n)],
      ['loss', null, ofClass('Loss', 100n)],
    ]),
  },
  {
    name: 'ifrs9',
    source:
      'IFRS 9, 5.5.11 (more than 30 days past due) and B5.5.37 (default no later than 90 days past due): presumptions that can be rebutted',
    policy: policyOf([
      ['stage 1', 30, ofStage(1)],
      ['stage 2', 89, ofStage(2)],
      ['stage 3', null, ofStage(3)],
    ]),
  },
]
