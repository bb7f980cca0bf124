import { relative } from 'node:path'
import { createVitest, type Reporter } from 'vitest/node'
import { inOrderOf } from '../../test/support/quick/repository.ts'

// `node bench/mutants/runTests.ts <root> <bail> <test file>…`: runs test files of a copy of the repository in this order, until so
// many tests have failed (0: to their end). Prints a line of JSON for each failure.

const [root = '', bail = '0', ...files] = process.argv.slice(2)

const tell = (file: string, name: string) => {
  process.stdout.write(`${JSON.stringify({ file: relative(root, file), name })}\n`)
}

const telling: Reporter = {
  onTestCaseResult(test) {
    if (test.result().state === 'failed') tell(test.module.moduleId, test.fullName)
  },
  onTestModuleEnd(module) {
    // A file that cannot be loaded, or a hook of it that fails, fails the file and no test.
    if (module.errors().length > 0) tell(module.moduleId, 'the file as a whole')
  },
  onTestSuiteResult(suite) {
    if (suite.errors().length > 0) tell(suite.module.moduleId, suite.fullName)
  },
}

const vitest = await createVitest('test', {
  root,
  run: true,
  watch: false,
  project: ['service', 'programs'],
  bail: Number(bail),
  sequence: { sequencer: inOrderOf(root, files) },
  reporters: [telling],
})
try {
  await vitest.standalone()
  const specifications = (await vitest.globTestSpecifications()).filter(({ moduleId }) =>
    files.includes(relative(root, moduleId)),
  )
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications)
  if (unhandledErrors.length > 0) tell(root, String((unhandledErrors[0] as Error).message))
} finally {
  await vitest.close()
}
