import { execFile } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const BIOME = join(ROOT, 'node_modules/.bin/biome')

/**
 * Formats a source file as the project formats its own.
 * @param file its path from the root of the project
 */
export function formatted(file: string, source: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = execFile(BIOME, ['format', `--stdin-file-path=${file}`], { cwd: ROOT }, (error, stdout, stderr) =>
    error ? reject(new Error(`${file} cannot be formatted: ${stderr}`)) : resolve(stdout),
  )
  child.stdin?.end(source)
  return promise
}
