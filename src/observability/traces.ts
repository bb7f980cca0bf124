import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { type ProxyTracerProvider, trace } from '@opentelemetry/api'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { FastifyInstance } from 'fastify'
import { STOPPING } from '../process/ending.ts'

/** Attributes, by old and new names, that hold a request's path or query and so customers' ids. */
const PATHS = ['http.target', 'http.url', 'url.path', 'url.query', 'url.full']
const HIDDEN = '(see http.route)'

/**
 * Starts traces: a span for each request and each statement, sent to the address of the OTEL_* variables. A span holds
 * the route and not the path, the statement and not its values.
 */
export function startTracing(): void {
  const hide = Object.fromEntries(PATHS.map((name) => [name, HIDDEN]))
  const sdk = new NodeSDK({
    // Traces only: metrics are on OPS_PORT, and logs on standard output.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => isVital(request),
        // The exporter's own requests are not traced.
        disableOutgoingRequestInstrumentation: true,
        applyCustomAttributesOnSpan: (span) => void span.setAttributes(hide),
      }),
      new PgInstrumentation({ requireParentSpan: true }),
    ],
  })
  sdk.start()
  // What is required is wrapped as it is loaded, and every later import finds it so.
  createRequire(import.meta.url)('pg')
  nameByRoute()
  subscribe(STOPPING, flushFromNowOn)
}

const SEND_EVERY_MS = 200

/** Sends spans at once from the beginning of a stop: a stop serves on for a while, and then ends the process. */
function flushFromNowOn(): void {
  const provider = (trace.getTracerProvider() as ProxyTracerProvider).getDelegate()
  const { forceFlush } = provider as { forceFlush?: () => Promise<void> }
  setInterval(() => void forceFlush?.call(provider).catch(() => undefined), SEND_EVERY_MS).unref()
}

/** Returns whether a request is a health check: every load balancer sends one every second. */
const isVital = ({ url = '' }: Pick<IncomingMessage, 'url'>) => url.startsWith('/health/')

/**
 * Sets the route of a span. Fastify announces an app on a channel; from its first hook on the route is known, also of a
 * request that is refused before its handler. Inside, a route begins with the style's prefix.
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
