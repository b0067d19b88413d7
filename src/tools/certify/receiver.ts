import { randomBytes } from 'node:crypto'
import { type AddressInfo, connect as connectTo, createServer } from 'node:net'
import { scheduler } from 'node:timers/promises'
import { sender } from '../../adapters/webhooks/send.ts'
import { Targets, type WebhookTarget } from '../../adapters/webhooks/targets.ts'
import type { JsonObject } from '../../core/json.ts'
import { elapsedTime, hostTime } from '../../core/time/clock.ts'
import { formatInstant, MINUTE, SECOND } from '../../core/time/instant.ts'
import type { AttemptResult } from '../../core/webhooks/delivery.ts'
import { type WebhookRequest, webhookRequest } from '../../core/webhooks/message.ts'
import { scheme, signature } from '../../core/webhooks/settings.ts'
import { openEmulator, type RunningEmulator } from '../../emulator/emulator.ts'
import { connect } from '../../index.ts'
import { finishedBatch, WEBHOOK } from '../../service/client-tasks.ts'
import { CommandFailed, commandAfterDashes, type Invocation } from '../../terminal/command.ts'
import { requireJsonFile } from '../../terminal/json-files.ts'
import { startFailure } from '../../terminal/launch.ts'
import { flagOf, isNpmScript, UsageError } from '../../terminal/options.ts'
import { EXIT_CODES, onSignals } from '../../terminal/signals.ts'
import { writeText } from '../../terminal/text-file.ts'
import { type ClientProcess, repeatCommand, startClient } from '../client-process.ts'
import { CERTIFY_OPTIONS } from '../options.ts'
import { type CaseResult, cardOf, caseLines, exitCodeOf, junitOf, totalLine } from './card.ts'
import { selected } from './programme.ts'

/** Real time for the response to one webhook, for a receiver to start, and for the whole run. */
const [LIMIT, START_LIMIT, MAX_RUN] = [10 * SECOND, 30 * SECOND, 30 * MINUTE]

/** How much older or newer than now a timestamp is that a receiver must refuse. */
const AWAY = 15 * MINUTE

const PARALLEL = 30

/** How one webhook differs from a valid one. */
interface Difference {
  readonly secrets?: readonly string[]
  /** Milliseconds from now. */
  readonly at?: number
  readonly type?: string
  readonly id?: string
  readonly change?: (request: WebhookRequest) => WebhookRequest
}

/** One test of a receiver. */
interface Vector {
  readonly name: string
  /** Whether each of its webhooks must be accepted with 2xx, or refused with 4xx. */
  readonly isValid: boolean
  /** A setting, or an option, without which it cannot be tested. */
  readonly needs?: keyof typeof MISSING
  readonly sends: readonly Difference[]
}

const MISSING = {
  timestamp: 'webhooks.signature has no timestamp_header',
  rotation: 'only the setting webhooks.scheme: standard has several signatures',
  count: 'only the receiver knows its effects: give --count',
}

function vectorsOf(secret: string, header: string): readonly Vector[] {
  const changed = (of: (headers: WebhookRequest['headers']) => WebhookRequest['headers']) => ({
    change: (request: WebhookRequest) => ({ ...request, headers: of(request.headers) }),
  })
  const forged = changed((headers) => ({ ...headers, [header]: withOtherDigit(headers[header]) }))
  const unsigned = changed(({ [header]: _, ...headers }) => headers)
  return [
    { name: 'valid', isValid: true, sends: [{}] },
    { name: 'wrong-signature', isValid: false, sends: [forged] },
    { name: 'wrong-secret', isValid: false, sends: [{ secrets: [another(secret)] }] },
    { name: 'changed-body', isValid: false, sends: [{ change: withChangedBody }] },
    { name: 'missing-header', isValid: false, sends: [unsigned] },
    { name: 'old-timestamp', isValid: false, needs: 'timestamp', sends: [{ at: -AWAY }] },
    { name: 'future-timestamp', isValid: false, needs: 'timestamp', sends: [{ at: AWAY }] },
    {
      name: 'both-secrets',
      isValid: true,
      needs: 'rotation',
      sends: [{ secrets: [another(secret), secret] }],
    },
    { name: 'unknown-type', isValid: true, sends: [{ type: WEBHOOK.type.replace(/[^.]*$/, 'unknown') }] },
    { name: 'thirty-at-once', isValid: true, sends: Array.from({ length: PARALLEL }, () => ({})) },
    { name: 'same-id-twice', isValid: true, needs: 'count', sends: [{ id: TWICE }, { id: TWICE }] },
  ]
}

