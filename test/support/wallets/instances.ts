import { setTimeout as pause } from 'node:timers/promises'
import { type ServiceProcess, startProcess } from '../process.ts'

/** The instances of a service on one database, each a process of its own that can be killed. */
export class Instances {
  readonly #settings: Record<string, string>
  readonly #running: ServiceProcess[] = []
  #killed = 0

  private constructor(settings: Record<string, string>) {
    this.#settings = settings
  }

  static async start(settings: Record<string, string>, count: number): Promise<Instances> {
    const instances = new Instances(settings)
    instances.#running.push(...(await Promise.all(Array.from({ length: count }, () => startProcess(settings)))))
    return instances
  }

  /** Returns where they listen; of one that was killed and not started again, where it did. */
  get origins(): readonly string[] {
    return this.#running.map(({ origin }) => origin)
  }

  get killed(): number {
    return this.#killed
  }

  /** Kills an instance, and starts another in its place. */
  async replace(index: number): Promise<void> {
    await this.#kill(index)
    this.#running[index] = await startProcess(this.#settings)
  }

  /** Kills all of them, waits for what happens meanwhile, and starts as many. */
  async outage(meanwhile: () => Promise<void>): Promise<void> {
    await Promise.all(this.#running.map((_, index) => this.#kill(index)))
    await meanwhile()
    const started = await Promise.all(this.#running.map(() => startProcess(this.#settings)))
    for (const [index, one] of started.entries()) this.#running[index] = one
  }

  async #kill(index: number): Promise<void> {
    const { child, ended } = this.#running[index]!
    child.kill('SIGKILL')
    await ended
    this.#killed++
  }

  /** Ends all of them as an operator does. */
  async stop(): Promise<void> {
    for (const { child } of this.#running) child.kill('SIGTERM')
    await Promise.all(this.#running.map(({ ended }) => ended))
  }
}

/** A count that others wait for. */
export class Progress {
  #count = 0
  readonly #waiting = new Set<{ readonly at: number; readonly go: () => void }>()

  advance(): void {
    this.#count++
    for (const one of this.#waiting) {
      if (one.at > this.#count) continue
      this.#waiting.delete(one)
      one.go()
    }
  }

  /** Resolves once the count is there. */
  reached(at: number): Promise<void> {
    if (this.#count >= at) return Promise.resolve()
    return new Promise((go) => this.#waiting.add({ at, go }))
  }
}

/** The longest pauses before a kill: none, in the middle of an answer, before the next round of the background, and within it. */
const LONGEST_MS = [0, 5, 50, 400]

/** What is killed, and when. */
export interface KillOptions {
  readonly instances: Instances
  readonly kills: number
  /** The messages between two kills. */
  readonly spacing: number
  /** The tries to send a message that have begun. */
  readonly begun: Progress
  /** Advanced by each kill, once the instance runs again. */
  readonly replaced: Progress
  readonly below: (most: number) => number
}

/** Kills one instance after the other, each some time after the beginning of a random try. */
export async function killOften({ instances, kills, spacing, begun, replaced, below }: KillOptions): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    await begun.reached(1 + kill * spacing + below(spacing))
    await pause(below(1 + LONGEST_MS[kill % LONGEST_MS.length]!))
    await instances.replace(below(instances.origins.length))
    replaced.advance()
  }
}
