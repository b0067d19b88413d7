import type * as z from 'zod'
import { refuse, refuseInvalid } from '../errors.ts'
import type { Issue } from '../json.ts'
import { inputOf } from '../operation.ts'
import type { Sandbox } from '../sandboxes/sandbox.ts'
import { REQUIRED, zodIssues } from '../zod-issues.ts'
import type { Exchange } from './exchange.ts'

/** Gives query and body their types, or refuses the request with every wrong field. */
export function validateInput(sandbox: Sandbox, exchange: Exchange): void {
  const { call } = exchange
  const input = inputOf(call.operation, sandbox.settings)
  if (call.body.kind === 'refused') throw call.body.refusal
  const issues: Issue[] = []
  exchange.query = read(exchange, input.query, '/query', call.query, issues)
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
  } else exchange.body = read(exchange, input.body, '', call.body.value, issues)
  if (issues.some(({ detail }) => detail === REQUIRED)) exchange.note('U015')
  refuseInvalid(issues)
}

function read(
  exchange: Exchange,
  schema: z.ZodType | undefined,
  at: string,
  value: unknown,
  issues: Issue[],
): unknown {
  if (schema === undefined) return value
  const result = schema.safeParse(value)
  if (result.success) return result.data
  issues.push(...zodIssues(result.error, at))
  // A schema names the assumption that one of its rules rests on through `params.assumed`.
  for (const issue of result.error.issues) {
    if (issue.code === 'custom' && typeof issue.params?.assumed === 'string')
      exchange.note(issue.params.assumed)
  }
  return undefined
}
