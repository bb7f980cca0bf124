import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { renderEvents } from '../../../src/app/app.ts'
import { createServiceJobs } from '../../../src/services/jobs/serviceJobs.ts'
import { silent } from '../../support/quiet.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

it('the table of docs/architecture.md has the jobs that the service starts, each with its pause', () => {
  const text = readFileSync('docs/architecture.md', 'utf8').split('\n## Jobs\n')[1]?.split('\n## ')[0] ?? ''
  const rows = [...text.matchAll(/^\| `(\w+)` \|.*\| (\S+) s \|[^|]*\|$/gm)].map(([, name, every]) => [name, every])
  const { jobs } = createServiceJobs(service.deps, {
    render: renderEvents('UTC'),
    log: { ...silent, warn: () => undefined },
  })
  expect(rows).toEqual(jobs.map(({ name, everyMs }) => [name, String(everyMs / 1000)]))
})
