import { type Gateway, openGateway } from './gateway.ts'
import { lendFrom, type ServiceProcess, startProcess } from './process.ts'

const LOANS = 20

/** A service in a process of its own whose database is reached by way of a gateway, and loans to repay. */
export interface BehindGateway {
  readonly gateway: Gateway
  readonly service: ServiceProcess
  readonly lent: { authorization: string; loans: string[] }
  /** Ends the service, and closes the gateway; the database stays up. */
  close(): Promise<void>
}

/** Starts a service with the demonstration data on a database of its own, behind a gateway. */
export async function startBehindGateway(databaseUrl: string): Promise<BehindGateway> {
  const gateway = await openGateway(databaseUrl)
  const service = await startProcess({
    DATABASE_URL: gateway.url,
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    SEED_DEMO: 'true',
    STOP_GRACE_MS: '0',
  })
  const lent = await lendFrom(service, LOANS)
  return {
    gateway,
    service,
    lent,
    async close() {
      service.child.kill('SIGTERM')
      await service.ended
      await gateway.close()
    },
  }
}
