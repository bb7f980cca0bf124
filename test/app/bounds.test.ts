import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BOUNDS, type Bound, PLACES, type Places } from '../../src/app/bounds.ts'
import { readConfig } from '../../src/app/config.ts'

// docs/operating/limits.md has the bounds of src/app/bounds.ts as its tables. Where a bound changes, the difference that this test
// shows is what to write there.

const page = readFileSync(join(import.meta.dirname, '../../docs/operating/limits.md'), 'utf8')

/** The rows of the table below a heading of the page, without its head. */
const rowsBelow = (heading: string): string[] => {
  const chapter = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return chapter
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
}

const number = (value: number) => value.toLocaleString('en')

const inBytes = (bytes: number) =>
  bytes % 1_048_576 === 0 ? `${number(bytes / 1_048_576)} MiB` : `${number(bytes / 1_024)} KiB`

const inTime = (ms: number) => (ms % 1_000 === 0 ? `${number(ms / 1_000)} s` : `${number(ms)} ms`)

function shownValue({ most, unit, setting }: Bound): string {
  if (unit === 'part') return `1/${most} of \`${setting}\``
  const value = { count: number, bytes: inBytes, ms: inTime }[unit](most)
  return setting === undefined ? value : `\`${setting}\`: ${value}`
}

/** Three numbers: for all, for an organization and for an account; a dash where there is no such bound. */
const numbersOf = (...bounds: readonly (number | string | undefined)[]) =>
  bounds
    .map((bound) => (bound === undefined || bound === Number.POSITIVE_INFINITY ? '–' : bound.toLocaleString('en')))
    .join(', ')

function placesOf({ what, gate, atOnce = '' }: Places): string {
  const { waiting, waitMs, code = 'resource_exhausted', againSeconds } = gate
  const cells = [
    what,
    numbersOf(atOnce === '' ? gate.atOnce : atOnce, gate.ofGroup, gate.ofMember),
    waiting === undefined ? 'none' : numbersOf(waiting.all, waiting.ofGroup, waiting.ofMember),
    waitMs === undefined ? '' : inTime(waitMs),
    `${code === 'unavailable' ? 503 : 429}, ${againSeconds} s`,
  ]
  return `| ${cells.join(' | ')} |`
}

describe('docs/operating/limits.md', () => {
  it('has each bound, with its value and what happens beyond it', () => {
    expect(rowsBelow('Bounds')).toEqual(
      BOUNDS.map((bound) => `| ${bound.what} | ${shownValue(bound)} | ${bound.beyond} |`),
    )
  })

  it('has the places of each gate', () => expect(rowsBelow('Places')).toEqual(PLACES.map(placesOf)))
})

describe('the bounds', () => {
  it('name settings that the service reads', () => {
    const settings = BOUNDS.flatMap(({ setting }) => setting ?? [])
    for (const setting of settings) {
      const refused = () => readConfig({ [setting]: 'many' })
      expect(refused).toThrow(setting)
    }
    expect(settings).toContain('MAX_IN_FLIGHT')
  })

  it('are each named once', () => {
    const names = [...BOUNDS, ...PLACES].map(({ what }) => what)
    expect(new Set(names).size).toBe(names.length)
  })
})
