/** The largest integer of 32 bits: the largest id of an organization, an account, a product or a version of a policy. */
export const LARGEST_INT32 = 2 ** 31 - 1

/** The largest integer of 64 bits: the largest id of a loan, an entry or a row of the trail, and the largest rate. */
export const LARGEST_INT64 = 2n ** 63n - 1n
