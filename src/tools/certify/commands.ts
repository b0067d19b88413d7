import type { Finding } from '../../core/conduct/finding.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import { SECOND } from '../../core/time/instant.ts'
import { nextType } from '../../core/tomorrow.ts'
import { sign } from '../../core/webhooks/message.ts'
import type { CaseStage, ClientProcess } from '../client-process.ts'
import type { Case } from './programme.ts'
import { conclusionFindings } from './verdicts.ts'

/** Texts with characters of two, three and four bytes, so that pieces of a stream can end inside them. */
const TEXTS = ['Brückenlager süd', '橋の鉄骨', 'Kran 🏗️ und Beton', 'façade – 2. OG', 'plain']
const ITEMS = TEXTS.map((_, n) => ({ custom_id: `item-${n + 1}`, file_id: `file-${n + 1}` }))

/** The settings that make `TEXTS` the results of `BATCH`. */
export const OUTCOMES = {
  'batch.unknown_files': 'accept',
  'batch.outcomes': ITEMS.map(({ custom_id }, n) => ({ match: { custom_id }, output: { text: TEXTS[n] } })),
}

const BATCH = {
  prompt: 'Read the text.',
  output_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  model: 'any-model',
  items: ITEMS,
}

/** What the commands of a case are about. */
type CaseSubject = Awaited<ReturnType<typeof prepared>>

/** Creates the records that commands are about. The id of the batch is empty while the client has yet to create it. */
export async function prepared({ client, sandbox }: CaseStage, [first]: readonly string[]) {
  const [key] = sandbox.store.rows('api_keys').values() as Iterable<{ readonly teamspace_id: string }>
  const teamspace_id = key?.teamspace_id ?? ''
  const users = await client.fetch(`/organization/teamspaces/${teamspace_id}/users?limit=100`)
  const { data } = (await users.json()) as { readonly data: readonly { readonly id: string }[] }
  const subject = { teamspace_id, user_ids: data.map(({ id }) => id), batch_id: '' }
  if (first === 'create_batch') return subject
  const created = await client.fetch('/batch-predictions', { json: BATCH })
  const { id } = (await created.json()) as { readonly id: string }
  if (first === 'results') await client.batches.complete(id)
  return { ...subject, batch_id: id }
}

/** The arguments of each command. `now`: virtual milliseconds. */
const ARGUMENTS: Readonly<Record<string, (subject: CaseSubject, each: Case, now: number) => JsonObject>> = {
  get: ({ batch_id }) => ({ batch_id }),
  cancel: ({ batch_id }) => ({ batch_id }),
  results: ({ batch_id }) => ({ batch_id }),
  // Few polls, so that giving up is not counted as polling forever.
  wait: ({ batch_id }) => ({ batch_id, interval_ms: 300, give_up_ms: 2_400 }),
  list_all: ({ teamspace_id }) => ({ teamspace_id, limit: 5 }),
  create_batch: (_, { hasKey }) => ({ body: BATCH, ...(hasKey && { idempotency_key: 'order-1' }) }),
  upload: () => ({ name: 'Certified' }),
  verify_webhook: (_, { webhook, tomorrow }, now) => (webhook ? webhookOf(webhook, now, tomorrow) : {}),
}

/** The facts that the answer to a command is compared with. */
async function truthOf(name: string, { client }: CaseStage, subject: CaseSubject, { webhook }: Case) {
  if (name === 'list_all') return { ids: subject.user_ids }
  if (webhook !== undefined) return { isGenuine: !webhook.isForged && webhook.age <= TOLERANCE }
  if (name !== 'wait' && name !== 'results') return {}
  const { batch } = await client.batches.show(subject.batch_id)
  const lines = await client.batches.results(subject.batch_id)
  return { status: batch.status, lines: lines as readonly JsonObject[] }
}

/** What the client of an adapter concluded. */
export type Concluded = Awaited<ReturnType<typeof conclusions>>

/** Gives the commands to an adapter. @returns the findings, and a command that it does not support */
export async function conclusions(client: ClientProcess, stage: CaseStage, each: Case, subject: CaseSubject) {
  const { log, clock } = stage.sandbox
  let findings: readonly Finding[] = []
  let { batch_id } = subject
  for (const name of each.commands) {
    const about = { ...subject, batch_id }
    const command = { command: name, ...ARGUMENTS[name]?.(about, each, clock.due()) }
    const before = new Set(log.entries().map(({ id }) => id))
    const answer = await client.ask(command)
    if (answer === undefined && client.isLate()) break
    if (answer?.unsupported) return { findings, unsupported: name }
    const entries = log.entries().filter(({ id }) => !before.has(id))
    const truth = await truthOf(name, stage, about, each)
    findings = [...findings, ...conclusionFindings({ command, answer, entries, faults: each.faults, truth })]
    if (answer?.ok === undefined) break
    if (isObject(answer.ok) && typeof answer.ok.id === 'string') batch_id ||= answer.ok.id
    if (batch_id === '') break
  }
  return { findings, unsupported: undefined }
}

const SECRET = 'certify-secret'
const BODY = '{"object":"batch_prediction","id":"b1","status":"completed"}'

/** Seconds after which a webhook is too old. */
const TOLERANCE = 300

function webhookOf({ age, isForged }: NonNullable<Case['webhook']>, now: number, isNew?: string): JsonObject {
  const now_s = Math.floor(now / SECOND)
  const timestamp = String(now_s - age)
  const signed = isForged ? BODY.replace('completed', 'cancelled') : BODY
  const signature = `sha256=${sign(Buffer.from(`${timestamp}.${signed}`), SECRET)}`
  const type = isNew && { 'X-Emulator-Event': nextType('batch_prediction.completed') }
  const headers = { ...type, 'X-Timestamp': timestamp, 'X-Signature': signature }
  return { body: BODY, headers, secret: SECRET, tolerance_s: TOLERANCE, now_s }
}
