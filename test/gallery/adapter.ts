import { createInterface } from 'node:readline'
import { setTimeout as later } from 'node:timers/promises'
import { cases } from './cases.ts'
import { callsOf, type Input, type Run, type Service } from './client.ts'
import { CallError, CorrectClient, isGenuine } from './correct.ts'

// An adapter for `workspace-emulator certify --adapter`: the correct client. With the argument `broken`, one call is that of the
// client of the gallery which the case is about.

interface Command {
  readonly command: string
  readonly body?: Input['batch']
  readonly idempotency_key?: string
  readonly batch_id?: string
  readonly teamspace_id?: string
  readonly limit?: number
  readonly interval_ms?: number
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly secret?: string
  readonly tolerance_s?: number
  readonly now_s?: number
}

const {
  WORKSPACE_BASE_URL: baseUrl = '',
  WORKSPACE_API_KEY: apiKey = '',
  WORKSPACE_CERTIFY_TIMEOUT_MS = '2000',
} = process.env
const service: Service = {
  baseUrl,
  apiKey,
  ...callsOf({ baseUrl, apiKey }),
  sleep: (ms) => later(ms),
  now: Date.now,
  random: Math.random,
  timeout: Number(WORKSPACE_CERTIFY_TIMEOUT_MS),
}
const correct = new CorrectClient(service)
const about = cases.find(({ certified }) => certified === process.env.WORKSPACE_CERTIFY_CASE)
const isBroken = process.argv[2] === 'broken' && about !== undefined
const broken = isBroken ? ((await import(`./clients/${about.name}.ts`)) as { run: Run }).run : undefined

/** The batches of the programme, as the program that has created them knows them. */
const known: Input['batch'] = {
  prompt: 'Read the text.',
  output_schema: { type: 'object' },
  model: 'any-model',
  items: [1, 2, 3, 4, 5].map((n) => ({ custom_id: `item-${n}`, file_id: `file-${n}` })),
}

const calls: Readonly<Record<string, (given: Command) => unknown>> = {
  create_batch: ({ body = known, idempotency_key = 'own' }) => correct.createBatch(body, idempotency_key),
  wait: ({ batch_id = '', interval_ms }) => correct.wait(batch_id, interval_ms),
  results: ({ batch_id = '' }) => correct.results(batch_id),
  get: ({ batch_id = '' }) => correct.get(batch_id),
  cancel: ({ batch_id = '' }) => correct.cancel(batch_id),
  list_all: ({ teamspace_id = '', limit }) => correct.listAll(teamspace_id, limit),
  upload: ({ name = '' }) => correct.createPage(name),
  verify_webhook: verified,
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command
  const call =
    broken !== undefined && command.command === about?.call ? viaBroken(broken, command) : viaCorrect(command)
  const answer = await call.then(
    (ok) => ({ ok }),
    (error: unknown) => ({ error: describe(error) }),
  )
  console.log(JSON.stringify(answer))
}

function viaBroken(
  run: Run,
  { body, idempotency_key: key = '', batch_id: id = '' }: Command,
): Promise<unknown> {
  return run(service, { name: 'Certified', batch: body ?? known, key, id })
}

async function viaCorrect(given: Command): Promise<unknown> {
  const call = calls[given.command]
  if (call === undefined) throw new Error(`no such command: ${given.command}`)
  return call(given)
}

function verified({ headers = {}, body, secret = '', tolerance_s = 0, now_s = 0 }: Command): boolean {
  const names = Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value])
  const webhook = { headers: Object.fromEntries(names), body: String(body) }
  return isGenuine(webhook, { secret, tolerance: tolerance_s * 1000 }, now_s * 1000)
}

function describe(error: unknown) {
  if (error instanceof CallError)
    return { kind: error.kind, status: error.status ?? null, message: error.message }
  const { message, status } = error as { message: string; status?: number }
  if (error instanceof SyntaxError) return { kind: 'malformed', message }
  if (message === 'fetch failed' || message === 'aborted') return { kind: 'network', message }
  return { kind: status === undefined ? 'unknown' : 'server', status: status ?? null, message }
}
