import { monthEndCsv } from '../../services/monthEnd/csv.ts'
import { readMonthEnd } from '../../services/monthEnd/monthEnd.ts'
import { type MonthPdf, printMonthEnd } from '../../services/monthEnd/pdf.ts'
import { LANGUAGES } from '../../words/words.ts'
import { type Desk, type Fields, wordOf } from '../desk.ts'

/** Writes the pack of a month as a CSV file. @throws LendingError as `readMonthEnd` */
export async function monthEndFile({ deps, caller }: Desk, month: string) {
  const found = await readMonthEnd(deps, caller, month)
  return { name: `month-end-${month}.csv`, content: monthEndCsv(found, deps.config.zone) }
}

/** Writes the pack of a month as a PDF, in the language that is asked for, or of the page. @throws LendingError as `printMonthEnd` */
export const monthEndPdf = ({ deps, caller, language }: Desk, month: string, query: Fields): Promise<MonthPdf> =>
  printMonthEnd(deps, caller, month, wordOf(LANGUAGES, query, 'language') ?? language)
