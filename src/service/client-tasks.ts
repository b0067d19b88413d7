import type { JsonObject } from '../core/json.ts'

/** Texts with characters of two, three and four bytes, so that pieces of a stream can end inside them. */
const TEXTS = ['Brückenlager süd', '橋の鉄骨', 'Kran 🏗️ und Beton', 'façade – 2. OG', 'plain']
const ITEMS = TEXTS.map((_, n) => ({ custom_id: `item-${n + 1}`, file_id: `file-${n + 1}` }))

const BATCH = {
  prompt: 'Read the text.',
  output_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  model: 'any-model',
  items: ITEMS,
}

/** A batch makes progress with its polls, so that no client waits for the clock. */
export const PACE = {
  'batch.pace': { validating: 'immediate', in_progress: { polls: 2 }, finalizing: 'immediate' },
}

/** The settings that make `TEXTS` the results of `BATCH`. */
export const OUTCOMES = {
  'batch.unknown_files': 'accept',
  'batch.outcomes': ITEMS.map(({ custom_id }, n) => ({ match: { custom_id }, output: { text: TEXTS[n] } })),
}

/** The commands for each class of operations, in order, as long as the calls succeed. */
export const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  stream: ['results'],
  poll: ['wait'],
  list: ['list_all'],
  'create-with-key': ['create_batch', 'wait'],
  // Some faults need a second or third request. After an error none follows, which would look like a retry.
  read: ['get', 'get', 'get'],
  'create-without-key': ['create_batch'],
  action: ['cancel'],
  tomorrow: ['create_batch', 'get', 'list_all'],
}

/** The part of a sandbox's client that prepares and checks the tasks. */
interface TaskSandbox {
  readonly fetch: (path: string, init?: { readonly json?: unknown }) => Promise<Response>
  readonly batches: {
    readonly show: (id: string) => Promise<{ readonly batch: { readonly status: string } }>
    readonly results: (id: string) => Promise<readonly object[]>
    readonly complete: (id: string) => Promise<{ readonly batch: object }>
  }
}

/** What the commands of one case are about. */
export type TaskSubject = Awaited<ReturnType<typeof prepareTasks>>

/** Creates the records that commands are about. The id is empty while the client has yet to create the batch. */
export async function prepareTasks(sandbox: TaskSandbox, teamspace_id: string, first: string | undefined) {
  const users = await sandbox.fetch(`/organization/teamspaces/${teamspace_id}/users?limit=100`)
  const { data } = (await users.json()) as { readonly data: readonly { readonly id: string }[] }
  const subject = { teamspace_id, ids: data.map(({ id }) => id), id: '' }
  if (first === 'create_batch') return subject
  const id = await created(sandbox, BATCH)
  if (first === 'results') await sandbox.batches.complete(id)
  return { ...subject, id }
}

async function created({ fetch }: TaskSandbox, json: object): Promise<string> {
  const response = await fetch('/batch-predictions', { json })
  return ((await response.json()) as { readonly id: string }).id
}

/** One command: its arguments, and the facts that its answer is compared with. */
interface Task {
  readonly arguments: (subject: TaskSubject, key: string | undefined) => JsonObject
  readonly truth?: (sandbox: TaskSandbox, subject: TaskSubject) => TaskTruth | Promise<TaskTruth>
}

/** The record, the status and the result lines of a job; the ids of a list. Absent: not compared. */
export interface TaskTruth {
  readonly id?: string
  readonly status?: string
  readonly lines?: readonly JsonObject[]
  readonly ids?: readonly string[]
}

const ofBatch = ({ id }: TaskSubject) => ({ batch_id: id })

async function resultsOf({ batches }: TaskSandbox, { id }: TaskSubject) {
  const { status } = (await batches.show(id)).batch
  return { status, lines: (await batches.results(id)) as readonly JsonObject[] }
}

/** What the client of an adapter is asked to do with batches and with the users of a teamspace, by command. */
export const TASKS: Readonly<Record<string, Task>> = {
  get: { arguments: ofBatch, truth: (_, { id }) => ({ id }) },
  cancel: { arguments: ofBatch, truth: (_, { id }) => ({ id }) },
  results: { arguments: ofBatch, truth: resultsOf },
  wait: {
    // Few polls, so that giving up is not counted as polling forever.
    arguments: (subject) => ({ ...ofBatch(subject), interval_ms: 300, give_up_ms: 2_400 }),
    truth: async (sandbox, subject) => ({ ...(await resultsOf(sandbox, subject)), id: subject.id }),
  },
  list_all: {
    arguments: ({ teamspace_id }) => ({ teamspace_id, limit: 5 }),
    truth: (_, { ids }) => ({ ids }),
  },
  create_batch: { arguments: (_, key) => ({ body: BATCH, ...(key && { idempotency_key: key }) }) },
  upload: { arguments: () => ({ name: 'Certified' }) },
}

/** The webhook that receivers are judged with: its type, `collection/id` of its record, and a short body. */
export const WEBHOOK = {
  type: 'batch_prediction.completed',
  ref: 'batch_predictions/certified',
  sample: { object: 'batch_prediction', id: 'b1', status: 'completed' },
}

/** A batch as a webhook contains it. */
export async function finishedBatch(sandbox: TaskSandbox): Promise<JsonObject> {
  const id = await created(sandbox, { ...BATCH, items: [{ file_id: 'file-invoice-1', custom_id: 'one' }] })
  return (await sandbox.batches.complete(id)).batch as JsonObject
}
