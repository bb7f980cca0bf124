import type { LocalDate } from '../../dates.ts'

/** Days on which no penalty is raised, both included. */
export interface HeldDays {
  readonly from: LocalDate
  readonly through: LocalDate
}

/** Writes held days as text: `2026-01-31/2026-02-28,…`; null where there are none. */
export const heldToText = (held: readonly HeldDays[]): string | null =>
  held.length === 0 ? null : held.map(({ from, through }) => `${from}/${through}`).join(',')

/** Reads held days from their text; undefined where there are none. */
export const heldFromText = (text: string | null): HeldDays[] | undefined =>
  text?.split(',').map((days) => {
    const [from = '', through = ''] = days.split('/')
    return { from, through }
  })