const TWICE = 'certify-twice'

/** A secret of the same form. */
function another(secret: string): string {
  const bytes = randomBytes(24)
  return secret.startsWith('whsec_') ? `whsec_${bytes.toString('base64')}` : bytes.toString('hex')
}

/** A signature of the same form: the first digit of its digest is another one. */
function withOtherDigit(value = ''): string {
  const [digest = ''] = /[\w+/=]{32,64}$/.exec(value) ?? []
  return value.slice(0, -digest.length) + (digest.startsWith('a') ? 'b' : 'a') + digest.slice(1)
}

// As long as before, so that only the signature shows it.
function withChangedBody({ body, ...rest }: WebhookRequest): WebhookRequest {
  return { ...rest, body: Buffer.from(body.toString().replace('completed', 'cancelled')) }
}

/** What all vectors of a run have in common. */
interface Run extends Invocation<typeof CERTIFY_OPTIONS> {
  readonly emulator: RunningEmulator
  readonly url: string
  readonly secret: string
  readonly command: readonly string[]
  /** Where it reports the number of its effects. */
  readonly countUrl: string | undefined
  /** The object in each webhook. */
  readonly body: JsonObject
}

/** Tests a receiver of webhooks: sends it valid ones and others, and judges its responses. Resolves with the exit code. */
export async function certifyReceiver(invocation: Invocation<typeof CERTIFY_OPTIONS>): Promise<number> {
  const { options, given, args, env } = invocation
  const [unused] = (['adapter', 'clients', 'retries', 'skipFrom'] as const).filter((name) => given.has(name))
  if (unused !== undefined)
    throw new UsageError([`--receiver tests a receiver, not a client: leave out ${flagOf(unused)}.`])
  const command = args.length === 0 ? [] : commandAfterDashes('certify', invocation)
  if (command.length === 0 && options.receiverSecret === undefined)
    throw new UsageError([
      'The secret of the receiver is missing. Give it with --secret, or start the receiver by a command after --, which gets it as WORKSPACE_WEBHOOK_SECRET.',
    ])
  const port = command.length === 0 ? '' : String(await freePort())
  const filled = (text: string) => text.replaceAll('{port}', port)
  const url = filled(options.receiver ?? '')
  const target = await targetOf(url, 'receiver')
  const countUrl = options.countUrl && filled(options.countUrl)
  if (countUrl !== undefined) await targetOf(countUrl, 'count')
  const emulator = await opened(options.settings)
  const isStandard = emulator.sandbox.settings.get(scheme) === 'standard'
  const secret = options.receiverSecret ?? another(isStandard ? 'whsec_' : '')
  // Child processes end with this one.
  const stopListening = onSignals((signal) => process.exit(EXIT_CODES[signal]), isNpmScript(env))
  const variables = { ...env, WORKSPACE_WEBHOOK_SECRET: secret }
  const receiver =
    command.length === 0 ? undefined : startClient(command.map(filled), variables, MAX_RUN, 'kept')
  try {
    if (!(await listens(target, receiver))) {
      const said = (await receiver?.end())?.output.trim().split('\n').at(-1) ?? ''
      const cause = receiver === undefined ? 'Start the receiver' : 'The command must start it there'
      throw new CommandFailed(
        `Nothing listens at ${url}. ${cause}, and give its address as --receiver http://127.0.0.1:PORT/PATH.${said && ` The command said: ${said}`}`,
      )
    }
    const body = await finishedBatch(connect(emulator.url).defaultSandbox)
    return await judged({
      ...invocation,
      emulator,
      url,
      secret,
      command,
      body,
      countUrl,
    })
  } finally {
    await receiver?.end()
    await emulator.close()
    stopListening()
  }
}

