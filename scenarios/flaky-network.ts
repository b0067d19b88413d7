import { defineScenario } from 'agent-workspace-emulator'

// Each way in which a connection can let a client down, once per request that is sent anew: with retries and an
// Idempotency-Key a whole batch comes through, exactly once. What a draw decides depends on the seed alone.
export default defineScenario({
  description:
    'Lost responses, resets, gateways and half bodies; a client that retries with an Idempotency-Key succeeds',
  faults: [
    { preset: 'lost-response-after-commit', when: { nth: 1, by: 'idempotency_key' } },
    {
      id: 'flaky-poll',
      match: { operation: 'batch-predictions.retrieve' },
      when: { sequence: ['reset', 'pass', 'unavailable', 'pass', 'half', 'pass'] },
      actions: {
        reset: [{ cut: { at: 'before-handler', how: 'rst' } }],
        unavailable: [{ respond: { status: 503, headers: { 'Retry-After': '1' } } }],
        half: [{ cut: { at: { fraction: 0.5 }, how: 'rst' } }],
      },
    },
    { preset: 'ndjson-abort-mid-stream', when: { nth: 1, by: 'resource_id' } },
    {
      id: 'flaky-rest',
      match: { method: 'GET', path: '/v1/*' },
      when: { probability: 0.05, by: 'operation' },
      do: [{ cut: { at: 'before-head', how: 'fin' } }],
      priority: -1,
    },
  ],
})
