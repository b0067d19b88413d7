import type { CallControl, OwnCalls } from '../../control-client/ask.ts'
import type { RequestTrace } from '../../core/explain/trace.ts'
import type { FaultDraft } from '../../core/faults/rule.ts'
import { seal } from '../../core/secrets.ts'
import { type EmulatorClient, type SandboxClient, startEmulator } from '../../index.ts'
import { armSource, vitestSource } from '../vitest-source.ts'

/** How a failure can be repeated. */
interface Repetition {
  /** The smallest rule; undefined when the request fails in the same way without one. */
  readonly fault: FaultDraft | undefined
  /** A test for Vitest. */
  readonly test: string
}

type Rules = OwnCalls['GET /faults']['output']['data']
type Presets = OwnCalls['GET /fault-presets']['output']['data']

/** Real milliseconds after which a request that gets no whole response has failed. */
const GIVE_UP = 1_000

/**
 * Finds the smallest way to repeat a failed request in a new sandbox, as the test will: each candidate is tried in an emulator of
 * its own with the demo data. Undefined when none works, because the failure depends on earlier requests.
 */
export async function repetitionOf(ask: CallControl, trace: RequestTrace): Promise<Repetition | undefined> {
  const { data: rules } = await ask('GET /faults')
  const { data: presets } = await ask('GET /fault-presets')
  const emulator = await startEmulator({ port: 0, ephemeral: true, rate: 0 })
  try {
    const sent = await sentAgain(trace, emulator.defaultSandbox)
    for (const fault of candidates(trace, rules, presets)) {
      if (await isRepeated(emulator, fault, sent, trace)) return { fault, test: testOf(trace, fault, sent) }
    }
    return undefined
  } finally {
    await emulator.close()
  }
}

/** The rules that may repeat a failure, the smallest ones first; undefined stands for none. */
function candidates(trace: RequestTrace, rules: Rules, presets: Presets): (FaultDraft | undefined)[] {
  const { operation } = trace.route
  const match = operation === null ? ('everything' as const) : { operation }
  const fired = trace.faults.filter((fault) => fault.fired)
  const names = fired.flatMap(({ preset }) => preset ?? [])
  const written = rules.filter((rule) => rule.do.length > 0 && fired.some((each) => each.rule === rule.id))
  const status = trace.response?.status ?? 0
  const code = trace.error?.code
  const plain =
    status >= 400
      ? { respond: { status, ...(code !== undefined && { code }) } }
      : { cut: { at: 'before-head', how: 'rst' } as const }
  return [
    ...(fired.length === 0 ? [undefined] : []),
    ...names.map((preset) => ({ preset, match })),
    ...names.map((preset) => ({ preset, match, when: { nth: 1 } })),
    ...written.map((rule) => ({ match, do: rule.do })),
    ...presets.filter(isRefusal).map(({ name }) => ({ preset: name, match })),
    { match, do: [plain] },
  ] as (FaultDraft | undefined)[]
}

/** Whether a preset only refuses requests, so that trying it takes no time. */
function isRefusal({ do: actions = [] }: Presets[number]): boolean {
  const kinds = actions.flatMap((action) => Object.keys(action))
  return kinds.length > 0 && kinds.every((kind) => ['respond', 'quota', 'auth', 'idem'].includes(kind))
}

/** A logged request as the arguments of `sandbox.fetch`. */
interface SentAgain {
  readonly path: string
  readonly init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly json: unknown
  }
}

/** Headers that a client sets by itself, that describe the connection, or that choose sandboxes and faults of the emulator. */
const OWN_HEADERS =
  /^(accept.*|connection|content-length|content-type|host|keep-alive|origin|priority|referer|sec-.*|te|traceparent|tracestate|transfer-encoding|user-agent|x-emulator-.*)$/

