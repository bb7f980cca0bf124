import { expect, it } from 'vitest'
import { reachedTests } from './reach.ts'

const reached = (texts: Record<string, string>, ...changed: string[]) =>
  reachedTests(new Map(Object.entries(texts)), changed)

const loans = {
  'src/domain/money.ts': '',
  'src/domain/loan/loan.ts': "import { add } from '../money.ts'",
  'src/services/lend.ts': "const { loan } = await import('../domain/loan/loan.ts')",
  'test/api/loans.test.ts': "import {\n  lend,\n} from '../../src/services/lend.ts'",
  'test/domain/fees.test.ts': "import { add } from '../../src/domain/money.ts'",
  'test/domain/money.test.ts': "import { add } from '../../src/domain/money.ts'",
  'test/domain/loan/loan.test.ts': "import '../../../src/domain/loan/loan.ts'",
  'test/domain/types.test.ts': "import type { Money } from '../../src/domain/money.ts'",
  'test/domain/dates.test.ts': "// import '../../src/domain/money.ts'",
}

it('a changed file reaches the tests that import it, directly or over others, the nearest first', () => {
  expect(reached(loans, 'src/domain/money.ts')).toEqual([
    'test/domain/money.test.ts',
    'test/domain/fees.test.ts',
    'test/domain/loan/loan.test.ts',
    'test/api/loans.test.ts',
  ])
  expect(reached(loans, 'src/services/lend.ts')).toEqual(['test/api/loans.test.ts'])
})

it('a test that changed is the first', () => {
  expect(reached(loans, 'src/services/lend.ts', 'test/domain/dates.test.ts')).toEqual([
    'test/domain/dates.test.ts',
    'test/api/loans.test.ts',
  ])
})

it('a test that was deleted is not run, and what used a deleted file is', () => {
  const { 'src/domain/loan/loan.ts': _, ...left } = loans
  expect(reached(left, 'src/domain/loan/loan.ts')).toEqual(['test/domain/loan/loan.test.ts', 'test/api/loans.test.ts'])
  expect(reached(loans, 'test/domain/gone.test.ts')).toEqual([])
})

it('nothing reaches nothing', () => expect(reached(loans)).toEqual([]))

it('a program reaches the tests that start it, by its path or with the service', () => {
  const texts = {
    'src/app/main.ts': "import './start.ts'",
    'src/app/start.ts': '',
    'src/app/worker.ts': '',
    'test/app/pool.test.ts': "new URL('../../src/app/worker.ts', import.meta.url)",
    'test/app/main.test.ts': "startNode(['src/app/main.ts'], {})",
    'test/support/process.ts': '',
    'test/outage.test.ts': "import { startProcess } from './support/process.ts'",
  }
  expect(reached(texts, 'src/app/start.ts')).toEqual(['test/app/main.test.ts', 'test/outage.test.ts'])
  expect(reached(texts, 'src/app/worker.ts')).toEqual(['test/app/pool.test.ts'])
})

it('a document reaches the tests that read it, by its path, its name or its folder', () => {
  const texts = {
    Dockerfile: '',
    'docs/tour.md': '',
    'prisma/migrations/0001_baseline/migration.sql': '',
    'src/db/migrate.ts': "const folder = new URL('../../prisma/migrations', import.meta.url)",
    'test/db/migrate.test.ts': "import '../../src/db/migrate.ts'",
    'test/db/folder.test.ts': "readdirSync('prisma/migrations')",
    'test/deploy.test.ts': "read('Dockerfile')",
    'test/readme.test.ts': "read('docs/tour.md')",
  }
  expect(reached(texts, 'Dockerfile')).toEqual(['test/deploy.test.ts'])
  expect(reached(texts, 'docs/tour.md')).toEqual(['test/readme.test.ts'])
  expect(reached(texts, 'prisma/migrations/0001_baseline/migration.sql')).toEqual([
    'test/db/folder.test.ts',
    'test/db/migrate.test.ts',
  ])
})

it('the source of the client reaches what imports its package', () => {
  const texts = { 'clients/typescript/src/index.ts': '', 'test/clients/a.test.ts': "import { x } from '@mkopo/client'" }
  expect(reached(texts, 'clients/typescript/src/index.ts')).toEqual(['test/clients/a.test.ts'])
})
