import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { LendingError } from '../../domain/errors.ts'

const PATIENCE_MS = 2000

export const healthSchema = z.object({
  status: z.string().describe('Always `ok`; a service that is not ready refuses with 503.'),
})

/** The checks that readiness depends on. */
export interface Readiness {
  /** Returns whether the database answers. */
  readonly ready: () => Promise<boolean>
  readonly stopping: () => boolean
  /** Returns why the database takes no changes, if it is known not to. */
  readonly trouble: () => string | undefined
}

/** Adds liveness and readiness (contract 6), on every host and without a token. `ready` asks the database. */
export function addHealth(app: FastifyInstance, { ready, stopping, trouble }: Readiness) {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })

  app.get(
    '/health/live',
    {
      schema: {
        tags: ['health'],
        operationId: 'getLiveness',
        summary: 'Say whether the process is up',
        description: 'It asks nothing of the database.',
        response: { 200: healthSchema },
      },
      config: { public: true, vital: true },
      logLevel: 'warn',
    },
    () => ({ status: 'ok' }),
  )

  app.get(
    '/health/ready',
    {
      schema: {
        tags: ['health'],
        operationId: 'getReadiness',
        summary: 'Say whether requests can be served',
        description: 'They can while the database answers and takes changes.',
        response: { 200: healthSchema },
      },
      config: { public: true, vital: true, refusals: ['unavailable'] },
      logLevel: 'warn',
    },
    async () => {
      if (closing || stopping()) throw new LendingError('unavailable', 'the service is stopping')
      const found = trouble()
      if (found !== undefined) throw new LendingError('unavailable', found)
      if (!(await inTime(ready))) throw new LendingError('unavailable', 'the database does not answer')
      return { status: 'ok' }
    },
  )
}

/** Returns false when the check fails or takes too long; for a load balancer both mean the same. */
async function inTime(ready: () => Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS, false)
  })
  try {
    return await Promise.race([ready(), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
