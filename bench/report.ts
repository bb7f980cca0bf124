import type { Price } from './meter.ts'
import type { Priced, Row } from './rounds.ts'
import type { Scenario, Target } from './scenarios.ts'

/** The middle of some numbers; of an even count, the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1
    ? sorted[Math.floor(middle)]!
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** A row in figures: medians over its rounds, and from where to where the rates went. */
export interface Line {
  readonly scenario: Scenario
  readonly connections: number
  readonly target: Target
  readonly perSecond: number
  readonly lowest: number
  readonly highest: number
  readonly p50: number
  readonly p99: number
  /** CPU seconds a thousand requests, by process. */
  readonly cpu: Readonly<Record<string, number>>
  /** Rate over that of the floor and of the driver: the median of the rounds' own ratios. */
  readonly toFloor: number | undefined
  readonly toDriver: number | undefined
  readonly toVersus: number | undefined
  /** With the work of the background, until it has caught up; undefined where no service works. */
  readonly price: LinePrice | undefined
}

/** The price of a request with the work of the background: medians over the rounds. */
export interface LinePrice {
  /** CPU milliseconds a request of the service and of Postgres. */
  readonly service: number
  readonly postgres: number
  readonly walBytes: number
  readonly rows: number
  /** Changes that the background was behind, in the middle of the load and at its end, and seconds at its end: the most. */
  readonly behindMidway: number
  readonly behindAtEnd: number
  readonly behindSeconds: number
  readonly caughtUpSeconds: number
  /** CPU and WAL over those of the other version: the median of the rounds' own ratios. */
  readonly cpuToVersus: number | undefined
  readonly walToVersus: number | undefined
}

type WithPrice = Priced & { readonly price: Price }

const isPriced = (sample: Priced): sample is WithPrice => sample.price !== undefined

function priceOf(samples: readonly Priced[], others: readonly Priced[] | undefined): LinePrice | undefined {
  const priced = samples.filter(isPriced)
  if (priced.length === 0) return undefined
  const of = (pick: (sample: WithPrice) => number) => median(priced.map(pick))
  const most = (pick: (price: Price) => number) => Math.max(...priced.map(({ price }) => pick(price)))
  const cpu = ({ price, answered }: WithPrice) => (price.service + price.postgres) / answered
  const wal = ({ price, answered }: WithPrice) => price.walBytes / answered
  const theirs = others?.filter(isPriced) ?? []
  const ratio = (pick: (sample: WithPrice) => number) =>
    theirs.length < priced.length
      ? undefined
      : median(priced.map((sample, round) => pick(sample) / pick(theirs[round]!)))
  const behind = ({ unsealed, unposted }: Price['behindAtEnd']) => Math.max(unsealed, unposted)
  return {
    service: of(({ price, answered }) => (price.service * 1000) / answered),
    postgres: of(({ price, answered }) => (price.postgres * 1000) / answered),
    walBytes: of(wal),
    rows: of(({ price, answered }) => price.rows / answered),
    behindMidway: most(({ behindMidway }) => behind(behindMidway)),
    behindAtEnd: most(({ behindAtEnd }) => behind(behindAtEnd)),
    behindSeconds: most(({ behindAtEnd }) => behindAtEnd.seconds),
    caughtUpSeconds: most(({ caughtUpSeconds }) => caughtUpSeconds),
    cpuToVersus: ratio(cpu),
    walToVersus: ratio(wal),
  }
}

export function linesOf(rows: readonly Row[]): Line[] {
  return rows.map((row) => {
    const { scenario, connections, target, samples } = row
    const of = (pick: (sample: Priced) => number) => median(samples.map(pick))
    const other = (name: Target) =>
      rows.find((one) => one.scenario === scenario && one.connections === connections && one.target === name)?.samples
    const ratio = (name: Target) => {
      const others = target === 'ours' ? other(name) : undefined
      return others && median(samples.map((sample, round) => sample.perSecond / others[round]!.perSecond))
    }
    const rates = samples.map((sample) => sample.perSecond)
    return {
      scenario,
      connections,
      target,
      perSecond: median(rates),
      lowest: Math.min(...rates),
      highest: Math.max(...rates),
      p50: of((sample) => sample.p50),
      p99: of((sample) => sample.p99),
      cpu: Object.fromEntries(
        Object.keys(samples[0]?.cpu ?? {}).map((name) => [
          name,
          of((sample) => ((sample.cpu[name] ?? 0) * 1000) / sample.requests),
        ]),
      ),
      toFloor: ratio('floor'),
      toDriver: ratio('driver'),
      toVersus: ratio('versus'),
      price: priceOf(samples, target === 'ours' ? other('versus') : undefined),
    }
  })
}

