import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { type ShapeOf, timestamp } from '../fields.ts'
import { parsedJson } from '../json.ts'
import {
  isDistinct,
  isSecretName,
  mapCredentials,
  mapSecretsInText,
  UNLOGGED_HEADERS,
  withoutSecrets,
  withoutSecretsInText,
} from '../redaction.ts'
import { servicePrefix, userPrefix } from '../request/auth.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { documentOf } from '../sandboxes/snapshots.ts'
import { endpointOf } from '../scenarios/stub.ts'
import { seal } from '../secrets.ts'
import type { Document } from '../state/state.ts'
import { json } from '../strict-input.ts'
import { formatInstant } from '../time/instant.ts'
import { nextTurn } from '../time/real.ts'
import { counted } from '../words.ts'
import { recordedEndpoints, recordedFacts } from './own-result.ts'
import { Placeholders } from './placeholders.ts'
import type { Recorded } from './recording.ts'
import { type BuildStart, differenceToStart, recordedStart, recordedState } from './start.ts'

/** The newest version of the format. Those before it have the whole state; the first one has no endpoints of the user. */
export const BUNDLE_FORMAT = 3

const bytes = () => z.union([z.string(), z.strictObject({ base64: z.string() })])

/** What left the emulator: its head, and a checksum of its body. */
const output = () =>
  z.strictObject({
    /** The status, then a header on each line; for a webhook, its URL comes first. */
    head: z.string(),
    bytes: z.int(),
    /** Absent when the body was no longer kept. */
    crc32: z.int().exactOptional(),
    /** The body; absent when it is long, and in the older part of a long recording. */
    text: z.string().exactOptional(),
    /** How much of it a fault let through. */
    sent: z.strictObject({ stage: z.string(), bytes: z.int(), end: z.string() }).exactOptional(),
  })

export type RecordedOutput = ShapeOf<typeof output>

const recordedInput = () => {
  const times = { at: timestamp(), wall: timestamp() }
  const request = z.strictObject({
    /** Id of its connection. */
    connection: z.string(),
    /** Number of requests on the connection before it. */
    before: z.int(),
    /** The number of due events that ran when it arrived. */
    events: z.int(),
    /** Its number, if it is not the next one: requests before it waited at a gate. */
    number: z.int().exactOptional(),
    /** The request line, then a header on each line, as they arrived. */
    head: z.string(),
    /** The body as it arrived; absent when none was read. */
    body: bytes().exactOptional(),
  })
  const control = z.strictObject({
    route: z.string(),
    params: z.record(z.string(), z.string()),
    query: z.record(z.string(), z.string()).exactOptional(),
    body: json().exactOptional(),
    if_match: z.string().exactOptional(),
  })
  const outcome = z.strictObject({
    /** `delivery/attempt`. */
    attempt: z.string(),
    outcome: z.enum(['delivered', 'failed', 'timeout', 'refused']),
    status: z.int().nullable(),
    error: z.string().nullable(),
    retry_after: z.number().exactOptional(),
  })
  return z.union([
    /** A connection opened while there were fault rules, which may act on it. */
    z.strictObject({ ...times, connection: z.string() }),
    /** Its output is absent when the exchange had not ended. */
    z.strictObject({ ...times, request, output: output().exactOptional() }),
    z.strictObject({ ...times, control, output: output().exactOptional() }),
    /** An attempt to deliver a webhook began. */
    z.strictObject({ ...times, attempt: z.string(), output: output() }),
    /** The receivers responded to attempts. */
    z.strictObject({ ...times, outcomes: z.array(outcome) }),
    /** A function of a scenario has returned, or has thrown. */
    z.strictObject({ ...times, returned: z.string() }),
  ])
}

export type RecordedInput = ShapeOf<typeof recordedInput>

