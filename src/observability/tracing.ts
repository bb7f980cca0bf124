import { tracingWanted } from '../app/config.ts'

// Loaded before the service (`node --import ./src/observability/tracing.ts src/app/main.ts`), because what is traced has to be wrapped
// before it is first imported. Where nobody asks for traces, nothing of OpenTelemetry is loaded.
if (tracingWanted()) {
  const { startTracing } = await import('./traces.ts')
  startTracing()
}
