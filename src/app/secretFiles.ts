import { readFileSync } from 'node:fs'

/** The settings that are secrets or contain one: each may be in a file, which `<name>_FILE` names. */
export const SECRET_SETTINGS = ['DATABASE_URL', 'DATABASE_OWNER_URL', 'KEY_ENCRYPTION_SECRET', 'METRICS_TOKEN'] as const

const LONGEST_FILE = 10_000

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the environment with secrets from files in place of the files' names. The last line break of a file is not
 * part of its secret.
 * @param refuse throws, with a message that names the setting
 */
export function withSecretsOfFiles(env: Environment, refuse: (message: string) => never): Environment {
  const found = { ...env }
  for (const name of SECRET_SETTINGS) {
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
