import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { ELSEWHERE } from './test/support/elsewhere.ts'
import { useMemory } from './test/support/inMemory.ts'
import { LongestFirst } from './test/support/longestFirst.ts'

/** All limits of time in the tests are this many times as long: twice, for there are more workers than cores, and more with the load before. */
const [SHORTEST, LONGEST] = [2, 16]
const busy = (loadavg()[0] ?? 0) / availableParallelism()
process.env.TEST_PATIENCE ??= String(Math.min(LONGEST, Math.max(SHORTEST, Math.ceil(busy))))
const patience = Number(process.env.TEST_PATIENCE)

// The programs that tests start, some two hundred, find here what Node compiled for the one before.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/node-compile')

useMemory()

const RULES = 'test/tidy*.test.ts'
const PROGRAMS = 'test/programs/*.test.ts'

const withDatabase = {
  // Nothing may depend on the zone of the server: it is neither UTC nor that of a lender, unless the caller names one.
  env: { TZ: process.env.TZ ?? ELSEWHERE },
  setupFiles: ['test/support/nothingLeft.ts', 'test/support/elsewhere.ts'],
  globalSetup: ['test/support/globalSetup.ts'],
}

export default defineConfig({
  test: {
    // Processes, not threads: some tests kill what they have started, and each file has a database of its own.
    pool: 'forks',
    // One process runs many files, and loads the service once: loading it takes two seconds of a core. A file leaves
    // nothing behind, which nothingLeft.ts holds: it closes what it opened, ends what it started, and puts back what it replaced.
    isolate: false,
    restoreMocks: true,
    setupFiles: ['test/support/seed.ts'],
    // Many tests wait, for the database, a program or a limit of time: one more than there are cores keeps these busy. With two more, a run
    // takes as long, and a twentieth more of the processors.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Only a test that hangs is ended: with eight programs for each core, one of six seconds takes a minute.
    testTimeout: 90_000 * patience,
    hookTimeout: 120_000 * patience,
    // What is waited for is a state: how long it takes is of the machine.
    expect: { poll: { timeout: 30_000 * patience } },
    projects: [
      {
        extends: true,
        test: { name: 'service', include: ['test/**/*.test.ts'], exclude: [RULES, PROGRAMS], ...withDatabase },
      },
      // They start, flood, cut off and kill whole programs, which takes minutes: `npm run test:programs` runs them, `npm test` does not.
      { extends: true, test: { name: 'programs', include: [PROGRAMS], ...withDatabase } },
      // The rules of the house need no database, so that checking them takes a second.
      { extends: true, test: { name: 'tidy', include: [RULES] } },
    ],
  },
})
