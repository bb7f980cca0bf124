import type { NamedFault } from '../../domain/errors.ts'

/** A field at fault, named as in the request. */
export interface RequestFault extends NamedFault {
  /** True when no schema has such a field. */
  readonly isUnknown?: true
}

/** A request that is not valid. The fields in `details` are named as in the request. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly details: readonly RequestFault[]

  constructor(message: string, details: readonly RequestFault[] = []) {
    super(message)
    this.details = details
  }
}
