import type { Adapter } from './adapters/adapter.ts'
import { airtel, canonical, daraja, mtnCollection, pawapay } from './adapters/eastAfrica.ts'
import { azampay, mixxBillPay, mpesaBroker, selcom } from './adapters/tanzania.ts'

/** The adapters of the messages of providers, by name. */
export const ADAPTERS = {
  canonical,
  daraja_c2b: daraja,
  mpesa_tz_broker: mpesaBroker,
  mixx_billpay: mixxBillPay,
  airtel,
  mtn_collection: mtnCollection,
  azampay,
  selcom,
  pawapay,
} as const satisfies Readonly<Record<string, Adapter>>

export type AdapterName = keyof typeof ADAPTERS

/** Returns the adapter of a channel. */
export const adapterOf = ({ adapter }: { readonly adapter: string }): Adapter => ADAPTERS[adapter as AdapterName]
