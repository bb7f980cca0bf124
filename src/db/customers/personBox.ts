/** The kinds of rows that have a key of their own. */
export type KeyedEntity = 'customer' | 'payment' | 'guarantor'

/** The owner of a key: a customer, by its lender and its number, unless another entity is named. */
export interface Whose {
  readonly entity?: KeyedEntity
  readonly organizationId: number
  readonly id: bigint
}

/** Encrypts and decrypts a person's words under the key of the person. */
export interface PersonBox {
  /** Makes a key, encrypted. */
  newKey(): string
  /** Encrypts a text; the same text of the same person gives the same. */
  sealText(whose: Whose, text: string, personKey: string): string
  /** Decrypts a text. @throws WrongSecretError; Error for what is not encrypted under this key */
  openText(whose: Whose, text: string, personKey: string): string
  /** Decrypts a text; undefined for what is not encrypted under this key. @throws WrongSecretError */
  readText(whose: Whose, text: string, personKey: string): string | undefined
}

/** A pool or a connection, with the box of people; undefined: what writes and reads no person's words needs none. */
export interface Sealing {
  readonly people: PersonBox | undefined
}
