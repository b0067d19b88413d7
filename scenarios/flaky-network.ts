import { defineScenario } from 'agent-workspace-emulator'

// Each retry of a request meets another failure of the connection. A client that retries with an Idempotency-Key gets its
// batch created exactly once. Random decisions depend only on the seed.
export default defineScenario({
  description:
    'Lost responses, connection resets, gateway errors and half bodies; a client that retries with an Idempotency-Key succeeds',
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
