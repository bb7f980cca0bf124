/** The adapters of the messages of providers, by name. */
export const ADAPTERS = {
  canonical: {},
} as const

export type AdapterName = keyof typeof ADAPTERS
