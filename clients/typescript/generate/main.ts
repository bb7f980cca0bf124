import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readDocuments } from './documents.ts'
import { generateClient } from './generate.ts'
import { build, MOST_BYTES, pack } from './pack.ts'

// Makes the generated files of the client again, builds it, and packs it.

const client = join(import.meta.dirname, '..')

const say = (text: string) => process.stdout.write(`${text}\n`)

try {
  const folder = join(client, 'src/generated')
  await mkdir(folder, { recursive: true })
  for (const [name, source] of await generateClient(await readDocuments())) {
    await writeFile(join(folder, name), source)
    say(`src/generated/${name}: ${source.length} characters`)
  }
  await build()
  const { path, bytes, unpackedBytes } = await pack(join(client, 'dist'))
  say(`${path}: ${bytes} bytes, ${unpackedBytes} bytes unpacked`)
  if (bytes >= MOST_BYTES) throw new Error(`the packed file must have less than ${MOST_BYTES} bytes (contract 13)`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
