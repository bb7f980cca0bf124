import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  readonly children?: readonly number[]
}

interface Profile {
  readonly nodes: readonly Node[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const IDLE = new Set(['(idle)', '(program)', '(root)'])
const MOST_LINES = 30

/** Where the service's CPU time went: by package or layer, and by function, each by its own time. */
export async function readProfile(directory: string): Promise<string> {
  const file = (await readdir(directory)).find((name) => name.endsWith('.cpuprofile'))
  if (file === undefined) return 'the service left no profile'
  const { nodes, samples, timeDeltas } = JSON.parse(await readFile(join(directory, file), 'utf8')) as Profile
  const own = new Map<number, number>()
  for (const [index, id] of samples.entries()) own.set(id, (own.get(id) ?? 0) + Math.max(0, timeDeltas[index] ?? 0))
  const functions = new Map<string, number>()
  const places = new Map<string, number>()
  let total = 0
  for (const { id, callFrame } of nodes) {
    const time = own.get(id) ?? 0
    const { functionName, url, lineNumber } = callFrame
    if (time === 0 || IDLE.has(functionName)) continue
    total += time
    const path = url === '' ? '' : shorten(url)
    const name = `${functionName || '(anonymous)'}  ${path}${path === '' ? '' : `:${lineNumber + 1}`}`
    functions.set(name, (functions.get(name) ?? 0) + time)
    const place = functionName === '(garbage collector)' ? 'garbage collector' : placeOf(path)
    places.set(place, (places.get(place) ?? 0) + time)
  }
  const list = (title: string, times: Map<string, number>) => [
    title,
    ...[...times]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MOST_LINES)
      .map(([name, time]) => `${((time / total) * 100).toFixed(1).padStart(6)} %  ${name}`),
  ]
  return [...list('CPU time by place', places), '', ...list('by function', functions)].join('\n')
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const shorten = (url: string) => {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  return path.includes('/node_modules/') ? path.slice(path.lastIndexOf('/node_modules/') + 1) : path.replace(ROOT, '')
}

/** The package, the layer of ours, or Node itself. */
function placeOf(path: string): string {
  if (path === '') return 'native code'
  if (path.startsWith('node:')) return path.split('/').slice(0, 2).join('/')
  const inPackage = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]
  return inPackage ?? (/^src\/[^/]+/.exec(path)?.[0] || path)
}