const HEAD = ['scenario', 'conns', 'target', 'req/s', 'spread', 'p50 ms', 'p99 ms', 'CPU s/1000 req']
const CPU = ['service', 'postgres', 'load']

/** The table that is printed. */
export function table(lines: readonly Line[], earlier: readonly Line[] | undefined): string {
  const versus = lines.some((line) => line.toVersus !== undefined)
  const head = [...HEAD, '×floor', '×driver', ...(versus ? ['×versus'] : []), ...(earlier ? ['×before'] : [])]
  const cells = lines.map((line) => {
    const before = earlier?.find((one) => sameCell(one, line))
    return [
      line.scenario,
      String(line.connections),
      line.target,
      figure(line.perSecond),
      `${figure(line.lowest)}–${figure(line.highest)}`,
      figure(line.p50),
      figure(line.p99),
      CPU.map((name) => (Number.isFinite(line.cpu[name]) ? line.cpu[name]!.toFixed(2) : '-')).join(' + '),
      times(line.toFloor),
      times(line.toDriver),
      ...(versus ? [times(line.toVersus)] : []),
      ...(earlier ? [times(before && line.perSecond / before.perSecond)] : []),
    ]
  })
  const [first = '', ...rest] = printed([head, ...cells])
  const grouped = rest.map((row, index) => (index > 0 && !sameGroup(lines, index) ? `\n${row}` : row))
  return [
    first,
    ...grouped,
    '',
    'CPU: service + Postgres + load generator; of the driver: - + Postgres + itself.',
  ].join('\n')
}

const PRICE_HEAD = [
  'scenario',
  'conns',
  'target',
  'CPU ms/req',
  'WAL B/req',
  'rows/req',
  'behind midway',
  'at the end',
  'oldest s',
  'caught up s',
  'CPU ×versus',
  'WAL ×versus',
]

/** The table of what requests cost with the work of the background; empty where no service was measured. */
export function priceTable(lines: readonly Line[]): string {
  const cells = lines.flatMap(({ scenario, connections, target, price }) =>
    price === undefined
      ? []
      : [
          [
            scenario,
            String(connections),
            target,
            `${price.service.toFixed(3)} + ${price.postgres.toFixed(3)}`,
            figure(price.walBytes),
            price.rows.toFixed(2),
            String(price.behindMidway),
            String(price.behindAtEnd),
            figure(price.behindSeconds),
            figure(price.caughtUpSeconds),
            times(price.cpuToVersus),
            times(price.walToVersus),
          ],
        ],
  )
  if (cells.length === 0) return ''
  return [
    'With the work of the background, from the first request until it has caught up (the lag: the most of all rounds)',
    ...printed([PRICE_HEAD, ...cells]),
    'CPU: service + Postgres.',
  ].join('\n')
}

/** Prints rows of cells in columns: the first three to the left, the others to the right. */
function printed(rows: readonly (readonly string[])[]): string[] {
  const width = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row.map((cell, column) => (column < 3 ? cell.padEnd(width[column]!) : cell.padStart(width[column]!))).join('  '),
  )
}

const sameCell = (a: Line, b: Line) =>
  a.scenario === b.scenario && a.connections === b.connections && a.target === b.target

const sameGroup = (lines: readonly Line[], index: number) => lines[index]!.scenario === lines[index - 1]!.scenario

/** Three digits that matter. */
export const figure = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

const times = (ratio: number | undefined): string =>
  ratio === undefined || !Number.isFinite(ratio) ? '' : ratio.toFixed(2)
