import { readFileSync } from 'node:fs'
import type { z } from 'zod'

/** The most characters of a file that has a secret. */
const LONGEST_FILE = 10_000

/** Variables of an environment, by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A setting that prevents the start; the message is one line that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Reads settings of a schema, secrets also from files. @throws ConfigError naming the first bad setting, and no secret */
export function readSettings<Schema extends z.ZodObject>(
  schema: Schema,
  environment: Environment,
  secrets: readonly string[],
): z.output<Schema> {
  const refuse = (message: string): never => {
    throw new ConfigError(message)
  }
  const env = withSecretsOfFiles(environment, secrets, refuse)
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  const name = String(issue.path[0])
  // A value that is a secret, or may contain a password, must not be logged.
  const hidden = secrets.includes(name) || env[name]?.includes('@')
  return refuse(`${name}: ${issue.message}${hidden ? '' : ` (it is ${JSON.stringify(env[name])})`}`)
}

/**
 * Returns the environment with secrets from files in place of the files' names. The last line break of a file is not
 * part of its secret.
 * @param refuse throws, with a message that names the setting
 */
function withSecretsOfFiles(
  env: Environment,
  secrets: readonly string[],
  refuse: (message: string) => never,
): Environment {
  const found = { ...env }
  for (const name of secrets) {
    const path = env[`${name}_FILE`] ?? ''
    if (path === '') continue
    if ((env[name] ?? '') !== '') refuse(`${name} and ${name}_FILE: both are set; keep one of them`)
    found[name] = secretIn(path, (why) => refuse(`${name}_FILE: ${why} (it is ${JSON.stringify(path)})`))
  }
  return found
}

function secretIn(path: string, refuse: (why: string) => never): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    refuse(`cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  if (text.trim() === '') refuse('is an empty file')
  if (text.length > LONGEST_FILE) refuse(`is a file of more than ${LONGEST_FILE} characters`)
  return text
}
