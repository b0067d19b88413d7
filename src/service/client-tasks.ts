import type { ClientTasks, TaskCall, TaskSubject } from '../core/client-tasks.ts'
import type { JsonObject } from '../core/json.ts'

/**
 * Texts with characters of two, three and four bytes, so that pieces of a stream can end inside them. Encoded, because the
 * scripts that a start loads are ASCII.
 */
const TEXTS = [
  'Br%C3%BCckenlager s%C3%BCd',
  '%E6%A9%8B%E3%81%AE%E9%89%84%E9%AA%A8',
  'Kran %F0%9F%8F%97%EF%B8%8F und Beton',
  'fa%C3%A7ade %E2%80%93 2. OG',
  'plain',
].map(decodeURIComponent)
const idOf = (n: number) => `item-${n + 1}`

const BATCH = {
  prompt: 'Read the text.',
  output_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  model: 'any-model',
  items: TEXTS.map((_, n) => ({ custom_id: idOf(n), file_id: `file-${n + 1}` })),
}

const EVENT = 'batch_prediction.completed'

const ofBatch = ({ id }: TaskSubject) => ({ batch_id: id })

/** The status of a batch and the lines of its results. */
async function resultsOf(call: TaskCall, { id }: TaskSubject) {
  const { batch } = await call('GET', `/__emulator/batches/${id}`)
  const { data } = await call('GET', `/__emulator/batches/${id}/results`)
  return { status: (batch as { readonly status: string }).status, lines: data as readonly JsonObject[] }
}

/** What the client of an adapter is asked to do with batches and with the users of a teamspace. */
export const clientTasks: ClientTasks = {
  // A batch makes progress with its polls, so that no client waits for the clock.
  pace: { 'batch.pace': { validating: 'immediate', in_progress: { polls: 2 }, finalizing: 'immediate' } },
  settings: {
    'batch.unknown_files': 'accept',
    'batch.outcomes': TEXTS.map((text, n) => ({ match: { custom_id: idOf(n) }, output: { text } })),
  },
  classes: {
    stream: ['results'],
    poll: ['wait'],
    list: ['list_all'],
    'create-with-key': ['create_batch', 'wait'],
    // Some faults need a second or third request. After an error none follows, which would look like a retry.
    read: ['get', 'get', 'get'],
    'create-without-key': ['create_batch'],
    action: ['cancel'],
    tomorrow: ['create_batch', 'get', 'list_all'],
  },
  async prepare(call, teamspace_id, first) {
    const { data } = await call('GET', `/organization/teamspaces/${teamspace_id}/users?limit=100`)
    const ids = (data as readonly { readonly id: string }[]).map(({ id }) => id)
    const { id } = first === 'create_batch' ? { id: '' } : await call('POST', '/batch-predictions', BATCH)
    if (first === 'results') await call('POST', `/__emulator/batches/${id}/complete`)
    return { id: String(id), teamspace_id, ids }
  },
  tasks: {
    get: { arguments: ofBatch, isAboutRecord: true },
    cancel: { arguments: ofBatch, isAboutRecord: true },
    results: { arguments: ofBatch, truth: resultsOf },
    // Few polls, so that giving up is not counted as polling forever.
    wait: {
      arguments: (subject) => ({ ...ofBatch(subject), interval_ms: 300, give_up_ms: 2_400 }),
      truth: resultsOf,
      isAboutRecord: true,
    },
    list_all: {
      arguments: ({ teamspace_id }) => ({ teamspace_id, limit: 5 }),
      truth: async (_, { ids }) => ({ ids }),
    },
    create_batch: { arguments: (_, key) => ({ body: BATCH, ...(key && { idempotency_key: key }) }) },
    upload: { arguments: () => ({ name: 'Certified' }) },
  },
  webhook: {
    type: EVENT,
    ref: 'batch_predictions/certified',
    sample: { object: 'batch_prediction', id: 'b1', status: 'completed' },
    async body(call) {
      const item = { file_id: 'file-invoice-1', custom_id: 'one' }
      const { id } = await call('POST', '/batch-predictions', { ...BATCH, items: [item] })
      const { batch } = await call('POST', `/__emulator/batches/${id}/complete`)
      return batch as JsonObject
    },
  },
}
