import type { IncomingMessage } from 'node:http'
import type * as z from 'zod'
import { refuse } from '../../core/errors.ts'
import type { IssueList } from '../../core/issue-list.ts'
import type { Issue, Json } from '../../core/json.ts'
import { parsed, zodIssues } from '../../core/zod-issues.ts'
import { readJsonBody } from '../http/json-body.ts'
import { type AnyControlRoute, SMALL_BODY } from './route.ts'

/** A received body; `gone` when the client disconnected. */
type ReceivedBody = { readonly value: Json | undefined } | 'gone'

/** Reads the body of a request if the route uses one. Refuses content types other than JSON. */
export async function receive(route: AnyControlRoute, req: IncomingMessage): Promise<ReceivedBody> {
  if (route.method === 'GET' || !announced(req)) return { value: undefined }
  const type = req.headers['content-type']
  // A page of another site can send other types, such as those of HTML forms, without a CORS preflight.
  if (!/^application\/json[ \t]*(;|$)/i.test(type ?? '')) {
    refuse('unsupported_media_type', {
      detail:
        type === undefined
          ? 'The body has no Content-Type.'
          : 'The Content-Type of the body is not application/json.',
    })
  }
  const body = await readJsonBody(req, route.bounds ?? SMALL_BODY)
  if (body === undefined) return 'gone'
  if (body.kind === 'refused') throw body.refusal
  return { value: body.kind === 'json' ? body.value : undefined }
}

/**
 * Checks a value against a schema and adds its issues to the list; an unknown field gets the nearest known name. Returns
 * undefined for an invalid value.
 */
export function check(schema: z.ZodType, value: unknown, at: string, issues: IssueList): unknown {
  const result = parsed(schema, value)
  if (result.success) return result.data
  for (const issue of zodIssues(result.error, at)) issues.push(value === undefined ? NO_BODY : issue)
  return undefined
}

const NO_BODY: Issue = { pointer: '', detail: 'a JSON body is required' }

function announced(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0
}
