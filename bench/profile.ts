import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  /** Microseconds from each sample to the one before; the first from `startTime`, on the clock of `hrtime`. */
  readonly timeDeltas: readonly number[]
  readonly startTime: number
}

/** Processes of a target that were profiled, and how many requests they answered together meanwhile. */
export interface Profiled {
  readonly name: string
  readonly pids: readonly number[]
  readonly answered: number
}

/** From when to when, in microseconds of `process.hrtime`. */
export interface Span {
  readonly from: number
  readonly until: number
}

const IDLE = new Set(['(idle)', '(program)', '(root)'])
const MOST_LINES = 30

export const microseconds = (): number => Number(process.hrtime.bigint() / 1000n)

/**
 * Where the time of a request goes, in the main threads, in microseconds of CPU time a request: the targets side by side, by
 * package or layer and by function, each by its own time. Written by the processes as they ended.
 */
export async function compareProfiles(directory: string, targets: readonly Profiled[], span: Span): Promise<string> {
  const read = await Promise.all(targets.map((target) => readTimes(directory, target, span)))
  const heads = targets.map(({ name }) => name.padStart(WIDTH)).join(' ')
  const list = (title: string, pick: (times: Times) => Map<string, number>) => {
    const columns = read.map(pick)
    const most = (name: string) => Math.max(...columns.map((times) => times.get(name) ?? 0))
    const names = [...new Set(columns.flatMap((times) => [...times.keys()]))]
    return [
      `${heads}  µs a request, ${title}`,
      ...names
        .sort((a, b) => most(b) - most(a))
        .slice(0, MOST_LINES)
        .map((name) => `${columns.map((times) => column(times.get(name))).join(' ')}  ${name}`),
    ]
  }
  return [
    `${read.map(({ total }) => column(total)).join(' ')}  µs a request in all`,
    '',
    ...list('by place', (times) => times.places),
    '',
    ...list('by function', (times) => times.functions),
  ].join('\n')
}

const WIDTH = 8

const column = (time = 0) => time.toFixed(1).padStart(WIDTH)

/** Microseconds a request. */
interface Times {
  total: number
  readonly places: Map<string, number>
  readonly functions: Map<string, number>
}

async function readTimes(directory: string, { pids, answered }: Profiled, span: Span): Promise<Times> {
  const written = (await readdir(directory)).filter((name) => name.endsWith('.cpuprofile'))
  const files = written.filter((name) => pids.some((pid) => name.includes(`.${pid}.`)))
  if (files.length === 0) throw new Error(`process ${pids.join(', ')} left no profile`)
  const times: Times = { total: 0, places: new Map(), functions: new Map() }
  for (const file of files)
    add(times, JSON.parse(await readFile(join(directory, file), 'utf8')) as Profile, answered, span)
  return times
}

function add(times: Times, profile: Profile, answered: number, span: Span): void {
  const own = new Map<number, number>()
  let at = profile.startTime
  for (const [index, id] of profile.samples.entries()) {
    const delta = Math.max(0, profile.timeDeltas[index] ?? 0)
    at += delta
    if (at >= span.from && at <= span.until) own.set(id, (own.get(id) ?? 0) + delta)
  }
  const count = (map: Map<string, number>, name: string, time: number) => map.set(name, (map.get(name) ?? 0) + time)
  for (const { id, callFrame } of profile.nodes) {
    const { functionName, url, lineNumber } = callFrame
    if (IDLE.has(functionName)) continue
    // A target that was not asked for answered nothing.
    const time = answered === 0 ? 0 : (own.get(id) ?? 0) / answered
    const path = shorten(url)
    times.total += time
    count(times.places, functionName === '(garbage collector)' ? 'garbage collector' : placeOf(path), time)
    count(times.functions, `${functionName || '(anonymous)'}  ${path}${path === '' ? '' : `:${lineNumber + 1}`}`, time)
  }
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The path of a file within its checkout, whichever that is. */
const shorten = (url: string) => {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  return path.includes('/node_modules/')
    ? path.slice(path.lastIndexOf('/node_modules/') + 1)
    : path.replace(ROOT, '').replace(/^.*?\/(src|bench)\//, '$1/')
}

/** The package, the layer of ours, or Node itself. */
function placeOf(path: string): string {
  if (path === '') return 'native code: sockets, JSON, text'
  if (path.startsWith('node:')) return 'Node itself'
  const inPackage = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  return inPackage ?? (/^(src|bench)\/(domain|services|db|api)?/.exec(path)?.[0] || path)
}
