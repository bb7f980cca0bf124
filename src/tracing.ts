import { tracingWanted } from './config.ts'

// Loaded before the service (`node --import ./src/tracing.ts src/main.ts`), because what is traced has to be wrapped
// before it is first imported. Where nobody asks for traces, nothing of OpenTelemetry is loaded.
if (tracingWanted()) {
  const { startTracing } = await import('./monitor/traces.ts')
  startTracing()
}
