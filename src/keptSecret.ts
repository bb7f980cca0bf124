import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { makeSecret } from './services/keyRing.ts'

/**
 * With the embedded database the secret is made once and kept beside the data (contract 7).
 * @throws ConfigError where there can be no data, as in the image
 */
export async function withKeptSecret(config: Config): Promise<Config> {
  if (config.keyEncryptionSecret !== undefined) return config
  await mkdir(config.dataDir, { recursive: true }).catch((error: Error) => {
    throw new ConfigError(
      `DATA_DIR: cannot be made, and the embedded database needs it: set it, or DATABASE_URL (${error.message})`,
    )
  })
  const file = join(config.dataDir, 'key-encryption-secret')
  // `wx`: of two starts at once, both use the one that was written.
  await writeFile(file, makeSecret(), { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return { ...config, keyEncryptionSecret: (await readFile(file, 'utf8')).trim() }
}
