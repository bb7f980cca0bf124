import { compareOnAllCores } from '../../support/onAllCores.ts'
import { compareMany } from './manyDocuments.ts'

// `npm run try -- documents`: statements of random loans, read back from their PDFs in both languages, on all cores. MKOPO_LOANS
// and MKOPO_SEED say how many and which. It prints what there was, and the first difference with its seed.

compareOnAllCores({
  script: import.meta.url,
  of: 'loans',
  many: Number(process.env.MKOPO_LOANS ?? 10_000),
  seed: Number(process.env.MKOPO_SEED ?? 1),
  compare: compareMany,
})
