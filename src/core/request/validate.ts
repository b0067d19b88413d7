import type * as z from 'zod'
import type { Reliance } from '../assumptions.ts'
import { bodyLimit } from '../core-assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import type { Issue, Json } from '../json.ts'
import { type AnyOperation, inputOf } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { parsed, REQUIRED, zodIssues } from '../zod-issues.ts'
import { parseKeepingDigits } from './exact-numbers.ts'
import type { CallBody, Exchange } from './exchange.ts'

/** Parses query and body, or refuses the request with the issues of all fields. */
export function validateInput(sandbox: Sandbox, exchange: Exchange): void {
  const { call } = exchange
  const input = inputOf(call.operation, sandbox.settings)
  if (call.body.kind === 'refused') {
    const { refusal } = call.body
    if (refusal.code === 'payload_too_large' && call.operation.bodyLimit === undefined)
      exchange.assume(bodyLimit)
    throw refusal
  }
  const found: Issue[] = []
  exchange.query = read(exchange, input.query, '/query', call.query, found)
  if (input.body === undefined) exchange.body = undefined
  else if (call.body.kind === 'bytes') exchange.body = call.body.value
  else if (call.body.kind === 'none') {
    const absent = input.body.safeParse(undefined)
    exchange.body = absent.data
    if (!absent.success)
      refuse('validation_failed', {
        detail: `${call.operation.name} needs a JSON body.`,
        issues: [{ pointer: '', detail: 'a body is required' }],
        mitigation: 'Send a JSON object with "Content-Type: application/json".',
      })
  } else exchange.body = read(exchange, input.body, '', bodyOf(call.operation, call.body), found)
  for (const { pointer, detail } of found) {
    if (detail !== REQUIRED) continue
    const flag = sandbox.service.assumptions.settings.get(
      `required.${call.operation.name}.${pointer.slice(1)}`,
    )
    exchange.note('U015', ...(flag === undefined ? [] : [flag]))
  }
  if (found.length > 0) refuseInvalid(found)
}

/** The body; without a contract no number of it has a known meaning, so that one which no double keeps stays a text. */
function bodyOf({ contract }: AnyOperation, { value, bytes }: CallBody & { kind: 'json' }): Json {
  return contract === false && bytes !== undefined
    ? parseKeepingDigits(new TextDecoder().decode(bytes))
    : value
}

function read(exchange: Exchange, schema: z.ZodType | undefined, at: string, value: unknown, found: Issue[]) {
  if (schema === undefined) return value
  const result = parsed(schema, value)
  if (result.success) return result.data
  for (const issue of zodIssues(result.error, at)) found.push(issue)
  // A schema names the assumptions of a rule in `params.assumed`.
  for (const issue of result.error.issues) {
    const assumed = issue.code === 'custom' ? (issue.params?.assumed as Reliance | undefined) : undefined
    if (assumed !== undefined) exchange.note(...assumed)
  }
  return undefined
}
