import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Makes a directory and those above it that are missing, as `mkdir -p` does; nothing where it is there. Node's own
 * `recursive` never returns where a directory is there and answers ENOENT to whatever is to be made in it, as /proc does.
 * @throws the system's error: EEXIST where a file is in the way, ENOENT where nothing can be made there
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<void> {
  const path = resolve(directory)
  const first = await tryToMake(path, mode)
  if (first === undefined) return
  if (first.code !== 'ENOENT' || dirname(path) === path) throw first
  await makeDirectory(dirname(path), mode)
  const second = await tryToMake(path, mode)
  if (second !== undefined) throw second
}

/** @returns why the directory is not there after the try */
async function tryToMake(path: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, { mode })
    return undefined
  } catch (error) {
    const isThere = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    )
    return isThere ? undefined : (error as NodeJS.ErrnoException)
  }
}
