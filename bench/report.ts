import type { Row } from './rounds.ts'
import type { Scenario, Target } from './scenarios.ts'
import type { Sample } from './window.ts'

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
}

export function linesOf(rows: readonly Row[]): Line[] {
  return rows.map((row) => {
    const { scenario, connections, target, samples } = row
    const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
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
  const width = head.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)))
  const print = (row: readonly string[]) =>
    row.map((cell, column) => (column < 3 ? cell.padEnd(width[column]!) : cell.padStart(width[column]!))).join('  ')
  const printed = cells.map((row, index) => (index > 0 && !sameGroup(lines, index) ? `\n${print(row)}` : print(row)))
  return [
    print(head),
    ...printed,
    '',
    'CPU: service + Postgres + load generator; of the driver: - + Postgres + itself.',
  ].join('\n')
}

const sameCell = (a: Line, b: Line) =>
  a.scenario === b.scenario && a.connections === b.connections && a.target === b.target

const sameGroup = (lines: readonly Line[], index: number) => lines[index]!.scenario === lines[index - 1]!.scenario

/** Three digits that matter. */
export const figure = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

const times = (ratio: number | undefined): string =>
  ratio === undefined || !Number.isFinite(ratio) ? '' : ratio.toFixed(2)
