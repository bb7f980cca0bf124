import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { Declined } from '../terminal/terminalIo.ts'

/** A file that gets its name when it is complete; only its owner may read it. */
export interface PartFile {
  append(content: string | Uint8Array): Promise<void>
  /** Gives the file its name, once all of it is on the disk. */
  finish(): Promise<void>
  /** Deletes what was written. */
  abandon(): Promise<void>
}

/** Begins a file. @throws Declined where its beginning is there already, of a run that was ended */
export async function beginFile(path: string): Promise<PartFile> {
  const part = `${path}.part`
  const file: FileHandle = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Declined(`${part} is there already: name another folder`) : error
  })
  return {
    append: (content) => file.appendFile(content),
    async finish() {
      await file.sync()
      await file.close()
      await rename(part, path)
    },
    async abandon() {
      await file.close()
      await rm(part, { force: true })
    },
  }
}