/** What one sandbox has seen, so that it can be repeated. */
export const recordingBundle = () =>
  z.strictObject({
    recording: z.literal([1, 2, BUNDLE_FORMAT]),
    emulator: z.strictObject({
      version: z.string(),
      /** `http://host:port`. */
      origin: z.string(),
      auth: z.enum(['registered', 'any']),
      limits: z.boolean(),
      strict: z.boolean(),
      revealFaults: z.boolean(),
      allowHosts: z.array(z.string()),
      corsOrigins: z.array(z.string()),
      allowWebhooks: z.array(z.string()),
    }),
    /** The number of inputs before this recording that were dropped. */
    dropped: z.int(),
    /** What a replay cannot repeat, each as a sentence. */
    not_reproducible: z.array(z.string()),
    /** The instant of the host at the start. */
    wall: timestamp(),
    /** The starting data that `state` differs from. Absent when `state` is whole. */
    start: recordedStart().exactOptional(),
    /** The state at the start: records, settings, seed, clock, faults and limits. Secrets are placeholders. */
    state: recordedState(),
    /** The user's own scenarios that were active, and the files that they import, by their paths in the folder. */
    scenarios: z.record(z.string(), z.string()),
    inputs: z.array(recordedInput()),
    /** Absent when there were none. */
    endpoints: recordedEndpoints().exactOptional(),
  })

export type RecordingBundle = ShapeOf<typeof recordingBundle>

/** The facts about an emulator that a bundle contains. */
export interface BundleFacts {
  readonly emulator: Omit<RecordingBundle['emulator'], 'auth' | 'limits' | 'strict' | 'revealFaults'>
  /** Reads the user's scenarios. */
  readonly scenarios: (names: ReadonlySet<string>) => Promise<Readonly<Record<string, string>>>
  /** The digests of the user's files of endpoints. */
  readonly endpoints?: (() => Promise<Readonly<Record<string, string>>>) | undefined
  /** The fixtures that states are compared with. Without it, recordings have the whole state. */
  readonly starting?: { readonly fixtures: string; readonly build: BuildStart }
  /** Whether it is the recording of a replay: all that was repeated has placeholders. */
  readonly isReplay?: boolean
}

/** The length of all texts of outputs in a bundle; the newest have precedence. */
const MAX_TEXTS = 512 * 1024

/** Turns of the event loop in which a response ends whose last byte was sent. */
const LAST_TURNS = 10

/** The recording of a sandbox as a bundle. Begins the recording if there was no input yet. */
export async function bundleOf(
  sandbox: Sandbox,
  { emulator, scenarios, endpoints, starting, isReplay = false }: BundleFacts,
): Promise<RecordingBundle> {
  const { recording, service, options } = sandbox
  recording.begin()
  const { parts, dropped } = recording
  const [first] = parts
  const state = documentOf(first?.start ?? sandbox.capture({ log: false }), service, sandbox.name)
  const items = parts.flatMap((part) => part.items)
  for (let turn = 0; turn < LAST_TURNS && !items.every(hasEnded); turn++) await nextTurn()
  const open = items.filter((item) => !hasEnded(item)).length
  const names = new Set(state.scenario === null ? [] : [state.scenario.name])
  for (const item of items)
    if ('control' in item && item.control.params.name) names.add(item.control.params.name)
  const texts = await scenarios(names)
  const secrets = isReplay ? new Placeholders(true) : secretsOf(sandbox, state, items, Object.values(texts))
  let last = state.counters.requests
  const inputs = items.map((item) => {
    const number = 'request' in item ? Number(/\d+$/.exec(item.id)) : last
    const isNext = number === last + 1
    last = Math.max(last, number)
    return inputOf(item, secrets, isNext ? undefined : number)
  })
  let room = MAX_TEXTS
  for (const input of inputs.toReversed()) {
    const output: { text?: string } = ('output' in input && input.output) || {}
    room -= output.text?.length ?? 0
    if (room < 0) delete output.text
  }
  const own = new Map<string, ReturnType<typeof recordedFacts>>()
  for (const { operations } of [...parts, service])
    for (const each of operations.values()) if (each.place) own.set(endpointOf(each), recordedFacts(each))
  const whole: Document = secrets.inside(state)
  const unsummed = inputs.filter((each) => 'request' in each && each.output && !('crc32' in each.output))
  const notes = [...recording.unrepeatable]
  if (open > 0)
    notes.push(`${counted(open, 'response')} had not ended when the recording was made: not compared.`)
  if (unsummed.length > 0)
    notes.push(
      `${counted(unsummed.length, 'response')} with a body that is no longer kept: only its length is compared.`,
    )
  const isSame = parts.every((part) => part.operations === service.operations)
  return {
    recording: BUNDLE_FORMAT,
    emulator: {
      ...emulator,
      auth: options.anyKey ? 'any' : 'registered',
      limits: options.enforceLimits,
      strict: options.strict,
      revealFaults: options.revealFaults,
    },
    dropped,
    not_reproducible: notes,
    wall: formatInstant(first?.wall ?? options.host()),
    ...(starting === undefined ? { state: whole } : await differenceToStart(whole, starting)),
    scenarios: Object.fromEntries(Object.entries(texts).map(([file, text]) => [file, secrets.inSent(text)])),
    inputs,
    ...(own.size > 0 && {
      endpoints: secrets.inside({
        files: (isSame && (await endpoints?.())) || {},
        operations: [...own.values()],
        results: parts.flatMap((part) => part.results),
      }),
    }),
  }
}

