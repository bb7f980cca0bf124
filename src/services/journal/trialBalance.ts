import { createHash } from 'node:crypto'
import { readCharts } from '../../db/journal/charts.ts'
import { type PostedUpTo, readPosted } from '../../db/journal/sums.ts'
import type { Queries } from '../../db/queries/queries.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { turnsOf } from '../../domain/journal/chartsInForce.ts'
import { turnoversOf, turnoversText } from '../../domain/journal/trialBalance.ts'

/**
 * Returns the hash of a trial balance in all currencies as the books were kept up to a day (contract 9.3): SHA-256 of its
 * text, as hex digits.
 * @param queries a transaction (`{ pool: transaction }`) where the postings are in it
 */
export async function closingHash(queries: Queries, organizationId: number, lastDay: LocalDate): Promise<string> {
  const text = await closingText(queries, organizationId, lastDay)
  return createHash('sha256').update(text).digest('hex')
}

/** Returns the text of which `closingHash` is made. */
export async function closingText(queries: Queries, organizationId: number, lastDay: LocalDate): Promise<string> {
  const { turnovers } = await readTurnovers(queries, {
    organizationId,
    basis: 'booked',
    asOf: lastDay,
    productId: null,
  })
  return turnoversText(turnovers)
}

/** Reads what was posted on each account up to a day, and the charts that say so. */
async function readTurnovers(queries: Queries, asked: PostedUpTo) {
  const charts = await readCharts(queries, asked.organizationId)
  const posted = await readPosted(queries, asked, turnsOf(charts))
  return { charts, turnovers: turnoversOf(charts, posted) }
}
