import { z } from 'zod'
import type { ErrorFormat } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { AnyOperation, Reply, Request } from '../operation.ts'
import { withoutCredentials } from '../redaction.ts'
import { streamOf } from '../request/stream.ts'
import { filled, type ResponseDraft, type Responses, type Stub, servedId, servedResponses } from './stub.ts'

/**
 * A stub as an operation. As for any other operation, a request needs a key and takes a place in the rate window.
 * @param errorFormat the form of errors at its path
 */
export function stubOperation(stub: Stub, errorFormat: ErrorFormat): AnyOperation {
  const { id, method, path } = stub
  return {
    name: `${method} ${path}`,
    method,
    path,
    summary: `Response of the stub ${id}`,
    section: 'Endpoints named without a contract',
    errorFormat,
    contract: false,
    success: stub.status,
    ...responding(stub),
  }
}

/** An operation without a contract whose response is that of a stub. */
export function stubbed(
  { find: _, poll: __, input: ___, handle: ____, output: _____, choose: ______, ...operation }: AnyOperation,
  stub: Stub,
): AnyOperation {
  return { ...operation, success: stub.status, ...responding(stub) }
}

function responding(stub: Stub): Pick<AnyOperation, 'stub' | 'input' | 'handle'> {
  return {
    stub: stub.id,
    // The body is read and logged, and any JSON value is valid.
    ...(stub.method === 'GET' ? {} : { input: () => ({ body: z.unknown() }) }),
    handle: (request) => {
      request.note('U043')
      return givenReply(stub, servedId({ stub: stub.id }), request)
    },
  }
}

/** The next response of a stub or of an endpoint. @param id of the count of its responses */
export function givenReply(
  { responses, cycle, ...one }: Responses,
  id: string,
  request: Request<object, unknown>,
): Reply {
  if (responses === undefined) return reply(one, request)
  const served = request.tx.in(servedResponses)
  const count = served.get(id)?.count ?? 0
  const last = responses.length - 1
  if (cycle === true || count < last)
    served.put({ id, count: cycle === true && count === last ? 0 : count + 1 })
  return reply(responses[Math.min(count, last)] ?? one, request)
}

function reply(
  { status = 200, headers = {}, body, stream }: ResponseDraft,
  { call, params, rawBody }: Request<object, unknown>,
): Reply {
  const { method, path, query } = call
  const sent = rawBody === undefined ? {} : { body: rawBody }
  const request = { method, path, params, query, headers: withoutCredentials(call.headers), ...sent }
  return {
    status,
    headers: Object.entries(headers),
    ...(body === undefined ? {} : { body: filled(body, request as JsonObject) as object }),
    ...(stream && { stream: streamOf(stream) }),
  }
}
