import * as z from 'zod'
import type { ErrorFormat } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { AnyOperation, Reply, Request } from '../operation.ts'
import { withoutCredentials } from '../redaction.ts'
import type { Stub } from './stub.ts'
import { filled } from './stub.ts'

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
  { find: _, poll: __, input: ___, handle: ____, output: _____, ...operation }: AnyOperation,
  stub: Stub,
): AnyOperation {
  return { ...operation, success: stub.status, ...responding(stub) }
}

function responding(stub: Stub): Pick<AnyOperation, 'stub' | 'input' | 'handle'> {
  return {
    stub: stub.id,
    // The body is read and logged, and any JSON value is valid.
    ...(stub.method === 'GET' ? {} : { input: () => ({ body: z.unknown() }) }),
    handle: (request) => response(stub, request),
  }
}

function response({ headers, body }: Stub, { note, call, params, rawBody }: Request<object, unknown>): Reply {
  note('U043')
  const { method, path, query } = call
  const request = {
    method,
    path,
    params,
    query,
    headers: withoutCredentials(call.headers),
    ...(rawBody === undefined ? {} : { body: rawBody }),
  }
  return {
    headers: Object.entries(headers),
    ...(body === undefined ? {} : { body: filled(body, request as JsonObject) as object }),
  }
}
