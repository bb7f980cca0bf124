import type { FieldFault } from '../domain/errors.ts'

/** A request that does not say what it must. Its fields already bear the caller's own names. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest'
  readonly details: readonly FieldFault[]

  constructor(message: string, details: readonly FieldFault[] = []) {
    super(message)
    this.details = details
  }
}
