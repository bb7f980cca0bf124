import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import type { Options } from './options.ts'
import { attempt, type Line } from './outcomes.ts'
import { runToEnd } from './run.ts'
import { STYLES, type StyleName, type Tried } from './service.ts'
import { logOf, pythonPackages, WORK } from './tools.ts'
import { VERSIONS } from './versions.ts'

const RULES = join(import.meta.dirname, 'rules')
/** Each style's part of the time: as many as it has operations, about. */
const SHARES: Readonly<Record<StyleName, number>> = { partner: 0.6, record: 0.33, auth: 0.07 }
/** For loading the document, and for the last scenario after the time is over. */
const GRACE_SECONDS = 120
const FAILURES_SHOWN = 40

type Bounds = Pick<Options, 'seconds' | 'examples'>

/** Runs Schemathesis on each style of the service, as the operator of the demonstration data, who may do all. */
export async function fuzz(tried: Tried, bounds: Bounds, say: (text: string) => void): Promise<Line[]> {
  const lines: Line[] = []
  for (const style of STYLES) {
    const outcome = await attempt(() => fuzzOne(tried, style, bounds))
    if (outcome.kind !== 'passed') say(`schemathesis, ${style}: ${outcome.kind}: ${outcome.note}`)
    lines.push({ tool: 'schemathesis', version: VERSIONS.schemathesis, style, steps: { schemathesis: outcome } })
  }
  return lines
}

async function fuzzOne(tried: Tried, style: StyleName, { seconds, examples }: Bounds): Promise<string> {
  const folder = await pythonPackages({ schemathesis: VERSIONS.schemathesis })
  const log = logOf(`schemathesis-${style}`)
  const time = Math.ceil(seconds * SHARES[style])
  const report = join(WORK, `schemathesis-${style}.ndjson`)
  await rm(report, { force: true })
  const args = [
    `--config-file=${join(RULES, 'schemathesis.toml')}`,
    'run',
    tried.documentOf(style),
    `--url=${tried.urls[style]}`,
    `--max-time=${time}`,
    `--max-examples=${examples}`,
    `--report-ndjson-path=${report}`,
  ]
  const { code, output } = await runToEnd(join(folder, 'bin', 'schemathesis'), args, {
    cwd: WORK,
    log,
    seconds: time + GRACE_SECONDS,
    environment: {
      MKOPO_TOKEN: await operatorToken(tried.urls.auth),
      SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
      PYTHONPATH: RULES,
      PYTHONDONTWRITEBYTECODE: '1',
      NO_COLOR: '1',
    },
  })
  if (code !== 0) throw new Error(`see ${log} and ${report}\n${failuresIn(output).join('\n')}`)
  const [, cases = '?'] = /(\d[\d,]*) generated/.exec(output) ?? []
  return `passed, ${cases} cases in ${time} s`
}

/** Returns the lines of the summary of a run that failed. */
function failuresIn(output: string): string[] {
  const lines = output.split('\n')
  const summary = lines.findIndex((line) => /^=+ (FAILURES|ERRORS) =+$/.test(line))
  return lines.slice(summary === -1 ? -FAILURES_SHOWN : summary).slice(0, FAILURES_SHOWN)
}

async function operatorToken(url: string): Promise<string> {
  const basic = Buffer.from(`${DEMO_OPERATOR.email}:${DEMO_OPERATOR.password}`).toString('base64')
  const answer = await fetch(`${url}/v1/auth/token`, { headers: { authorization: `Basic ${basic}` } })
  const { token } = (await answer.json()) as { token: string }
  return token
}
