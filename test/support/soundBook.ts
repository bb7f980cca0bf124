import { readConfig } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import { checkBook } from '../../src/services/book/bookCheck.ts'
import type { Deps } from '../../src/services/deps.ts'

/**
 * Checks the book that a test leaves.
 * @throws Error with what differs
 */
export async function requireSoundBook(deps: Deps): Promise<void> {
  const { differences, found } = await checkBook(deps)
  const said = differences.map(
    ({ organizationId, of, message }) => `${of} (organization ${organizationId}): ${message}`,
  )
  if (found > 0) throw new Error(`book check finds ${found} differences in the book of this test:\n${said.join('\n')}`)
}

/** Checks the book of a database that the service of another process serves, with the secret of the tests. */
export async function requireSoundDatabase(databaseUrl: string, secret = 'a secret of the tests'): Promise<void> {
  const config = readConfig({ KEY_ENCRYPTION_SECRET: secret, LOG_LEVEL: 'silent' })
  const deps = await openService({ config, databaseUrl, now: Date.now, skipMigrations: true, patience: 'always' })
  try {
    await requireSoundBook(deps)
  } finally {
    deps.statements.close()
    deps.webhookPoster.close()
    await deps.db.close()
  }
}
