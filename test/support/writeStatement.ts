import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { addPeriods, dateIn, dayAfter, isCalendarDate } from '../../src/domain/dates.ts'
import { fictionalStatement, statementPdf } from './statementPdf.ts'
import { STYLES, type StatementSketch } from './statementStyles.ts'

// `npm run statement -- statement.pdf --layout bank`: a statement of a person who does not exist, to try a boost with.
// In shillings of Tanzania, as the demonstration organization has them.

const LAYOUTS = Object.keys(STYLES) as StatementSketch['layout'][]
const USAGE = `usage: npm run statement -- [file] [--layout ${LAYOUTS.join('|')}] [--owner NAME] [--phone NUMBER] [--from DATE] [--to DATE]`
const TEXT = { type: 'string' } as const
const TEXTS = { layout: TEXT, owner: TEXT, phone: TEXT, from: TEXT, to: TEXT }

try {
  const { values, positionals } = parseArgs({
    options: { ...TEXTS, help: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help) {
    console.log(USAGE)
    process.exit()
  }
  const [file = 'statement.pdf', ...more] = positionals
  if (more.length > 0) throw new Error(`one file, not also ${more.join(' ')}`)
  const layout = LAYOUTS.find((one) => one === (values.layout ?? 'mpesa'))
  if (!layout) throw new Error(`--layout must be one of ${LAYOUTS.join(', ')}`)
  const { owner, phone } = values
  // Half a year that ended yesterday: recent enough wherever "today" is.
  const to = dateOf('to', values.to) ?? addPeriods(dateIn('Africa/Nairobi', Date.now()), -1, 'days')
  const from = dateOf('from', values.from) ?? addPeriods(dayAfter(to), -6, 'months')
  if (from > to || from < addPeriods(to, -10, 'years'))
    throw new Error('--from must be before --to, by ten years at most')
  const sketch = fictionalStatement({ layout, from, to, ...(owner && { owner }), ...(phone && { phone }) })
  await writeFile(file, await statementPdf(sketch))
  console.log(`${file}: ${layout}, ${from} to ${to}, of ${sketch.owner}, ${sketch.phone}`)
} catch (error) {
  console.error(`${(error as Error).message}\n${USAGE}`)
  process.exitCode = 2
}

function dateOf(name: string, given: string | undefined): string | undefined {
  if (given !== undefined && !isCalendarDate(given)) throw new Error(`--${name} must be a date, YYYY-MM-DD`)
  return given
}
