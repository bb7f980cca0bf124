/** Exit code of a program whose output has no reader any more, as shells report it: 128 and the number of SIGPIPE. */
const READER_LEFT = 141
const FAILED = 1

/** The output and the exit code of a program. */
type Program = Pick<NodeJS.Process, 'stdout' | 'stderr' | 'exitCode'>

/**
 * Ends a program in good order when its output cannot be written: silently when the reader has gone, as in `mkopo audit
 * | head`; with the reason on stderr otherwise, for instance when the disk is full.
 * @param leave called once, when nothing more needs to be written
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
