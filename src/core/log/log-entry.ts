import type { Settings } from '../assumptions.ts'
import type { Refusal } from '../errors.ts'
import { isRemainder, MAX_ISSUES, problemCount } from '../issue-list.ts'
import type { JsonObject } from '../json.ts'
import {
  isDistinct,
  secretsIn,
  UNLOGGED_HEADERS,
  withoutCredentials,
  withoutFields,
  withoutSecrets,
  withoutWords,
} from '../redaction.ts'
import type { Call, CallBody, Exchange } from '../request/exchange.ts'
import type { Admission } from '../request/rate-limiter.ts'
import type { Step } from '../request/steps.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { seal } from '../secrets.ts'
import { truncated } from '../words.ts'
import { type KeptResponse, MAX_KEPT_BYTES } from './kept-response.ts'
import type { KeptBody, KeptError, LogEntry } from './request-log.ts'

/** The log entry of a request that is over. @param words credentials that are masked wherever they are, as {@link maskedWordsOf} finds them */
export function logEntry(
  exchange: Exchange,
  status: number,
  admission: Admission,
  words: readonly string[],
  response?: KeptResponse,
): LogEntry {
  const { call, refusal, idempotency, assumed, mentioned } = exchange
  const { name, stub, place } = call.operation
  const { authorization } = call.headers
  const { query, headers, body } = keptOf(call, words)
  return {
    id: exchange.id,
    at: exchange.at,
    method: call.method,
    path: masked(call.path, words),
    pathPrefix: call.pathPrefix,
    chosenBy: call.chosenBy,
    operation: name === '' ? undefined : name,
    added: (stub ?? place) === undefined ? undefined : call.operation,
    remark: exchange.reply?.remark,
    tomorrow: exchange.tomorrow?.made(),
    params: masked(call.params, words),
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
    credential: exchange.caller === undefined ? authorization && seal(authorization) : undefined,
    window: exchange.window,
    admission,
    idempotency,
    error: refusal && masked(keptError(refusal), words),
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

// Most requests have no word to mask.
function masked<T>(value: T, words: readonly string[]): T {
  return words.length === 0 ? value : withoutWords(value, words)
}

/** The parts of a request that may be kept: no credentials, and no large body. */
export function keptOf({ operation: { secrets }, query, headers, body }: Call, words: readonly string[]) {
  return {
    query: masked(withoutSecrets(withoutFields(query, secrets)), words),
    headers: masked(withoutCredentials(headers), words),
    body: masked(keptBody(body, secrets), words),
  }
}

/** The credentials of a request that are masked in all its texts: keys wherever they are, and values of fields with such names. */
export function maskedWordsOf(
  call: Call,
  { authenticator }: Pick<Sandbox, 'authenticator'>,
  settings: Settings,
) {
  const { path, query, headers, body } = call
  const texts = [path]
  addTexts(query, texts)
  for (const name in headers) if (!UNLOGGED_HEADERS.has(name)) texts.push(headers[name] ?? '')
  const isKept = body.kind === 'json' && (body.bytes?.length ?? 0) <= MAX_KEPT_BYTES
  if (isKept) addTexts(body.value, texts)
  const found = [...secretsIn(query), ...(isKept ? secretsIn(body.value) : [])].filter(isDistinct)
  const keys = authenticator.keysIn(texts, settings)
  return found.length === 0 ? keys : [...keys, ...found]
}

function addTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value)
  else if (Array.isArray(value)) for (const each of value) addTexts(each, texts)
  else if (typeof value === 'object' && value !== null)
    for (const name of Object.keys(value)) {
      texts.push(name)
      addTexts((value as JsonObject)[name], texts)
    }
}

// A successful request was decided by the step that created its response.
function decidedBy({ refusal, injected, step, idempotency, call }: Exchange): Step {
  if (call.cors?.isPreflight || refusal !== undefined || injected) return step
  return idempotency === 'replay' ? 'replay' : 'handle'
}

// Large bodies are left out: a full log of the largest would be 100 GiB.
function keptBody(body: CallBody, secrets: readonly string[] | undefined): KeptBody {
  if (body.kind === 'bytes') return { kind: 'large', bytes: body.value.length }
  if (body.kind !== 'json') return { kind: body.kind }
  const bytes = body.bytes?.length
  if ((bytes ?? JSON.stringify(body.value).length) > MAX_KEPT_BYTES) return { kind: 'large', bytes }
  return { kind: 'json', value: withoutSecrets(withoutFields(body.value, secrets)), bytes }
}

function keptError({ code, message, options }: Refusal): KeptError {
  const { mitigation, issues = [], admission, reason, word } = options
  return {
    code: word ?? code,
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
