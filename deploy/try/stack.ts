import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, blocksOf } from '../../test/support/readmeBlocks.ts'
import { beginLoad, type Load, prepareLoans, refusedIn, type Seen } from './load.ts'
import { bash, demand, say, until } from './shell.ts'

// The containers of docker-compose.yml, as the documents say: their own commands are run, in a copy of this checkout.

const ROOT = join(import.meta.dirname, '../..')

/** The shell blocks of the guide to Docker, in their order. */
const guide = blocksOf('docs/settings.md').filter(({ chapter, language }) => chapter === 'Docker' && language === 'sh')

/** Returns the shell block of a document that has a text. */
export function blockOf(document: string, having: string): string {
  const found = blocksOf(document).filter(({ language, text }: Block) => language === 'sh' && text.includes(having))
  demand(found.length === 1, `${document} has ${found.length} blocks with ${having}`)
  return found[0]!.text
}

/** Copies the files of this checkout that git would keep, or those of a commit, to a folder. */
export async function copyCheckout(commit?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mkopo-try-'))
  const files =
    commit === undefined
      ? 'git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=-'
      : `git archive ${commit}`
  await bash(`${files} | tar --extract --directory=${folder}`, { cwd: ROOT })
  return folder
}

export class Stack {
  /** The copy of the checkout that the commands are run in. */
  readonly folder: string
  /** The service of docker-compose.yml that is the primary now. */
  primary = 'database'
  #borrowers: Awaited<ReturnType<typeof prepareLoans>> | undefined

  constructor(folder: string) {
    this.folder = folder
  }

  /**
   * Runs commands beside docker-compose.yml. Where the last one waits for an instance that ended at its start and was started
   * again, waits once more: so it is on a machine that is too busy for the service to reach its database within 2 s.
   * @returns what they print
   */
  async run(text: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    try {
      return await bash(text, { cwd: this.folder, env })
    } catch (error) {
      const [, service] = /container mkopo-(mkopo-\d)-1 is unhealthy/.exec((error as Error).message) ?? []
      const last = text.trim().split('\n').at(-1)!
      if (service === undefined || !last.includes('--wait')) throw error
      const logged = `docker compose logs --no-log-prefix --tail=60 ${service} | grep --invert-match '"level":30,' | grep . | tail -3`
      const why = await bash(logged, { cwd: this.folder }).catch(String)
      say(`${service} ended at its start, and was started again: ${why.trim().slice(0, 400)}`)
      return bash(last, { cwd: this.folder, env })
    }
  }

  /** Runs the guide from its first command, which makes `.env`, to the loan. @returns what the last command prints */
  async followTheGuide(image?: string): Promise<string> {
    const [environment = '', ...rest] = guide.map(({ text }) => text)
    const [make = '', up = ''] = environment.split(/\n(?=docker compose up)/)
    await this.run(make)
    // How late a machine that does other things makes an instance is no overload of its own.
    await this.set('MAX_LAG_MS', '60000')
    if (image !== undefined) await this.set('MKOPO_IMAGE', image)
    await this.run(image === undefined ? up : up.replace(' --build', ''))
    this.#borrowers = undefined
    return this.run(rest.join('\n'))
  }

  /** Sets a line of `.env`. */
  async set(name: string, value: string): Promise<void> {
    const path = join(this.folder, '.env')
    const text = await readFile(path, 'utf8')
    await writeFile(path, `${text.replace(new RegExp(`^${name}=.*\n`, 'gm'), '')}${name}=${value}\n`)
  }

  /** A setting of `.env`. */
  async get(name: string): Promise<string> {
    const found = new RegExp(`^${name}=(.*)$`, 'm').exec(await readFile(join(this.folder, '.env'), 'utf8'))
    return found?.[1] ?? ''
  }

  /** Runs a statement as the owner of the tables. @returns its rows, a line each, columns parted by | */
  async sql(statement: string, service = this.primary): Promise<string> {
    const args = '--username=mkopo --no-psqlrc --tuples-only --no-align'
    return (await this.run(`docker compose exec -T ${service} psql ${args} --command="${statement}"`)).trim()
  }

