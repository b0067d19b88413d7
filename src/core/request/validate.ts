import type * as z from 'zod'
import type { Reliance } from '../assumptions.ts'
import { bodyLimit } from '../core-assumptions.ts'
import { refuse, refuseInvalid } from '../errors.ts'
import { IssueList } from '../issue-list.ts'
import { inputOf } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { parsed, REQUIRED, zodIssues } from '../zod-issues.ts'
import type { Exchange } from './exchange.ts'

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
  const found: Found = { issues: undefined }
  exchange.query = read(exchange, input.query, '/query', call.query, found)
  if (input.body === undefined) exchange.body = undefined
  else if (call.body.kind === 'none') {
    const absent = input.body.safeParse(undefined)
    exchange.body = absent.data
    if (!absent.success)
      refuse('validation_failed', {
        detail: `${call.operation.name} needs a JSON body.`,
        issues: [{ pointer: '', detail: 'a body is required' }],
        mitigation: 'Send a JSON object with "Content-Type: application/json".',
      })
  } else exchange.body = read(exchange, input.body, '', call.body.value, found)
  if (found.issues === undefined) return
  for (const { pointer, detail } of found.issues) {
    if (detail !== REQUIRED) continue
    const flag = sandbox.assumptions.settings.get(`required.${call.operation.name}.${pointer.slice(1)}`)
    exchange.note('U015', ...(flag === undefined ? [] : [flag]))
  }
  refuseInvalid(found.issues)
}

/** Most requests have no issue, and a list takes half a microsecond. */
interface Found {
  issues: IssueList | undefined
}

function read(
  exchange: Exchange,
  schema: z.ZodType | undefined,
  at: string,
  value: unknown,
  found: Found,
): unknown {
  if (schema === undefined) return value
  const result = parsed(schema, value)
  if (result.success) return result.data
  found.issues ??= new IssueList()
  found.issues.addAll(zodIssues(result.error, at))
  // A schema names the assumptions of a rule in `params.assumed`.
  for (const issue of result.error.issues) {
    const assumed = issue.code === 'custom' ? (issue.params?.assumed as Reliance | undefined) : undefined
    if (assumed !== undefined) exchange.note(...assumed)
  }
  return undefined
}