function inputOf(item: Recorded, secrets: Placeholders, number?: number): RecordedInput {
  const times = { at: formatInstant(item.at), wall: formatInstant(item.wall) }
  if ('request' in item) {
    const { request, caughtUp: events } = item
    const { method, target, version, headers, body } = request
    const line = secrets.inSent(`${method} ${target} HTTP/${version}`)
    const head = line + headerLines(headers, (value) => secrets.inSent(value), secrets.inPlace)
    const { id: connection } = item.evidence.connection
    const content = body instanceof Uint8Array && body.length > 0 && { body: bodyOf(body, secrets) }
    const before = item.evidence.requests_before
    const sent = { connection, before, events, ...(number && { number }), head, ...content }
    return { ...times, request: sent, ...(hasEnded(item) && { output: responseOf(item, secrets) }) }
  }
  if ('control' in item) {
    const { ifMatch: if_match, query, ...call } = item.control
    const given = Object.keys(Object(query)).length > 0 ? { query } : {}
    const { status, body } = item.output ?? {}
    const text =
      body === undefined ? '' : JSON.stringify(withoutSecrets(secrets.inside(body)), withoutRealTime)
    const output = item.output && { output: outputOf(String(status), text) }
    return { ...times, control: secrets.inside({ ...call, ...given, if_match }), ...output } as RecordedInput
  }
  if ('attempt' in item) {
    const { url, headers, body } = item.sent()
    const head = withoutSecretsInText(secrets.in(`${url}${headerLines(Object.entries(headers).flat())}`))
    const text = withoutSecretsInText(secrets.in(body.toString()))
    return { ...times, attempt: item.attempt, output: outputOf(head.replace(SIGNATURE, '(signature)'), text) }
  }
  const { at: _, wall: __, ...rest } = item
  return { ...times, ...secrets.inside(rest) }
}

// It depends on the secret, and with the setting webhooks.timestamp on the real time.
const SIGNATURE = /\b[0-9a-f]{64}$|(?<=^webhook-(?:signature|timestamp): ).*$/gim

// Real instants, durations, and how far functions are, differ each time; scripts are in another folder.
function withoutRealTime(name: string, value: unknown): unknown {
  if (/^(?:ms|wall|armed_at|held|pending_calls|.*_ms)$/.test(name)) return undefined
  return typeof value === 'string' ? value.replace(SCRIPT_FOLDER, '') : value
}