async function judged(run: Run): Promise<number> {
  const { options, terminal, secret, url } = run
  const { settings } = run.emulator.sandbox
  const isStandard = settings.get(scheme) === 'standard'
  const general = settings.get(signature)
  const header = isStandard ? 'webhook-signature' : (general?.header ?? 'X-Emulator-Signature')
  const has = {
    timestamp: isStandard || general?.timestamp_header !== undefined,
    rotation: isStandard,
    count: run.countUrl !== undefined,
  }
  const all = vectorsOf(secret, header).map((each) => ({ ...each, name: `receiver/${each.name}` }))
  const vectors = selected(all, options.run)
  const width = vectors.reduce((most, { name }) => Math.max(most, name.length), 0)
  const began = elapsedTime()
  const results: CaseResult[] = []
  for (const vector of vectors) {
    const start = elapsedTime()
    const missing = vector.needs !== undefined && !has[vector.needs] ? MISSING[vector.needs] : undefined
    const outcome =
      missing === undefined ? await outcomeOf(vector, run) : ({ result: 'skipped', reason: missing } as const)
    const { receiver, settings: file, countUrl } = CERTIFY_OPTIONS
    const facts = {
      case: vector.name,
      class: 'receiver',
      faults: [],
      exit_code: null,
      sent: [],
      stderr: '',
      reason: null,
    }
    const repeat = repeatCommand('certify', run, { receiver, settings: file, countUrl }, vector.name)
    const result = { ...facts, findings: [], ...outcome, ms: Math.round(elapsedTime() - start), repeat }
    results.push(result)
    if (!options.json) terminal.lines(caseLines(result, width))
  }
  const card = cardOf(has.count ? 'B' : 'A', results)
  terminal.out(options.json ? JSON.stringify(card) : totalLine(card, elapsedTime() - began))
  if (options.junit !== undefined) writeText(options.junit, junitOf(card, url))
  return exitCodeOf(card)
}

type Outcome = Pick<CaseResult, 'result' | 'findings'> & { readonly reason?: string }

async function outcomeOf(vector: Vector, run: Run): Promise<Outcome> {
  const before = vector.needs === 'count' ? await countAt(run) : 0
  const results = await Promise.all(
    vector.sends.map((difference, n) => sent(difference, `${vector.name}-${n}`, run)),
  )
  const lost = results.find(({ status, outcome }) => status === null && outcome !== 'timeout')
  if (lost !== undefined) return { result: 'not_reached', findings: [], reason: `no response: ${lost.error}` }
  const bad = results.find(({ status, outcome }) =>
    vector.isValid ? outcome !== 'delivered' : outcome === 'timeout' || !isRefusal(status),
  )
  if (bad !== undefined) return failure(vector, bad)
  const effects = vector.needs === 'count' ? (await countAt(run)) - before : 1
  if (effects === 1) return { result: 'passed', findings: [] }
  return found('webhook.repeated', {
    message: `The same webhook arrived twice, and the receiver counts ${effects} effects.`,
    fix: 'Store the id of each delivery, and ignore one that has been handled.',
  })
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500
}

function failure({ isValid, name }: Vector, { status, outcome, error }: AttemptResult): Outcome {
  if (outcome === 'timeout')
    return found('webhook.slow', {
      message: `The receiver did not respond in time: ${error}.`,
      fix: 'Respond first, and do the work afterwards.',
    })
  if (isValid)
    return found('webhook.failing', {
      message: `The receiver responded with ${status} to a webhook that is valid.`,
      fix: name.endsWith('unknown-type')
        ? 'Respond with 2xx to types that you do not know, and ignore them.'
        : 'Compute the HMAC over the bytes of the body as they arrived, before any parser, and compare it with each signature.',
    })
  return found('webhook.unverified', {
    message: `The receiver responded with ${status} to a webhook that it must refuse.`,
    fix:
      status !== null && status >= 500
        ? 'Refuse it with 401 or 400: with 5xx it is sent again, and hides that it was forged.'
        : 'Compare the signature with your own over the raw body, check its time, and respond with 401 if either is wrong.',
  })
}

