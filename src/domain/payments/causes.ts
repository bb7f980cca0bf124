/**
 * Why money of a payment is with no loan, as it is kept and told: `{name}` stands for a value. What a loan refuses is kept in the words
 * of its refusal, and what a person notes in those of the person.
 */
export const CAUSES = {
  reference_fits_several: 'the reference fits {count} loans',
  customer_fits_several: 'the customer of the reference fits {count} loans',
  phone_fits_several: 'the phone number of the payer fits {count} loans',
  reference_in_other_currency: 'the reference fits a loan in {lent}, and the payment is in {paid}',
  customer_in_other_currency: 'the customer of the reference fits a loan in {lent}, and the payment is in {paid}',
  phone_in_other_currency: 'the phone number of the payer fits a loan in {lent}, and the payment is in {paid}',
  customer_without_loan: 'the customer of the reference fits a customer without an open loan',
  phone_without_loan: 'the phone number of the payer fits a customer without an open loan',
  no_loan: 'no loan fits the reference',
  allocation_reversed: 'its allocation was reversed',
  taken_back: 'reversed by the provider: {receipt}',
} as const

export type CauseName = keyof typeof CAUSES

type Values = Readonly<Record<string, string | number>>

/** Writes a cause with its values. */
export const causeText = (name: CauseName, values: Values = {}): string =>
  CAUSES[name].replaceAll(/\{(\w+)\}/g, (_, value: string) => String(values[value] ?? ''))

/** The name of a cause, and the values in it. */
interface ReadCause {
  readonly name: CauseName
  readonly values: Values
}

const FORMS = Object.entries(CAUSES).map(([name, text]) => {
  const form = text.replaceAll(/\{(\w+)\}/g, '(?<$1>.+)')
  return { name: name as CauseName, form: new RegExp(`^${form}$`, 's') }
})

/** Reads a cause that is kept; undefined for the words of a refusal or of a person. */
export function readCause(text: string): ReadCause | undefined {
  for (const { name, form } of FORMS) {
    const found = form.exec(text)
    if (found) return { name, values: { ...found.groups } }
  }
  return undefined
}
