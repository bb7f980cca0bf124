import { compareOnAllCores } from '../../support/onAllCores.ts'
import { bookMany } from './manyBooks.ts'
import { compareMany } from './manyRestructures.ts'

// `npm run try -- restructures`: random loans with restructures against the model, on all cores, and beside each ten of them the books of
// one with many restructures. MKOPO_LOANS and MKOPO_SEED say how many and which. It prints what there was, and the first difference
// with its seed.

compareOnAllCores({
  script: import.meta.url,
  of: 'loans',
  many: Number(process.env.MKOPO_LOANS ?? 100_000),
  seed: Number(process.env.MKOPO_SEED ?? 1),
  compare: (seed, many) => ({ ...compareMany(seed, many), ...bookMany(seed, Math.ceil(many / 10)) }),
})
