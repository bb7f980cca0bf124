import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { register } from 'node:module'
import { type ProxyTracerProvider, trace } from '@opentelemetry/api'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { FastifyInstance } from 'fastify'
import { STOPPING } from '../process/ending.ts'

/** Attributes by which a span would tell a request's path or query, old and new names: they hold customers' ids. */
const PATHS = ['http.target', 'http.url', 'url.path', 'url.query', 'url.full']
const HIDDEN = '(see http.route)'

/**
 * A span for each request and each statement, sent wherever the OTEL_* variables say. Spans tell the route and never the
 * path, statements and never their values.
 */
export function startTracing(): void {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url, { data: { include: ['pg', 'pg-pool'] } })
  const hide = Object.fromEntries(PATHS.map((name) => [name, HIDDEN]))
  const sdk = new NodeSDK({
    // Traces only: metrics are on OPS_PORT, and logs on standard output.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => isVital(request),
        // The exporter's own requests.
        disableOutgoingRequestInstrumentation: true,
        applyCustomAttributesOnSpan: (span) => void span.setAttributes(hide),
      }),
      new PgInstrumentation({ requireParentSpan: true }),
    ],
  })
  sdk.start()
  nameByRoute()
  subscribe(STOPPING, sendWhatIsLeft)
}

const SEND_EVERY_MS = 200

/** A stop goes on serving, and then ends the process: from its beginning on, spans are sent as they come. */
function sendWhatIsLeft(): void {
  const provider = (trace.getTracerProvider() as ProxyTracerProvider).getDelegate()
  const { forceFlush } = provider as { forceFlush?: () => Promise<void> }
  setInterval(() => void forceFlush?.call(provider).catch(() => undefined), SEND_EVERY_MS).unref()
}

/** Health checks every second of every load balancer. */
const isVital = ({ url = '' }: Pick<IncomingMessage, 'url'>) => url.startsWith('/health/')

/**
 * Fastify says on a channel that there is an app; from its first hook on the route is known, also of what is refused
 * before it comes to a handler. Inside, a route begins with the style's prefix.
 */
function nameByRoute(): void {
  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRequest', (request, _reply, done) => {
      const [, style = '', pattern = ''] = /^\/~(\w+)(\/.*)$/.exec(request.routeOptions.url ?? '') ?? []
      const span = trace.getActiveSpan()
      if (span !== undefined && pattern !== '') {
        span.updateName(`${request.method} ${pattern}`)
        span.setAttributes({ 'http.route': pattern, 'mkopo.style': style })
      }
      done()
    })
  })
}
