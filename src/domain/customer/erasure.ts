/** Returns the name of a customer who was erased, in place of the externalId. */
export const pseudonymOf = (customerId: bigint): string => `erased-${customerId}`
