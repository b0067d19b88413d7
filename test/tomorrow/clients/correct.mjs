// The correct client of the gallery.
import { CorrectClient } from '../../gallery/correct.ts'
import { BATCH, checkedCalls, report, TEAMSPACE } from './calls.mjs'

const { WORKSPACE_BASE_URL: baseUrl, WORKSPACE_API_KEY: apiKey } = process.env
const host = { sleep: async () => {}, now: Date.now, random: Math.random, timeout: 5_000 }
const client = new CorrectClient({ baseUrl, apiKey, ...host })

// It has no other calls.
const plain = checkedCalls((_, body) => {
  if (typeof (body.id ?? body.data) === 'undefined') throw new Error('neither a record nor a list')
})
await report({
  ...plain,
  'pages.create': () => client.createPage('Plan'),
  'teamspace-users.list': () => client.listAll(TEAMSPACE),
  'data-views.list': () => client.listDataViews(),
  'batch-predictions.create': () => client.createBatch(BATCH, 'order-1'),
  'batch-predictions.retrieve': ({ id }) => client.get(id),
})
