/** Findings of a linter that are accepted. */
export interface Exception {
  /** The rule, the message and the place of a finding, as the linter says them. */
  readonly finding: RegExp
  readonly reason: string
}

/** The findings of Redocly and Spectral that are accepted. One that is found in no document any more has to go. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    finding: /^no-server-example\.com: .* #\/servers\/0\/url$/,
    reason: 'The settings name the hosts of a service. Those of the trial are local.',
  },
  {
    finding: /^no-ambiguous-paths: .*\/external\/\{externalId\}/,
    reason:
      'Integrators depend on /v1/loans/external/{externalId} beside /v1/loans/{id}. The router prefers the fixed step, and no id is the word external.',
  },
  {
    finding: /^operation-4xx-response: .* #\/paths\/~1(health~1(live|ready)|\.well-known~1jwks\.json)\/get\/responses$/,
    reason: 'The probes and the key set take no token, no parameter and no body: nothing of them can be refused.',
  },
]