  /** Runs a program in JavaScript in an instance. */
  inInstance(program: string, service = 'mkopo-1'): Promise<string> {
    return this.run(`docker compose exec -T ${service} node -e '${program.replaceAll("'", `'\\''`)}'`)
  }

  async inspect(service: string, format: string): Promise<string> {
    return (
      await this.run(`docker inspect --format '${format}' "$(docker compose ps --all --quiet ${service})"`)
    ).trim()
  }

  /** Kills the first process of a container from outside, as a crash does: it is started again, and answers. */
  async kill(service: string): Promise<void> {
    const pid = await this.inspect(service, '{{.State.Pid}}')
    process.kill(Number(pid), 'SIGKILL')
    const answers = async () => {
      if (service === this.primary) await this.run(`docker compose exec -T ${service} pg_isready --host=127.0.0.1`)
      else await fetch(`http://127.0.0.1:300${service.at(-1)}/metrics`)
      const now = await this.inspect(service, '{{.State.Pid}}')
      return now !== pid && now !== '0' ? now : undefined
    }
    await until(`${service} is back`, answers)
  }

  /** Does something while repayments are posted. @returns what the callers saw */
  async underLoad(what: () => Promise<unknown>): Promise<Seen> {
    this.#borrowers ??= await prepareLoans()
    const load: Load = beginLoad(this.#borrowers)
    try {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      await what()
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    } finally {
      await load.stop().catch(() => undefined)
    }
    return load.stop()
  }

  /** @throws Error where an acknowledged repayment is missing or there twice, or `book check` finds something */
  async demandNothingLost(what: string, seen: Seen): Promise<void> {
    const rows = (
      await this.sql("SELECT token, count(*) FROM loan_entry WHERE token LIKE 'try-%' GROUP BY token")
    ).split('\n')
    const times = new Map(rows.map((row) => row.split('|') as [string, string]))
    const missing = [...seen.acknowledged].filter((token) => !times.has(token))
    const twice = [...times].filter(([, count]) => count !== '1')
    demand(
      missing.length === 0,
      `${what}: ${missing.length} acknowledged repayments are missing, such as ${missing[0]}`,
    )
    demand(twice.length === 0, `${what}: ${twice.length} repayments are there more than once`)
    await this.check()
    say(
      `${what}: ${seen.acknowledged.size} acknowledged, each is there once; ${refusedIn(seen)}; slowest ${Math.round(seen.slowestMs)} ms; book check finds nothing`,
    )
  }

  /** Runs `mkopo book check`. @throws Error where it finds something */
  async check(): Promise<void> {
    await this.run('docker compose exec -T mkopo-1 mkopo book check')
  }

  /** Writes the secrets to files, as deploy/compose.secrets.yml says. */
  async writeSecrets(): Promise<void> {
    const folder = join(this.folder, 'secrets')
    await mkdir(folder)
    const url = (user: string, password: string) => `postgres://${user}:${password}@${this.primary}:5432/mkopo`
    const secrets = {
      'key-encryption-secret': await this.get('KEY_ENCRYPTION_SECRET'),
      'database-url': url('mkopo_service', await this.get('SERVICE_PASSWORD')),
      'database-owner-url': url('mkopo', await this.get('POSTGRES_PASSWORD')),
    }
    for (const [name, secret] of Object.entries(secrets)) await writeFile(join(folder, name), secret, { mode: 0o400 })
    await this.run('chown --recursive 1000:1000 secrets')
  }

  /** Does something, and removes all of it then. Where it fails, says what the containers said last. */
  async whileItStands(keep: boolean, what: () => Promise<void>): Promise<void> {
    try {
      await what()
    } catch (error) {
      const last = `docker compose ps --all; docker inspect --format '{{.Name}} {{json .State.Health}}' $(docker compose ps --all --quiet); docker compose logs --tail=400 | grep --invert-match '"level":30,' | tail -40`
      say(await this.run(last).catch(String))
      throw error
    } finally {
      if (keep) say(`kept: ${this.folder}`)
      else await this.#remove()
    }
  }

  /** Ends the containers, and throws the books away. */
  async #remove(): Promise<void> {
    await this.run('docker compose --profile standby down --volumes --timeout 20')
    await rm(this.folder, { recursive: true })
  }
}

/** Makes the image of a commit, by the Dockerfile that it has. */
export async function buildCommit(commit: string, image: string): Promise<void> {
  const folder = await copyCheckout(commit)
  // Builders before BuildKit 0.12 do not know this flag, which the Dockerfile had before the first release.
  await bash(`sed -i 's/ --start-interval=1s//' Dockerfile && nice docker build --tag ${image} .`, { cwd: folder })
  await rm(folder, { recursive: true })
}