function found(code: string, { message, fix }: { readonly message: string; readonly fix: string }): Outcome {
  const facts = { severity: 'error', requests: [], evidence: {}, section: 'Events' } as const
  return { result: 'failed', findings: [{ code, message, fix, ...facts }] }
}

const SEND = sender(new Targets({ allowed: new Set(), forbiddenPorts: () => [] }))

function sent(
  { secrets, at = 0, type, id, change }: Difference,
  usual: string,
  run: Run,
): Promise<AttemptResult> {
  const { body, url, secret, emulator, given, options } = run
  const now = hostTime() + at
  const attempt = { attempt: 1, at: formatInstant(now), outcome: null, status: null, error: null }
  const request = webhookRequest(
    {
      ...{ id: id ?? usual.replace('/', '-'), webhook_id: null, url, body, caused_by: 'certify' },
      ...{
        type: type ?? WEBHOOK.type,
        ref: WEBHOOK.ref,
        created_at: attempt.at,
      },
      ...{ status: 'sending', attempts: [attempt], retries: 0, retry_at: null, faults: null },
    },
    { settings: emulator.sandbox.settings, secrets: secrets ?? [secret], host: () => now },
  )
  const timeout = given.has('timeout') ? options.timeout : LIMIT
  const bounds = { timeout, signal: new AbortController().signal, inboxStatus: 200, attempt: usual }
  return SEND(change?.(request) ?? request, bounds)
}

/** The number of effects that the receiver reports. Throws {@link CommandFailed} when it reports none. */
async function countAt({ countUrl = '' }: Run): Promise<number> {
  const response = await fetch(countUrl, { redirect: 'error' }).catch(() => undefined)
  const { count } = Object(await response?.json().catch(() => undefined)) as { readonly count?: unknown }
  if (typeof count === 'number') return count
  throw new CommandFailed(
    `--count: ${countUrl} must respond with {"count": NUMBER}, the number of webhooks that the receiver has handled.`,
  )
}

async function opened(file: string | undefined): Promise<RunningEmulator> {
  const settings = file === undefined ? undefined : (await requireJsonFile(file)).document
  return openEmulator({ port: 0, ephemeral: true, settings }).catch(async (error: unknown) => {
    throw new CommandFailed(await startFailure(error, { settings: file }))
  })
}

/** Where the receiver listens: on this machine, since nothing else is ever called. */
async function targetOf(url: string, flag: 'receiver' | 'count'): Promise<WebhookTarget> {
  const target = await new Targets({ allowed: new Set(), forbiddenPorts: () => [] })
    .judge(url)
    .catch((error: Error) => ({ refused: error.message }))
  if (!('refused' in target)) return target
  throw new UsageError([`--${flag}: ${target.refused}. Give an address of the receiver on this machine.`])
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** Whether something accepts connections, or does so before the receiver has ended or its time to start is over. */
async function listens({ host, port }: WebhookTarget, receiver: ClientProcess | undefined): Promise<boolean> {
  const until = elapsedTime() + (receiver === undefined ? 0 : START_LIMIT)
  let hasEnded = false
  void receiver?.over().then(() => {
    hasEnded = true
  })
  for (;;) {
    const accepts = await new Promise<boolean>((resolve) => {
      const socket = connectTo({ host, port: Number(port) }, () => resolve(true)).on('error', () =>
        resolve(false),
      )
      socket.on('connect', () => socket.destroy())
    })
    if (accepts || hasEnded || elapsedTime() >= until) return accepts
    await scheduler.wait(50)
  }
}
