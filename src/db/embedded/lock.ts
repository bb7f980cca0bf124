import { chmodSync, chownSync, closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Another process uses the directory. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'
}

/**
 * Makes this process the only one that uses `directory`, until the returned function is called or the process ends,
 * however it ends.
 *
 * The lock is one that SQLite takes from the kernel on the file `mkopo.lock`: unlike a file with a process id in it,
 * it cannot outlive its owner, and two that start at the same moment cannot both take it over. The file stays; it also
 * tells the owner's process id.
 * @throws DirectoryInUseError "another mkopo (pid N) is using …"
 */
export function holdDirectory(directory: string): () => void {
  const path = join(directory, 'mkopo.lock')
  const file = open(path, directory)
  try {
    // Nobody can read a change that is not committed, so the process id is committed first, and then the lock is held.
    file.exec('BEGIN IMMEDIATE')
    file.exec(`PRAGMA user_version = ${process.pid}`)
    file.exec('COMMIT')
    file.exec('BEGIN IMMEDIATE')
  } catch (error) {
    const busy = error instanceof Error && 'errcode' in error && error.errcode === 5
    const owner = busy ? ownerOf(file) : undefined
    file.close()
    if (!busy) throw cannotLock(path, error)
    throw new DirectoryInUseError(`another mkopo${owner === undefined ? '' : ` (pid ${owner})`} is using ${directory}`)
  }
  return () => {
    if (file.isOpen) file.close()
  }
}

function open(path: string, directory: string): DatabaseSync {
  try {
    // Its owner's alone: a user that may open it, if only to read, could hold the lock.
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
    const file = new DatabaseSync(path, { timeout: 0 })
    file.exec('PRAGMA synchronous = OFF')
    // Root starts it once, then the directory's owner: the lock must not be what keeps the owner out.
    if (process.getuid?.() === 0) {
      const { uid, gid } = statSync(directory)
      chownSync(path, uid, gid)
    }
    return file
  } catch (error) {
    throw cannotLock(path, error)
  }
}

/** The owner may be writing its id at this very moment; then the message does without. */
function ownerOf(file: DatabaseSync): number | undefined {
  try {
    const pid = file.prepare('PRAGMA user_version').get()?.user_version
    return typeof pid === 'number' && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

const cannotLock = (path: string, error: unknown) =>
  new Error(
    `cannot lock ${path}: ${error instanceof Error ? error.message : error}; may this user write it, and its folder?`,
    { cause: error },
  )
