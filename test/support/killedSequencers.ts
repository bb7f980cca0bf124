import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { programOf } from './children.ts'

/**
 * Starts a process that seals changes and keeps the journal, kills it after a moment, and starts the next.
 * @returns how many were killed, once there were enough and all is over
 */
export async function sealAndBeKilled(url: string, kills: number, isOver: () => boolean): Promise<number> {
  let killed = 0
  while (killed < kills || !isOver()) {
    const child: ChildProcess = spawn(process.execPath, [programOf('test/support/sequencerProcess.ts'), url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout!, 'data')
    await pause(Math.random() * 400)
    child.kill('SIGKILL')
    await once(child, 'exit')
    killed++
  }
  return killed
}
