import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/app/config.ts'
import { withKeptSecret } from '../../src/app/keptSecret.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mkopo-secret-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const secretIn = async (directory: string, env: Record<string, string> = {}) =>
  (await withKeptSecret(readConfig({ DATA_DIR: directory, ...env }))).keyEncryptionSecret
const fileIn = (directory: string) => join(directory, 'key-encryption-secret')

describe('the secret beside the data', () => {
  it('is made once, for its owner alone, and nothing is left beside it', async () => {
    const directory = join(folder, 'fresh')
    const secret = await secretIn(directory)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(await readFile(fileIn(directory), 'utf8')).toBe(secret)
    expect((await stat(fileIn(directory))).mode & 0o777).toBe(0o600)
    expect(await readdir(directory)).toEqual(['key-encryption-secret'])
    expect(await secretIn(directory)).toBe(secret)
  })

  it('is one, however many starts make it at once', async () => {
    const directory = join(folder, 'at-once')
    const secrets = await Promise.all(Array.from({ length: 8 }, () => secretIn(directory)))
    expect(new Set(secrets).size).toBe(1)
    expect(await readdir(directory)).toEqual(['key-encryption-secret'])
  })

  it('is what the file holds, without what an editor puts behind it', async () => {
    const directory = join(folder, 'own')
    await mkdir(directory)
    await writeFile(fileIn(directory), 'ein Geheimnis: ß 16\n')
    expect(await secretIn(directory)).toBe('ein Geheimnis: ß 16')
    expect(await secretIn(directory, { KEY_ENCRYPTION_SECRET: 'another, by setting' })).toBe('another, by setting')
  })

  it.each(['', '\n', 'fifteen letters'])('is never %j: one line names the file', async (text) => {
    const directory = join(folder, `short-${text.length}`)
    await mkdir(directory)
    await writeFile(fileIn(directory), text)
    const refused = await secretIn(directory).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ConfigError)
    expect(String(refused)).toContain(`DATA_DIR: ${fileIn(directory)} holds no secret of 16 characters or more`)
    expect(await readFile(fileIn(directory), 'utf8')).toBe(text)
  })

  it('a file that cannot be read: one line that names the setting', async () => {
    const directory = join(folder, 'a-directory')
    await mkdir(fileIn(directory), { recursive: true })
    await expect(secretIn(directory)).rejects.toThrow(
      /^DATA_DIR: cannot be used, .*EISDIR.* \(it is ".*a-directory"\)$/,
    )
  })

  // Not even root may write there.
  it.runIf(process.platform === 'linux')('a directory that cannot be written in: the same', async () => {
    await expect(secretIn('/sys')).rejects.toThrow(/^DATA_DIR: cannot be used, .*(?:EACCES|EROFS).* \(it is "\/sys"\)$/)
  })
})
