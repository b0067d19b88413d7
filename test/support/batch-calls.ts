import { FaultedRequest } from '../../src/core/faults/hooks.ts'
import type { JsonObject } from '../../src/core/json.ts'
import type { Call } from '../../src/core/request/exchange.ts'
import { perform } from '../../src/core/request/pipeline.ts'
import type { Sandbox } from '../../src/core/sandboxes/sandbox.ts'
import { KEYS } from './base-state.ts'

export interface CallOptions {
  readonly id?: string
  readonly body?: object
  readonly idempotencyKey?: string
  /** The path before `/v1`; default: empty. */
  readonly pathPrefix?: string
}

/** Calls one of the batch operations in process, as KU, and reads the whole response. */
export function callBatches(
  sandbox: Sandbox,
  name: string,
  { id = '', body, idempotencyKey, pathPrefix = '' }: CallOptions = {},
) {
  const operation = sandbox.service.operations.get(`batch-predictions.${name}`)
  if (operation === undefined) throw new Error(`there is no operation ${name}`)
  const call: Call = {
    operation,
    method: operation.method,
    path: `${pathPrefix}/v1${operation.path}`,
    pathPrefix,
    chosenBy: pathPrefix === '' ? 'default' : 'path',
    params: { batch_prediction_id: id },
    query: {},
    headers: { authorization: `Bearer ${KEYS.KU}`, 'idempotency-key': idempotencyKey },
    body: body === undefined ? { kind: 'none' } : { kind: 'json', value: body as JsonObject },
  }
  const { status, text = '{}', lines, hooks } = perform(sandbox, call)
  const wire = hooks instanceof FaultedRequest ? hooks.wire : undefined
  const parsed = JSON.parse(text === '' ? 'null' : text)
  return { status, text, body: parsed, lines: [...(lines ?? [])].map((line) => JSON.parse(line)), wire }
}
