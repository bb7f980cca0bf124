import { invariant } from '../../domain/errors.ts'

/** Holds the claims of a token, by name. */
export type Claims = Readonly<Record<string, unknown>>

/** Signs tokens and verifies their signatures, with the key that is given for each. */
export interface TokenSigner {
  /** A token of these claims, whose header names the key. */
  sign(claims: Claims, key: { readonly kid: string; readonly privatePem: string }): string
  /**
   * The `kid` in the header of a token, as it stands there.
   * @throws Error for what is no token, or names another algorithm than ours
   */
  keyIdOf(token: string): unknown
  /**
   * The claims of a token that the key signed, for our issuer. The caller checks when it expires.
   * @throws Error for every other
   */
  verify(token: string, publicPem: string): Claims
}

/** Keeps the signer: the auth host brings it when it is mounted, and what needs it is made before that. */
export interface SignerPlace {
  /** Puts a signer there, in place of the one before. */
  mount(signer: TokenSigner): void
  /** The signer; it has to be there. */
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
