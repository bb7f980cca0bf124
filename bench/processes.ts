import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of /proc in a second: 100 on every Linux that Node runs on. */
const TICKS = 100

/** The process and all its descendants that live: those of the service's WEB_CONCURRENCY, too. */
export function treeOf(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
    return [pid, ...children.flatMap(treeOf)]
  } catch {
    return []
  }
}

/**
 * CPU seconds, user and system, that a process and its descendants have used so far. Those that have ended and were
 * collected count too, so that the figure never falls. 0 where there is no /proc.
 */
export function cpuSeconds(pid: number): number {
  let ticks = 0
  for (const one of treeOf(pid)) {
    const stat = read(`/proc/${one}/stat`)
    // Fields 14 to 17: utime, stime, cutime, cstime; counted from field 3, which follows the name in parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    for (const field of fields.slice(11, 15)) ticks += Number(field)
  }
  return ticks / TICKS
}

/** Resident bytes, now and at most, of a process and its descendants together. */
export function residentBytes(pid: number): { now: number; peak: number } {
  const of = (status: string, name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
  const total = { now: 0, peak: 0 }
  for (const one of treeOf(pid)) {
    const status = read(`/proc/${one}/status`)
    total.now += of(status, 'VmRSS')
    total.peak += of(status, 'VmHWM')
  }
  return total
}

/** The process that started `pid`. */
export const parentOf = (pid: number): number => Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0)

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
