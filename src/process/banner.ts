import { type Config, hostOf } from '../app/config.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR, DEMO_PARTNER, DEMO_SANDBOX } from '../services/lenders/seedDemo.ts'

/** A process with pages for operators; with its id where there are several. */
interface Shown {
  readonly opsOrigin: string
  readonly pid?: number | undefined
}

/** Builds the text that a start prints: where the service listens, what it serves, and a call to paste. */
export function banner(config: Config, at: string, processes: readonly Shown[]): string {
  // Where other host names are not answered, the call names the style's host in a header: the machine may not resolve
  // that name.
  const named = (url: string) => (config.fallbackStyle === 'none' ? ` -H 'Host: ${hostOf(url)}'` : '')
  const lines = [
    `Mkopo listens on ${at}${processes.length > 1 ? ` in ${processes.length} processes` : ''}`,
    '',
    `  tokens    ${config.authUrl}    ${config.authUrl}/docs`,
    `  partner   ${config.baseUrl}    ${config.baseUrl}/docs`,
    `  records   ${config.recordsUrl}    ${config.recordsUrl}/docs`,
    ...processes.map(
      ({ opsOrigin, pid }) =>
        `  operators ${opsOrigin}    ${opsOrigin}/metrics${pid === undefined ? '' : `    process ${pid}`}`,
    ),
    '',
  ]
  if (config.seedDemo)
    lines.push(
      'Demonstration accounts, with their passwords:',
      '',
      `  ${DEMO_PARTNER.email} / ${DEMO_PARTNER.password}    USER: an integrator`,
      `  ${DEMO_OPERATOR.email} / ${DEMO_OPERATOR.password}    ADMIN: an operator, at ${processes[0]?.opsOrigin} as well`,
      `  ${DEMO_AUDITOR.email} / ${DEMO_AUDITOR.password}    AUDITOR: reads everything, and changes nothing`,
      `  ${DEMO_SANDBOX.email} / ${DEMO_SANDBOX.password}    ADMIN of a test organization, whose clock can be advanced`,
      '',
      'A first call to paste:',
      '',
      `  TOKEN=$(curl -s${named(config.authUrl)} -u ${DEMO_PARTNER.email}:${DEMO_PARTNER.password} ${at}/v1/auth/token | cut -d '"' -f 4)`,
      `  curl -s${named(config.baseUrl)} -H "Authorization: Bearer $TOKEN" ${at}/v1/loan-products`,
      '',
    )
  lines.push('Ctrl-C stops it.', '', '')
  return lines.join('\n')
}
