import type { NamedFault } from '../../domain/errors.ts'

/** A field at fault, in the caller's own name for it. */
export interface RequestFault extends NamedFault {
  /** True of a field that nobody knows. */
  readonly isUnknown?: true
}

/** A request that does not say what it must. Its fields already bear the caller's own names. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly details: readonly RequestFault[]

  constructor(message: string, details: readonly RequestFault[] = []) {
    super(message)
    this.details = details
  }
}
