import { createInterface } from 'node:readline'
import { setTimeout as later } from 'node:timers/promises'
import { cases } from './cases.ts'
import type { Input, Run, Service } from './client.ts'
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
  const { command, body, batch_id: id = '' } = given
  switch (command) {
    case 'create_batch':
      return correct.createBatch(body as Input['batch'], given.idempotency_key ?? 'own')
    case 'wait':
      return correct.wait(id, given.interval_ms)
    case 'results':
      return correct.results(id)
    case 'get':
      return correct.get(id)
    case 'cancel':
      return correct.cancel(id)
    case 'list_all':
      return correct.listAll(given.teamspace_id ?? '', given.limit)
    case 'upload':
      return correct.createPage(given.name ?? '')
    case 'verify_webhook': {
      const names = Object.entries(given.headers ?? {}).map(([header, value]) => [
        header.toLowerCase(),
        value,
      ])
      const webhook = { headers: Object.fromEntries(names), body: String(body) }
      const secret = { secret: given.secret ?? '', tolerance: (given.tolerance_s ?? 0) * 1000 }
      return isGenuine(webhook, secret, (given.now_s ?? 0) * 1000)
    }
    default:
      throw new Error(`no such command: ${command}`)
  }
}

function describe(error: unknown) {
  if (error instanceof CallError)
    return { kind: error.kind, status: error.status ?? null, message: error.message }
  const { message, status } = error as { message: string; status?: number }
  if (error instanceof SyntaxError) return { kind: 'malformed', message }
  if (message === 'fetch failed' || message === 'aborted') return { kind: 'network', message }
  return { kind: status === undefined ? 'unknown' : 'server', status: status ?? null, message }
}
