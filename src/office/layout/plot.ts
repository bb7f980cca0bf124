import { type Html, html } from '../../api/http/html.ts'
import { short } from './page.ts'

const WIDTH = 900
const HEIGHT = 240
const MARGIN = { left: 76, right: 36, top: 20, bottom: 28 }
const INNER = { width: WIDTH - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom }
const LINES = 4

const round = (value: number) => Math.round(value * 10) / 10

/** Returns the least number of about two digits from which `LINES` equal steps reach the value. */
function topOf(value: number): number {
  const step = Math.max(value, 1) / LINES
  const power = 10 ** Math.floor(Math.log10(step))
  return LINES * power * ([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= step) ?? 10)
}

const yOf = (value: number, top: number) => round(MARGIN.top + INNER.height * (1 - value / top))

/** A date below the axis; a minor one is left out on a narrow page. */
interface Tick {
  readonly x: number
  readonly text: string
  readonly kind: '' | 'minor' | 'start' | 'end'
}

const frame = (label: string, top: number, ticks: readonly Tick[], content: Html): Html =>
  html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
${Array.from({ length: LINES + 1 }, (_, index) => {
  const value = (top / LINES) * index
  const y = yOf(value, top)
  return html`<line class="grid" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}"/><text class="axis value" x="${MARGIN.left - 8}" y="${y + 4}">${short(value)}</text>\n`
})}
${ticks.map(({ x, text, kind }) => html`<text class="axis ${kind}" x="${round(x)}" y="${HEIGHT - 8}">${text}</text>\n`)}
${content}
</svg>`

/** Two amounts of a day or a month, side by side. */
export interface Bars {
  readonly label: string
  readonly names: readonly [first: string, second: string]
  /** `name` stands below the plot. */
  readonly days: readonly {
    readonly name: string
    readonly values: readonly [number, number]
    readonly label: string
  }[]
}

/** Draws bars in SVG, with each one's text under the pointer; about eight are named below. */
export function barPlot({ label, names, days }: Bars): Html {
  const top = topOf(Math.max(0, ...days.flatMap(({ values }) => values)))
  const slot = INNER.width / Math.max(1, days.length)
  const width = round(slot * 0.36)
  const everyDays = Math.ceil(days.length / 8)
  // Counted from the last day, which readers look for.
  const ticks = days.flatMap(({ name: text }, index): Tick[] => {
    const nth = (days.length - 1 - index) / everyDays
    if (!Number.isInteger(nth)) return []
    return [{ x: MARGIN.left + slot * (index + 0.5), text, kind: nth % 2 === 0 ? '' : 'minor' }]
  })
  const bars = days.map(({ values, label }, index) => {
    const x = MARGIN.left + slot * index + slot * 0.12
    const bar = (value: number, which: number) => {
      const y = yOf(value, top)
      const height = round(HEIGHT - MARGIN.bottom - y)
      return html`<rect class="bar${which}" x="${round(x + which * (width + 1))}" y="${y}" width="${width}" height="${height}"/>`
    }
    return html`<g><title>${label}</title>${values.map(bar)}</g>\n`
  })
  return html`<figure><figcaption><span class="key bar0"></span>${names[0]} <span class="key bar1"></span>${names[1]}</figcaption>${frame(label, top, ticks, html`${bars}`)}</figure>`
}

/** Returns the ticks of named days, the first at the beginning of the axis and the last at its end. */
const datesBelow = (dates: Steps['dates'], xOf: (day: number) => number): Tick[] =>
  dates.map(({ day, date }, index) => ({
    x: xOf(day),
    text: date,
    kind: index === 0 ? 'start' : index === dates.length - 1 ? 'end' : 'minor',
  }))

/** An amount that holds until it changes. */
export interface Steps {
  readonly label: string
  readonly name: string
  /** From the first to the last: days since the first, and the amount from then on. */
  readonly points: readonly {
    readonly day: number
    readonly date: string
    readonly value: number
    readonly label: string
  }[]
  /** Days that are named below the plot, from the first to the last that it shows. */
  readonly dates: readonly { readonly day: number; readonly date: string }[]
}

/** Draws steps in SVG, with a dot at each point and its text under the pointer. */
export function stepPlot({ label, name, points, dates }: Steps): Html {
  const top = topOf(Math.max(0, ...points.map(({ value }) => value)))
  const span = Math.max(1, dates.at(-1)?.day ?? 0)
  const xOf = (day: number) => round(MARGIN.left + (INNER.width * day) / span)
  const path = points.map(({ day, value }, index) =>
    index === 0 ? `M${xOf(day)} ${yOf(value, top)}` : `H${xOf(day)}V${yOf(value, top)}`,
  )
  const dots = points.map(
    ({ day, value, label }) =>
      html`<circle class="dot" cx="${xOf(day)}" cy="${yOf(value, top)}" r="4"><title>${label}</title></circle>\n`,
  )
  const line = html`<path class="line" d="${path.join('')}H${xOf(span)}"/>${dots}`
  return html`<figure><figcaption><span class="key line0"></span>${name}</figcaption>${frame(label, top, datesBelow(dates, xOf), line)}</figure>`
}

/** Values of several names over days, of which none is above the one before it. */
export interface Lines {
  readonly label: string
  /** At most 4: there is a colour for each. */
  readonly names: readonly string[]
  /** The words after the names, such as the unit. */
  readonly note: string
  /** Ascending: days since the first, and the value of each name. */
  readonly points: readonly {
    readonly day: number
    readonly values: readonly number[]
    readonly label: string
    /** Drawn hollow. */
    readonly isFaint: boolean
  }[]
  /** Days that are named below the plot, from the first to the last that it shows. */
  readonly dates: readonly { readonly day: number; readonly date: string }[]
}

/** Draws lines in SVG, with a dot at each point and its text under the pointer; a line has a gap where days are missing. */
export function linePlot({ label, names, note, points, dates }: Lines): Html {
  const top = topOf(Math.max(0, ...points.flatMap(({ values }) => values)))
  const span = Math.max(1, dates.at(-1)?.day ?? 0)
  const xOf = (day: number) => round(MARGIN.left + (INNER.width * day) / span)
  const lines = names.map((name, which) => {
    const path = points.map(({ day, values }, index) => {
      const isNext = index > 0 && points[index - 1]!.day === day - 1
      return `${isNext ? 'L' : 'M'}${xOf(day)} ${yOf(values[which]!, top)}`
    })
    const dots = points.map(
      ({ day, values, label: of, isFaint }) =>
        html`<circle class="point${isFaint && ' faint'}" cx="${xOf(day)}" cy="${yOf(values[which]!, top)}" r="3"><title>${of}: ${name} ${values[which]!.toFixed(2)}</title></circle>\n`,
    )
    return html`<g class="series${which}"><path class="series" d="${path.join('')}"/>${dots}</g>`
  })
  const keys = names.map((name, which) => html`<span class="key series${which}"></span>${name} `)
  const caption = html`<figcaption>${keys}<span class="note">${note}</span></figcaption>`
  return html`<figure>${caption}${frame(label, top, datesBelow(dates, xOf), html`${lines}`)}</figure>`
}
