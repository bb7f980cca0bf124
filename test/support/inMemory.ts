import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

/** Where Linux has files in memory. */
const MEMORY = '/dev/shm'
const NAME = /^mkopo-tests-(\d+)$/
/** The free memory below which the tests use the disk: the machine has other work. */
const LEAST_BYTES = 6 * 1024 ** 3

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Has temporary files, of which the databases of the tests are most, in memory: in a folder that is removed when this process ends.
 * A database of a test has a thousand files: to copy them takes 40 ms in memory, and 400 to 800 ms on a disk. Does nothing where `TMPDIR` is
 * set, or the system has no such folder, or too little free memory.
 */
export function useMemory(): void {
  if (process.env.TMPDIR !== undefined) return
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (Math.min(bavail * bsize, freemem()) < LEAST_BYTES) return
    removeLeftFolders(MEMORY)
    const folder = join(MEMORY, `mkopo-tests-${process.pid}`)
    mkdirSync(folder)
    // As `/tmp`: where the tests run as root, Postgres runs as another user.
    chmodSync(folder, 0o1777)
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    process.env.TMPDIR = folder
  } catch {
    // The disk will do.
  }
}

/** Removes the folders of runs that were killed from the folder that has them. */
export function removeLeftFolders(memory: string): void {
  for (const name of readdirSync(memory)) {
    const pid = Number(NAME.exec(name)?.[1])
    if (pid && !isRunning(pid)) rmSync(join(memory, name), { recursive: true, force: true })
  }
}
