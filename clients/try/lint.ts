import { join } from 'node:path'
import { attempt, type Line } from './outcomes.ts'
import { EXCEPTIONS, type Exception } from './rules/exceptions.ts'
import { runToEnd } from './run.ts'
import { STYLES, type StyleName, type Tried } from './service.ts'
import { logOf, npmPackages, WORK } from './tools.ts'
import { VERSIONS } from './versions.ts'

const RULES = join(import.meta.dirname, 'rules')
const FINDINGS_SHOWN = 10

/** A linter of OpenAPI documents: its package, and the arguments for which it reports all of its findings as lines. */
interface Linter {
  readonly tool: string
  readonly version: string
  readonly package: string
  readonly program: string
  args(document: string): readonly string[]
  /** Returns the findings in its output, warnings too. */
  findings(output: string): string[]
}

const LINTERS: readonly Linter[] = [
  {
    tool: 'redocly: recommended',
    version: VERSIONS.redocly,
    package: '@redocly/cli',
    program: 'redocly',
    args: (document) => ['lint', document, `--config=${join(RULES, 'redocly.yaml')}`, '--format=json'],
    findings: (output) => {
      const { problems } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as {
        problems: { ruleId: string; message: string; location: { pointer?: string }[] }[]
      }
      return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`)
    },
  },
  {
    tool: 'spectral: oas',
    version: VERSIONS.spectral,
    package: '@stoplight/spectral-cli',
    program: 'spectral',
    args: (document) => ['lint', document, `--ruleset=${join(RULES, 'spectral.yaml')}`, '--format=json', '--quiet'],
    findings: (output) =>
      (JSON.parse(output) as { code: string; message: string; path: string[] }[]).map(
        ({ code, message, path }) => `${code}: ${message} ${path.join('/')}`,
      ),
  },
]

/** Lints the document of each style. A finding that is no exception is a failure, be it an error or a warning. */
export async function lint(tried: Tried, say: (text: string) => void): Promise<Line[]> {
  const lines: Line[] = []
  const used = new Set<Exception>()
  for (const linter of LINTERS)
    for (const style of STYLES) {
      const outcome = await attempt(async () => {
        const findings = await findingsOf(linter, style, tried.documentOf(style))
        const left = findings.filter((finding) => !isException(finding, used))
        if (left.length > 0) throw new Error(`${left.length} findings\n${left.slice(0, FINDINGS_SHOWN).join('\n')}`)
        return findings.length === 0 ? 'passed' : `passed, ${findings.length} exceptions`
      })
      if (outcome.kind !== 'passed') say(`${linter.tool}, ${style}: ${outcome.kind}: ${outcome.note}`)
      lines.push({ tool: linter.tool, version: linter.version, style, steps: { lint: outcome } })
    }
  const unused = unusedIn(lines, used)
  for (const { tool, steps } of unused) say(`${tool}: ${steps.lint?.note}`)
  return [...lines, ...unused]
}

/** Returns a failed line where the linters ran and an exception excepts nothing. */
function unusedIn(lines: readonly Line[], used: ReadonlySet<Exception>): Line[] {
  const unused = EXCEPTIONS.filter((exception) => !used.has(exception))
  if (unused.length === 0 || lines.some(({ steps }) => steps.lint?.kind === 'skipped')) return []
  const note = `no linter finds ${unused[0]!.finding} any more`
  return [{ tool: 'rules/exceptions.ts', version: '', style: 'all', steps: { lint: { kind: 'failed', note } } }]
}

/** Returns whether a finding is accepted, and adds the exception to those that are used. */
export function isException(finding: string, used: Set<Exception>): boolean {
  const exception = EXCEPTIONS.find((one) => one.finding.test(finding))
  if (exception !== undefined) used.add(exception)
  return exception !== undefined
}

/** @throws Error when the linter does not write what it found */
async function findingsOf(linter: Linter, style: StyleName, document: string): Promise<string[]> {
  const packages = await npmPackages({ [linter.package]: linter.version })
  const program = join(packages, 'node_modules', '.bin', linter.program)
  const log = logOf(`lint-${linter.program}-${style}`)
  const { output } = await runToEnd(program, linter.args(document), { cwd: WORK, log })
  try {
    return linter.findings(output)
  } catch (error) {
    throw new Error(`${linter.program} wrote no findings; see ${log}`, { cause: error })
  }
}
