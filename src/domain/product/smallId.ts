/** The largest id of an organization, a product or an account, which the database holds in four bytes. */
export const LARGEST_ID = 2_147_483_647
