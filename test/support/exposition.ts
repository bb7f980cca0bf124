/** A series at one moment: its name, its labels and its value. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** All samples of one metric, as its HELP and TYPE announce them. */
export interface Family {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y
const VALUE = /^(?:[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|Inf)|NaN)$/
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

/**
 * Reads a metrics page by the grammar of Prometheus's text format 0.0.4, and by the rules that promtool checks: HELP and
 * TYPE once and before the samples, no series twice, counters and only they end in _total, histograms that add up.
 * @throws Error naming the first line that is wrong
 */
export function readExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has to end')
  const families = new Map<string, Family>()
  const helps = new Map<string, string>()
  const seen = new Set<string>()
  let current: Family | undefined
  for (const line of text.split('\n')) {
    const wrong = (why: string) => new Error(`${why}: ${line}`)
    if (line === '') continue
    if (line.startsWith('# HELP ')) {
      const [, name = '', help = ''] = /^# HELP (\S+) ?(.*)$/.exec(line) ?? []
      if (!NAME.test(name) || helps.has(name) || /\\[^\\n]/.test(help)) throw wrong('a bad HELP')
      helps.set(name, help)
    } else if (line.startsWith('# TYPE ')) {
      const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line) ?? []
      if (!NAME.test(name) || families.has(name)) throw wrong('a bad TYPE')
      if ((type === 'counter') !== name.endsWith('_total'))
        throw wrong('a counter ends in _total, and nothing else does')
      current = { name, type, help: helps.get(name) ?? '', samples: [] }
      if (current.help === '') throw wrong('no HELP before')
      families.set(name, current)
    } else if (!line.startsWith('#')) {
      const sample = readSample(line)
      if (!sample) throw wrong('not a sample')
      const names = current && (SUFFIXES[current.type] ?? ['']).map((suffix) => current!.name + suffix)
      if (!current || !names?.includes(sample.name)) throw wrong('a sample outside its metric')
      const series = `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`
      if (seen.has(series)) throw wrong('a series twice')
      seen.add(series)
      if (current.type === 'counter' && !(sample.value >= 0)) throw wrong('a counter below zero')
      current.samples.push(sample)
    }
  }
  for (const family of families.values()) if (family.type === 'histogram') checkHistogram(family)
  return families
}

function readSample(line: string): Sample | undefined {
  const [, name = '', , inside = '', value = ''] = /^([^\s{]+)(\{(.*)\})? (\S+)( -?\d+)?$/.exec(line) ?? []
  if (!NAME.test(name) || !VALUE.test(value)) return undefined
  const labels: Record<string, string> = {}
  for (LABEL.lastIndex = 0; LABEL.lastIndex < inside.length; ) {
    const [, label, text] = LABEL.exec(inside) ?? []
    if (label === undefined || text === undefined || label in labels) return undefined
    labels[label] = text.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))
  }
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function checkHistogram({ name, samples }: Family): void {
  const without = ({ le: _, ...labels }: Readonly<Record<string, string>>) =>
    JSON.stringify(Object.entries(labels).sort())
  for (const [labels, of] of Map.groupBy(samples, (sample) => without(sample.labels))) {
    const buckets = of.filter((sample) => sample.name === `${name}_bucket`)
    const bounds = buckets.map((sample) => Number(sample.labels.le?.replace('+Inf', 'Infinity')))
    const rising = (values: number[]) => values.every((value, index) => index === 0 || value >= values[index - 1]!)
    const count = of.find((sample) => sample.name === `${name}_count`)?.value
    if (!rising(bounds) || !rising(buckets.map(({ value }) => value)))
      throw new Error(`${name}${labels} is not cumulative`)
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || buckets.at(-1)?.value !== count)
      throw new Error(`${name}${labels}: its last bucket is not its count`)
    if (!of.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name}${labels} has no sum`)
  }
}
