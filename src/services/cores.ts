import { availableParallelism } from 'node:os'

/** Half of the cores, one at least: so many threads or processes that compute for long leave the others to the book. */
export const HALF_THE_CORES = Math.max(1, Math.floor(availableParallelism() / 2))
