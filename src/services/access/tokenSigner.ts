import { invariant } from '../../domain/errors.ts'

/** Holds the claims of a token, by name. */
export type Claims = Readonly<Record<string, unknown>>

/** Signs tokens and verifies their signatures, with the key that is given for each. */
export interface TokenSigner {
  /** Returns a token of the claims, whose header names the key. */
  sign(claims: Claims, key: { readonly kid: string; readonly privatePem: string }): string
  /**
   * Returns the `kid` in the header of a token, unchecked.
   * @throws Error for a text that is not a token, or has another algorithm than ours
   */
  keyIdOf(token: string): unknown
  /**
   * Returns the claims of a token that the key signed, for our issuer. The caller checks when the token expires.
   * @throws Error for every other token
   */
  verify(token: string, publicPem: string): Claims
}

/** Holds the signer: the auth host mounts it after the services that need it were made. */
export interface SignerPlace {
  /** Sets the signer, in place of an earlier one. */
  mount(signer: TokenSigner): void
  /** Returns the signer, which must have been mounted. */
  mounted(): TokenSigner
}

/** Returns a place that has no signer yet. */
export function signerPlace(): SignerPlace {
  let signer: TokenSigner | undefined
  return {
    mount: (given) => {
      signer = given
    },
    mounted: () => {
      invariant(signer, 'an auth host that signs and verifies tokens')
      return signer
    },
  }
}
