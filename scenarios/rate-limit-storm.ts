import { defineScenario } from 'agent-workspace-emulator'

// Creating a batch is refused by each of the four admission policies once, and then succeeds. Every second poll is refused,
// four times, each time with another Retry-After. A client that respects Retry-After, or backs off when the header is
// missing, succeeds with at most four retries of one request.
export default defineScenario({
  description:
    'Creations reach the limit of every admission policy, and four polls get a 429, each with a different Retry-After',
  faults: [
    {
      id: 'storm-create',
      match: { operation: 'batch-predictions.create' },
      when: { sequence: ['concurrency', 'items', 'rate', 'capacity', 'pass'] },
      actions: {
        concurrency: [
          {
            quota: {
              reject: true,
              limit: 5,
              remaining: 0,
              reset_in_s: 1,
              policy: 'org-concurrency',
              fields: 'both',
            },
          },
        ],
        items: [
          {
            quota: {
              reject: true,
              limit: 10000,
              remaining: 0,
              reset_in_s: 1,
              policy: 'org-enqueued-items',
              fields: 'both',
            },
          },
        ],
        rate: [
          {
            quota: {
              reject: true,
              limit: 10,
              remaining: 0,
              reset_in_s: 1,
              window_s: 60,
              policy: 'org-create-rate',
              fields: 'both',
            },
          },
        ],
        capacity: [
          {
            quota: {
              reject: true,
              limit: 100,
              remaining: 0,
              reset_in_s: 1,
              policy: 'global-capacity',
              fields: 'both',
            },
          },
        ],
      },
    },
    {
      id: 'storm-poll',
      match: { operation: 'batch-predictions.retrieve' },
      when: { sequence: ['pass', 'seconds', 'pass', 'date', 'pass', 'missing', 'pass', 'zero', 'pass'] },
      actions: {
        seconds: [{ quota: { reject: true, remaining: 0, reset_in_s: 1 } }],
        date: [{ quota: { reject: true, remaining: 0, reset_in_s: 1, retry_after: 'http-date' } }],
        missing: [{ quota: { reject: true, remaining: 0, reset_in_s: 1, retry_after: 'missing' } }],
        zero: [{ quota: { reject: true, remaining: 0, reset_in_s: 0 } }],
      },
    },
  ],
})
