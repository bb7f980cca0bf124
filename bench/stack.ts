import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DriverDuties } from './driver.ts'
import type { FloorDuties } from './floor.ts'
import type { LoadDuties } from './load.ts'
import { createMeter, type Meter } from './meter.ts'
import type { Options } from './options.ts'
import { type Peer, startPeer } from './peer.ts'
import type { Target } from './scenarios.ts'
import { laySide, type Side } from './side.ts'
import { type Service, startService } from './startService.ts'

/** A version of the service with a Postgres of its own, and the meter of that Postgres. */
export interface Version extends Side {
  readonly service: Service
  readonly meter: Meter
}

/** Everything that a run measures and measures with. */
export interface Stack {
  readonly ours: Version
  readonly versus: Version | undefined
  /** The Postgres of the floor and the driver, at which no service works. */
  readonly byHand: Side
  readonly floor: Peer<FloorDuties>
  readonly floorPort: number
  readonly driver: Peer<DriverDuties>
  readonly load: Peer<LoadDuties>
  /** Where the service and the floor leave their CPU profiles when they end, if they were asked for them. */
  readonly directory: string
}

/** Returns the Postgres and the book that a target works on; undefined for a version that is not measured. */
export const sideOf = (stack: Stack, target: Target): Side | undefined =>
  target === 'floor' || target === 'driver' ? stack.byHand : stack[target]

/**
 * Starts it all: for each version a Postgres with durable commits, a book, and the service as production runs it; the same
 * without a service for the floor and the driver; and the load generator.
 * @param closing gets what ends each part, to be called in the reverse order, also where the start went wrong
 */
export async function startStack(
  options: Options,
  closing: (() => unknown)[],
  say: (text: string) => void,
): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-bench-'))
  closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  // As root, Postgres runs as another user, who has to get in.
  await chmod(directory, 0o755)
  const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${directory}`] : []
  const lay = (name: string, checkout: string) => laySide({ name, checkout, directory, size: options, closing, say })
  const startVersion = async (name: string, checkout: string, flags: readonly string[] = []): Promise<Version> => {
    const side = await lay(name, checkout)
    const service = await startService(checkout, side.databaseUrl, options, flags)
    closing.push(() => service.stop())
    say(`${name}: ready ${service.startMs.toFixed(0)} ms after its start on the existing book`)
    const meter = await createMeter(side)
    closing.push(() => meter.close())
    await meter.quiet(service.pid)
    return { ...side, service, meter }
  }
  const byHand = await lay('floor', '.')
  const ours = await startVersion('ours', '.', profiling)
  const versus = options.versus === undefined ? undefined : await startVersion('versus', options.versus, profiling)
  const floor = startPeer<FloorDuties>('floor.ts', profiling)
  const driver = startPeer<DriverDuties>('driver.ts')
  const load = startPeer<LoadDuties>('load.ts')
  closing.push(() => Promise.all([floor, driver, load].map((peer) => peer.end())))
  const floorPort = await floor.ask('start', { databaseUrl: byHand.databaseUrl })
  return { ours, versus, byHand, floor, floorPort, driver, load, directory }
}
