/** Exit code of a program whose output nobody reads any more, as a shell tells it: 128 and the number of SIGPIPE. */
const READER_LEFT = 141
const FAILED = 1

/** Where a program writes, and what it exits with. */
type Program = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exitCode'>

/**
 * Ends a program whose output cannot be written, in good order and as other tools end: without a word where the reader
 * has left, as in `mkopo audit | head`; with the reason on stderr where the disk is full, for one.
 * @param leave called once: nothing more needs to be written
 */
export function watchOutput(program: Program, leave: () => void): { isRead(): boolean } {
  let isRead = true
  for (const stream of [program.stdout, program.stderr])
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!isRead) return
      isRead = false
      program.exitCode = code === 'EPIPE' ? READER_LEFT : FAILED
      if (code !== 'EPIPE' && stream === program.stdout)
        program.stderr.write(`mkopo: the output cannot be written: ${message}\n`)
      leave()
    })
  return { isRead: () => isRead }
}
