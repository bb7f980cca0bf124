import { tracingWanted } from '../app/config.ts'

// Loaded before the service (`node --import ./src/observability/tracing.ts src/app/main.ts`), because a module has to
// be wrapped before its first import. When no traces are asked for, nothing of OpenTelemetry is loaded.
if (tracingWanted()) {
  const { startTracing } = await import('./traces.ts')
  startTracing()
}
