import { join, relative } from 'node:path'
import { createVitest, type Reporter } from 'vitest/node'
import { reachedTests } from './reach.ts'
import { gitIn, inOrderOf, paths, textsOfAll } from './repository.ts'

// `npm run test:quick`: the tests that the changed files can reach, the nearest first, for less than a minute, and the
// rules of the house. Changed is what differs from the commit where the branch left `main`, or from the one that is named:
// `npm run test:quick -- HEAD~3`.

/** Seconds after which no other test begins: what runs then has the rest of the minute. */
const BEGIN_WITHIN_S = 45

const root = join(import.meta.dirname, '../../..')
const say = (text: string) => process.stdout.write(`${text}\n`)
const git = (...args: string[]) => gitIn(root, ...args)

/** Returns the commit with which the files are compared. */
function baseOf(named: string | undefined): string {
  if (named !== undefined) return git('rev-parse', '--verify', `${named}^{commit}`).trim()
  try {
    return git('merge-base', 'HEAD', 'main').trim()
  } catch {
    return git('rev-parse', 'HEAD').trim()
  }
}

/**
 * Runs test files in their order, and begins none after the time for it.
 * @returns those that ran to their end, and whether one failed
 */
async function runInTime(files: readonly string[]): Promise<{ ran: ReadonlySet<string>; failed: boolean }> {
  const ran = new Set<string>()
  let isLate = false
  const told: Reporter = {
    onTestModuleEnd(module) {
      // Of a file that the end of the time found at work, the tests that had not begun are skipped.
      const isWhole = !isLate || module.children.allTests('skipped').next().done === true
      if (isWhole) ran.add(relative(root, module.moduleId))
    },
  }
  const vitest = await createVitest('test', {
    root,
    run: true,
    watch: false,
    project: ['service', 'programs', 'tidy'],
    sequence: { sequencer: inOrderOf(root, files) },
    reporters: ['default', told],
  })
  try {
    await vitest.standalone()
    const specifications = (await vitest.globTestSpecifications()).filter(({ moduleId }) =>
      files.includes(relative(root, moduleId)),
    )
    const end = () => {
      isLate = true
      void vitest.cancelCurrentRun('keyboard-input')
    }
    const timer = setTimeout(end, BEGIN_WITHIN_S * 1_000 - performance.now())
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    clearTimeout(timer)
    return { ran, failed: unhandledErrors.length > 0 || testModules.some((module) => module.state() === 'failed') }
  } finally {
    await vitest.close()
  }
}

/** Runs what the changed files can reach. @returns whether nothing failed */
async function testQuickly(named: string | undefined): Promise<boolean> {
  const base = baseOf(named)
  const changed = [
    ...paths(git('diff', '-z', '--name-only', '--no-renames', base)),
    ...paths(git('ls-files', '-z', '--others', '--exclude-standard')),
  ]
  if (changed.length === 0) {
    say(`Nothing has changed since ${base.slice(0, 10)}: there is nothing to test.`)
    return true
  }
  const texts = textsOfAll(root)
  const rules = [...texts.keys()].filter((file) => /^test\/tidy\w*\.test\.ts$/.test(file))
  const tests = [...new Set([...rules, ...reachedTests(texts, changed)])]
  say(
    `Changed since ${base.slice(0, 10)}: ${changed.length}. Test files that this can reach, with the rules of the house: ${tests.length}.`,
  )
  const { ran, failed } = await runInTime(tests)
  const left = tests.filter((file) => !ran.has(file))
  if (left.length > 0)
    say(`Test files for which a minute was too short: ${left.length}. npm test and npm run test:programs run them.`)
  return !failed
}

try {
  if (!(await testQuickly(process.argv[2]))) process.exitCode = 1
} catch (error) {
  const { stderr, message } = error as Error & { stderr?: string }
  process.stderr.write(`npm run test:quick failed: ${(stderr || message).trim()}\n`)
  process.exitCode = 1
}
