import type { ExportFormat } from './format.ts'
import { CREDITINFO, PORTFOLIO } from './formats/flat.ts'
import { KENYA } from './formats/kenya.ts'
import { UGANDA } from './formats/uganda.ts'

/** The formats that come with the service. */
export const BUILT_IN: readonly ExportFormat[] = [KENYA, UGANDA, CREDITINFO, PORTFOLIO]

/** The names of the formats that come with the service: no lender's own format has one of them. */
export const BUILT_IN_NAMES: readonly string[] = BUILT_IN.map(({ name }) => name)
