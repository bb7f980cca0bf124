/** The errors that jobs told the log `quiet`. The file in which one does fails at its end, after its jobs were stopped. */
export const toldErrors: string[] = []

/** A log of jobs that must have no error to tell. */
export const quiet = {
  info: () => undefined,
  error(context: object, message: string): void {
    const cause = 'err' in context ? `: ${context.err}` : ''
    toldErrors.push(message + cause)
  },
}

/** A log of jobs that nobody reads. */
export const silent = { info: () => undefined, error: () => undefined }
