import type { Deps } from '../../app/deps.ts'
import { getOrganization, type Mode, type Organization } from '../lenders/organizations.ts'

/**
 * Returns the mode of the organization of a request. Reads the clock of a test organization, because another instance may
 * have moved it: the request is of the moment at which the clock stands now.
 */
export async function enterOrganization(
  deps: Pick<Deps, 'organizations' | 'testClocks'>,
  organizationId: Organization['id'],
): Promise<Mode> {
  const { mode } = await getOrganization(deps, { organizationId })
  if (mode === 'test') await deps.testClocks.refresh(organizationId)
  return mode
}
