import Table from 'cli-table3'
import type { Line } from './outcomes.ts'

/** Returns a table of lines, with a column for each step that any of them has. */
export function tableOf(lines: readonly Line[]): string {
  const steps = [...new Set(lines.flatMap((line) => Object.keys(line.steps)))]
  const table = new Table({ head: ['tool', 'version', 'style', ...steps], style: { head: [], border: [] } })
  for (const { tool, version, style, steps: outcomes } of lines)
    table.push([
      tool,
      version,
      style,
      ...steps.map((step) => {
        const outcome = outcomes[step]
        if (outcome === undefined) return '–'
        return outcome.kind === 'passed' ? outcome.note || 'passed' : outcome.kind
      }),
    ])
  return table.toString()
}

/** Returns whether any step failed. A skipped step has not. */
export const hasFailed = (lines: readonly Line[]): boolean =>
  lines.some(({ steps }) => Object.values(steps).some(({ kind }) => kind === 'failed'))

/** Returns how many steps passed, failed and were skipped. */
export function summaryOf(lines: readonly Line[]): string {
  const kinds = lines.flatMap(({ steps }) => Object.values(steps).map(({ kind }) => kind))
  return (['passed', 'failed', 'skipped'] as const)
    .map((kind) => `${kinds.filter((one) => one === kind).length} ${kind}`)
    .join(', ')
}
