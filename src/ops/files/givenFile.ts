import { readFile } from 'node:fs/promises'
import { UsageError } from '../terminal/terminalIo.ts'

/** Reads a file that a command was given. @param what what the file is, for the refusal @throws UsageError */
export const readGiven = (file: string, what: string): Promise<Buffer> =>
  readFile(file).catch((error: Error) => {
    throw new UsageError(`the ${what} cannot be read: ${error.message}`)
  })

/** Reads a file of JSON that a command was given. @throws UsageError */
export async function readGivenJson(file: string, what: string): Promise<unknown> {
  const text = (await readGiven(file, what)).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`)
  }
}
