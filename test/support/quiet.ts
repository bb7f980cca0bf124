import { expect } from 'vitest'

/** A log of jobs that must have no error to tell: the test fails at the first one. */
export const quiet = {
  info: () => undefined,
  error: (context: object, message: string) => expect([context, message]).toEqual([]),
}

/** A log of jobs that nobody reads. */
export const silent = { info: () => undefined, error: () => undefined }
