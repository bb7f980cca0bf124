import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { makeSecret } from './services/keyRing.ts'

/**
 * With the embedded database the secret is made once and kept beside the data (contract 7).
 * @throws ConfigError for a `DATA_DIR` that cannot be a directory, as in the image
 */
export async function withKeptSecret(config: Config): Promise<Config> {
  await mkdir(config.dataDir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    const why = ['EEXIST', 'ENOTDIR'].includes(error.code ?? '') ? 'a file is there' : error.message
    throw new ConfigError(
      `DATA_DIR: cannot be made, and the embedded database needs it (or set DATABASE_URL): ${why} (it is ${JSON.stringify(config.dataDir)})`,
    )
  })
  if (config.keyEncryptionSecret !== undefined) return config
  const file = join(config.dataDir, 'key-encryption-secret')
  // `wx`: of two starts at once, both use the one that was written.
  await writeFile(file, makeSecret(), { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return { ...config, keyEncryptionSecret: (await readFile(file, 'utf8')).trim() }
}
