import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, link, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectory } from '../db/embedded/dataDirectory.ts'
import { makeSecret } from '../services/access/keyRing.ts'
import { type Config, ConfigError, SHORTEST_SECRET } from './config.ts'

/**
 * Adds what is kept beside the data to settings of the embedded database: the secret, which is made once (contract 7), and
 * the file of the heads of the chains.
 * @throws ConfigError when `DATA_DIR` cannot be a directory, as in the image, or cannot be used, and when its file
 *   holds no secret
 */
export async function withKeptSecret(config: Config): Promise<Config> {
  const { dataDir, keyEncryptionSecret } = config
  await makeDirectory(dataDir).catch((error: NodeJS.ErrnoException) => {
    const why = ['EEXIST', 'ENOTDIR'].includes(error.code ?? '') ? 'a file is there' : error.message
    throw new ConfigError(
      `DATA_DIR: cannot be made, and the embedded database needs it (or set DATABASE_URL): ${why} (it is ${JSON.stringify(dataDir)})`,
    )
  })
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return {
      ...config,
      keyEncryptionSecret: keyEncryptionSecret ?? (await keptIn(dataDir)),
      headsFile: config.headsFile || join(dataDir, 'chain-heads'),
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(
      `DATA_DIR: cannot be used, and the embedded database needs it (or set DATABASE_URL): ${(error as Error).message} (it is ${JSON.stringify(dataDir)})`,
    )
  }
}

async function keptIn(directory: string): Promise<string> {
  const file = join(directory, 'key-encryption-secret')
  const secret = (await read(file)) ?? (await make(file))
  if (secret.length < SHORTEST_SECRET)
    throw new ConfigError(
      `DATA_DIR: ${file} holds no secret of ${SHORTEST_SECRET} characters or more, and the signing keys are encrypted with one; put back the file as it was, or remove it if none was ever made`,
    )
  return secret
}

const read = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )

/**
 * Keeps a secret in a file, which gets its name when it is complete and on the disk. If another start was faster, its
 * secret is used.
 */
async function make(file: string): Promise<string> {
  const aside = `${file}.${randomUUID()}`
  try {
    await using handle = await open(aside, 'wx', 0o600)
    await handle.writeFile(makeSecret())
    await handle.sync()
    // A rename would replace the secret that the other start has read already.
    await link(aside, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await using directory = await open(dirname(file), 'r')
    await directory.sync()
  } finally {
    await rm(aside, { force: true })
  }
  return (await readFile(file, 'utf8')).trim()
}
