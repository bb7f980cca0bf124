import type { Deps } from '../../deps.ts'
import { getBorrower } from '../../services/borrowers.ts'
import { cannotSayAgain, type SayAgain } from '../idempotency.ts'
import { toBorrower } from './borrowers.wire.ts'
import { toItem } from './registry.ts'

/** What was changed under an Idempotency-Key, as it is now, in the words of the record style. */
export const sayAgain =
  (deps: Deps): SayAgain =>
  async (caller, { entity, entityId }) => {
    if (entityId === null) return cannotSayAgain()
    if (entity === 'customer') return toItem(toBorrower(await getBorrower(deps, caller, entityId), deps.config.zone))
    return cannotSayAgain()
  }
