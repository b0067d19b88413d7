import { defineScenario } from 'agent-workspace-emulator'

// A busy afternoon in one teamspace. Creating meets each admission policy once and then goes through; of the polls every
// other one is refused, four times, each time with another Retry-After. A client that waits as it is told, or backs off by
// itself where it is told nothing, gets through with at most four retries of one request.
export default defineScenario({
  description:
    'Creations meet every admission policy, and four polls a 429 that tells its wait in another way each',
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