// The path at the start of an error of a script.
const SCRIPT_FOLDER = /^(?:\/|[A-Za-z]:\\)[^\n:]*[/\\](?=[^/\\:\n]+\.[cm]?[jt]s:)/

function hasEnded(item: Recorded): boolean {
  return !('request' in item) || item.evidence.end !== null
}

function responseOf({ response, faults }: Extract<Recorded, { request: unknown }>, secrets: Placeholders) {
  const shown = response?.show()
  const { status = 0, headers = [], body, body_kept = false, body_bytes = 0 } = shown ?? {}
  const head = secrets.in(`${status}${headerLines(headers.flatMap(({ name, value }) => [name, value]))}`)
  const sent = faults?.sent && { sent: { ...faults.sent } }
  // The checksum is that of the text with placeholders: a replay has no secrets.
  if (body_kept && typeof body === 'string') return { ...outputOf(head, secrets.in(body)), ...sent }
  const sum = response === undefined ? 0 : response.crc32
  return { head, bytes: body_bytes, ...(sum !== undefined && { crc32: sum }), ...sent }
}

function outputOf(head: string, text: string): RecordedOutput {
  return { head, bytes: Buffer.byteLength(text), crc32: crc32(text), ...(text !== '' && { text }) }
}

function headerLines(
  headers: readonly string[],
  shown: (value: string) => string = String,
  credential?: (secret: string) => string,
): string {
  let lines = ''
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    const isOwn = credential !== undefined && isCredential(name)
    lines += `\n${name}: ${shown(isOwn ? mapCredentials(value, credential) : value)}`
  }
  return lines
}

function isCredential(header: string): boolean {
  const name = header.toLowerCase()
  return name !== 'host' && (UNLOGGED_HEADERS.has(name) || isSecretName(name))
}

function bodyOf(body: Uint8Array, secrets: Placeholders): string | { base64: string } {
  const buffer = Buffer.from(body)
  const text = buffer.toString()
  return Buffer.from(text).equals(buffer) ? secrets.inSent(text) : { base64: buffer.toString('base64') }
}

/** The secrets that users have given: keys and other credentials of requests and documents, and the secrets that sign webhooks. */
function secretsOf(
  { settings, authenticator, service }: Sandbox,
  state: object,
  items: readonly Recorded[],
  scripts: readonly string[],
): Placeholders {
  const secrets = new Placeholders()
  const prefixes = [settings.get(userPrefix), settings.get(servicePrefix)]
  const add = (secret: string): string => {
    if (isDistinct(secret)) secrets.add(secret, prefixes)
    return secret
  }
  secrets.addFields(state, ['secret'])
  secrets.addAll(state, prefixes)
  for (const text of scripts) mapSecretsInText(text, add)
  const before = JSON.stringify(state)
  // Secrets that the emulator issues follow from its seed: they stay, or a replay would issue others.
  const isGiven = (secret: string): boolean => before.includes(seal(secret))
  for (const item of items) {
    if ('control' in item) {
      secrets.addFields(item.control.body, ['secret', 'token'])
      secrets.addAll([item.control.body, item.control.query, item.control.params], prefixes)
    }
    if (!('request' in item)) continue
    const { headers, target, body } = item.request
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = [headers[at], headers[at + 1]]
      if (isCredential(name)) mapCredentials(value, add)
      else mapSecretsInText(value, add)
    }
    const text = body instanceof Uint8Array ? Buffer.from(body).toString() : ''
    for (const key of authenticator.keysIn([target, ...headers, text], settings)) secrets.add(key, prefixes)
    const names = service.operations.get(item.operation ?? '')?.secrets ?? []
    const sent = parsedJson(text) as object | undefined
    if (names.length > 0) secrets.addFields(sent, names, isGiven)
    else mapSecretsInText(text, add)
    mapSecretsInText(target, add)
    secrets.addAll({ ...sent, ...Object.fromEntries(names.map((name) => [name, undefined])) }, prefixes)
  }
  return secrets
}
