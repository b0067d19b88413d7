import type { Refusal } from '../errors.ts'
import { isRemainder, MAX_ISSUES, problemCount } from '../issue-list.ts'
import { isObject, type Json } from '../json.ts'
import type { Call, CallBody, Exchange } from '../request/exchange.ts'
import type { Admission } from '../request/rate-limiter.ts'
import type { Step } from '../request/steps.ts'
import { REDACTED, seal, withoutWords } from '../secrets.ts'
import { truncated } from '../words.ts'
import { type KeptResponse, MAX_KEPT_BYTES } from './kept-response.ts'
import { UNLOGGED_HEADERS } from './request-criteria.ts'
import type { KeptBody, KeptError, LogEntry } from './request-log.ts'

/** The log entry of a request that is over. @param keys keys in places where none belongs, which are masked */
export function logEntry(
  exchange: Exchange,
  status: number,
  admission: Admission,
  keys: readonly string[],
  response?: KeptResponse,
): LogEntry {
  const { call, refusal, idempotency, assumed, mentioned } = exchange
  const { name, stub } = call.operation
  const { authorization } = call.headers
  const { query, headers, body } = keptOf(call, keys)
  return {
    id: exchange.id,
    at: exchange.at,
    method: call.method,
    path: withoutWords(call.path, keys),
    pathPrefix: call.pathPrefix,
    chosenBy: call.chosenBy,
    operation: name === '' ? undefined : name,
    stubbed: stub === undefined ? undefined : call.operation,
    params: withoutWords(call.params, keys),
    nearest: exchange.nearest,
    query,
    headers,
    body,
    status,
    response,
    decided: decidedBy(exchange),
    overruled: exchange.overruled,
    caughtUp: exchange.caughtUp,
    caller: exchange.caller,
    unknownKey: exchange.caller === undefined ? authorization && seal(authorization) : undefined,
    window: exchange.window,
    admission,
    idempotency,
    error: refusal && withoutWords(keptError(refusal), keys),
    assumed: [...assumed],
    mentioned: [...mentioned].filter((id) => !assumed.has(id)),
    settings: exchange.settings,
    poll: exchange.polled,
    commit: exchange.commit,
    faults: exchange.hooks?.report,
    timing: call.timing,
    cors: call.cors,
    evidence: call.evidence,
  }
}

/** The parts of a request that may be kept: no secrets, no keys, and no large body. */
export function keptOf(
  { operation: { secrets }, query, headers, body }: Call,
  keys: readonly string[],
): Pick<LogEntry, 'query' | 'headers' | 'body'> {
  const misplaced = Object.keys(query).filter((name) => MISPLACED.test(name))
  return {
    query: withoutWords(withoutSecrets(withoutSecrets(query, secrets), misplaced), keys),
    headers: withoutWords(withoutCredentials(headers), keys),
    body: withoutWords(keptBody(body, secrets), keys),
  }
}

/** The texts of a request in which the log could keep a key. */
export function textsOf({ path, query, headers, body }: Call): readonly string[] {
  const texts = [path]
  addTexts(query, texts)
  for (const name in headers) if (!UNLOGGED_HEADERS.has(name)) texts.push(headers[name] ?? '')
  if (body.kind === 'json' && (body.bytes?.length ?? 0) <= MAX_KEPT_BYTES) addTexts(body.value, texts)
  return texts
}

function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) for (const each of value) addTexts(each, texts)
  else if (isObject(value))
    for (const name of Object.keys(value)) {
      texts.push(name)
      addTexts(value[name], texts)
    }
}

// A successful request was decided by the step that created its response.
function decidedBy({ refusal, injected, step, idempotency, call }: Exchange): Step {
  if (call.cors?.isPreflight || refusal !== undefined || injected) return step
  return idempotency === 'replay' ? 'replay' : 'handle'
}

type Headers = LogEntry['headers']

/** The headers of a request without those that contain credentials; values with a similar name are redacted. */
export function withoutCredentials(headers: Headers): Headers {
  const kept: Record<string, string | undefined> = {}
  for (const name in headers) {
    if (!UNLOGGED_HEADERS.has(name)) kept[name] = MISPLACED.test(name) ? REDACTED : headers[name]
  }
  return kept
}

// Names under which other services accept credentials: a client that was written for one of them may send ours there.
const MISPLACED =
  /^(?:.*[-_])?(?:authorization|(?:access|auth|api|control|bearer|claim)[-_]?(?:token|key)|token|secret|password)$/i

function withoutSecrets<T extends object>(value: T, secrets: readonly string[] | undefined): T {
  if (secrets === undefined) return value
  const present = secrets.filter((name) => Object.hasOwn(value, name))
  if (present.length === 0) return value
  return { ...value, ...Object.fromEntries(present.map((name) => [name, REDACTED])) }
}

// Large bodies are left out: a full log of the largest would be 100 GiB.
function keptBody(body: CallBody, secrets: readonly string[] | undefined): KeptBody {
  if (body.kind !== 'json') return { kind: body.kind }
  const bytes = body.bytes?.length
  if ((bytes ?? JSON.stringify(body.value).length) > MAX_KEPT_BYTES) return { kind: 'large', bytes }
  return { kind: 'json', value: secrets === undefined ? body.value : redacted(body.value, secrets), bytes }
}

// If an object with secrets is expected, any other value may itself be a secret.
function redacted(value: Json, secrets: readonly string[]): Json {
  return isObject(value) ? withoutSecrets(value, secrets) : REDACTED
}

function keptError({ code, message, options }: Refusal): KeptError {
  const { mitigation, issues = [], admission, reason } = options
  return {
    code,
    detail: truncated(
      reason === undefined ? message : `${message} The response does not contain the reason: ${reason}`,
    ),
    mitigation: mitigation && truncated(mitigation),
    issues: issues
      .filter((issue) => !isRemainder(issue))
      .slice(0, MAX_ISSUES)
      .map((issue) => ({
        ...issue,
        pointer: truncated(issue.pointer),
        detail: truncated(issue.detail),
      })),
    issueCount: problemCount(issues),
    byOtherRule: admission !== undefined,
  }
}