async function sentAgain(trace: RequestTrace, sandbox: SandboxClient): Promise<SentAgain> {
  const { method, path, query, headers, body, body_kept } = trace.request
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  )
  const search = pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
  const authorization = await authorizationOf(trace, sandbox)
  const kept = Object.entries({ ...headers, authorization }).filter(
    ([name, value]) => value !== undefined && !OWN_HEADERS.test(name),
  )
  return {
    path: path.replace(/^.*?\/v1(?=\/|$)/, '') + search,
    init: {
      method,
      headers: Object.fromEntries(kept) as Record<string, string>,
      json: body_kept ? body : undefined,
    },
  }
}

/** The value of Authorization; undefined for the key that a sandbox uses by itself. */
async function authorizationOf(trace: RequestTrace, sandbox: SandboxClient): Promise<string | undefined> {
  const { caller, error } = trace
  if (caller === null)
    return error?.code === 'unauthorized' && !hasFired(trace) ? 'Bearer unknown-key' : undefined
  const records = await sandbox.state.list<{ id: string; token?: string }>('api_keys')
  const record = records.find(({ id }) => id === caller.key_id)
  const { member, service } = sandbox.keys
  const key = [member, service].find((each) => each !== null && seal(each) === record?.token)
  return key ? `Bearer ${key}` : undefined
}

async function isRepeated(
  emulator: EmulatorClient,
  fault: FaultDraft | undefined,
  { path, init }: SentAgain,
  trace: RequestTrace,
): Promise<boolean> {
  const sandbox = await emulator.sandbox()
  try {
    if (fault !== undefined) await sandbox.faults.arm(fault)
  } catch {
    // A preset may not accept this operation.
    return false
  }
  await sandbox
    .fetch(path, { ...init, signal: AbortSignal.timeout(GIVE_UP) })
    .then((response) => response.arrayBuffer())
    .catch(() => {})
  const [entry] = await sandbox.requests.list({ limit: 1 })
  const again = entry && (await sandbox.requests.explain(entry.id))
  if (again === undefined || (hasFired(trace) && !hasFired(again))) return false
  return outcomeOf(again) === outcomeOf(trace)
}

/** What a client meets: the status, the code, and whether the response is whole. */
function outcomeOf(trace: RequestTrace): string {
  return JSON.stringify([trace.response?.status ?? 0, trace.error?.code ?? null, isBroken(trace)])
}

function hasFired({ faults }: RequestTrace): boolean {
  return faults.some(({ fired }) => fired)
}

function isBroken({ response, faults }: RequestTrace): boolean {
  return response === null || faults.some(({ sent }) => sent !== null && sent.end !== 'whole')
}

function testOf(trace: RequestTrace, fault: FaultDraft | undefined, { path, init }: SentAgain): string {
  const status = trace.response?.status ?? 0
  const code = trace.error?.code
  const signal = isBroken(trace) ? `, signal: AbortSignal.timeout(${GIVE_UP})` : ''
  const call = `sandbox.fetch(${JSON.stringify(path)}, { ...${JSON.stringify(init)}${signal} })`
  const checks = isBroken(trace)
    ? [`const body = ${call}.then((response) => response.text())`, 'await expect(body).rejects.toThrow()']
    : [`const response = await ${call}`, `expect(response.status).toBe(${status})`]
  const error = code === undefined ? '' : `, error: { code: ${JSON.stringify(code)} }`
  const faults = fault === undefined ? '' : `, faults: [${JSON.stringify(fault.preset ?? 'fault')}]`
  const title = `${trace.request.method} ${path} fails: ${[status || 'no response', code].join(' ').trim()}`
  return vitestSource(title, [
    ...armSource(fault === undefined ? [] : [fault]),
    '// The request as it was logged. Call your client here instead, with sandbox.baseUrl and sandbox.apiKey.',
    ...checks,
    'const [request] = await sandbox.requests.list({ limit: 1 })',
    `expect(request).toMatchObject({ status: ${status}${error}${faults} })`,
  ])
}
