import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { DEMO_PARTNER } from './services/demo.ts'

/** What a newcomer needs first: where the service listens, what it serves there, and a call to paste. */
export function banner(config: Config, app: FastifyInstance, monitor: FastifyInstance): string {
  const at = app.listeningOrigin
  const lines = [
    `Mkopo listens on ${at}`,
    '',
    `  tokens    ${config.authUrl}    ${config.authUrl}/docs`,
    `  partner   ${config.baseUrl}    ${config.baseUrl}/docs`,
    `  records   ${config.recordsUrl}    ${config.recordsUrl}/docs`,
    `  operators ${monitor.listeningOrigin}    ${monitor.listeningOrigin}/metrics`,
    '',
  ]
  if (config.seedDemo)
    lines.push(
      `Demonstration account: ${DEMO_PARTNER.email} with the password ${DEMO_PARTNER.password}. A first call to paste:`,
      '',
      `  TOKEN=$(curl -s -u ${DEMO_PARTNER.email}:${DEMO_PARTNER.password} ${at}/v1/auth/token | cut -d '"' -f 4)`,
      `  curl -s -H "Authorization: Bearer $TOKEN" ${at}/v1/loan-products`,
      '',
    )
  lines.push('Ctrl-C stops it.', '', '')
  return lines.join('\n')
}
