/** The entity of the trail. */
export const RECONCILIATION = 'reconciliation'
