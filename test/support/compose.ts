import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** A file of the repository, by its path in it. */
export const file = (path: string) => new URL(`../../${path}`, import.meta.url)
export const read = (path: string) => readFileSync(file(path), 'utf8')

/** A service of docker-compose.yml, as far as tests look at it. */
export interface ComposeService {
  readonly image: string
  readonly command?: string[]
  readonly mem_limit?: string
  readonly pids_limit?: number
  readonly entrypoint?: string[]
  readonly environment: Record<string, string | null>
  readonly depends_on?: Record<string, { condition: string }>
  readonly ports?: string[]
  readonly volumes?: string[]
  readonly networks: string[] | Record<string, { aliases?: string[] } | null>
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly tmpfs?: string[]
  readonly cap_drop?: string[]
  readonly security_opt?: string[]
}

export const composeText = read('docker-compose.yml')
export const { services } = parse(composeText, { merge: true }) as { services: Record<string, ComposeService> }
export const instances = ['mkopo-1', 'mkopo-2']
/** deploy/compose.env.example: name → value. */
export const example = Object.fromEntries(
  [...read('deploy/compose.env.example').matchAll(/^([A-Z_0-9]+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
)
/** What docker-compose.yml reads from .env. */
export const asked = [...composeText.matchAll(/\$\{([A-Z_0-9]+)(:[-?])([^}]*)\}/g)].map(
  ([, name = '', how, value]) => ({
    name,
    how,
    value,
  }),
)
/** An environment as it is with .env filled in. */
export const filled = (environment: Record<string, string | null>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value?.replace(/\$\{([A-Z_0-9]+)[^}]*\}/g, (_, key) => example[key] || 'filled in by the operator'),
    ]),
  )
